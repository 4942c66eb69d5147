import { ProviderError } from '@questline/core/ports';
import { text as getText, record } from './fields.ts';

/** The text and the reasoning of a list of content. */
export interface ContentList {
  readonly text: string;
  readonly thinking: string;
}

/** Kinds without text: references and sources. */
const SILENT: ReadonlySet<string> = new Set(['reference', 'citation', 'annotation']);

/**
 * Reads content that comes as a list, as Mistral's reasoning models send it:
 * https://docs.mistral.ai/capabilities/reasoning.
 * @throws ProviderError `malformed_answer` for an unknown kind of content: an answer without it would look complete.
 */
export function readContentList(content: unknown): ContentList {
  if (!Array.isArray(content))
    throw new ProviderError('malformed_answer', 'sent content that is neither text nor a list');
  let text = '';
  let thinking = '';
  for (const part of content) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const { type, ...fields } = record(part);
    if (type === 'text' || type === 'output_text') text += requireText(fields.text, 'text');
    else if (type === 'refusal') text += requireText(fields.refusal, 'a refusal');
    else if (type === 'thinking' || type === 'reasoning') {
      thinking += readThinking(fields.thinking ?? fields.reasoning ?? fields.text);
    } else if (!SILENT.has(String(type))) {
      throw new ProviderError(
        'malformed_answer',
        `sent content of a kind that is not known: ${describe(type)}`,
      );
    }
  }
  return { text, thinking };
}

function readThinking(thinking: unknown): string {
  return Array.isArray(thinking) ? readContentList(thinking).text : requireText(thinking, 'reasoning');
}

function requireText(value: unknown, what: string): string {
  if (typeof value !== 'string')
    throw new ProviderError('malformed_answer', `sent ${what} that is no string`);
  return value;
}

function describe(type: unknown): string {
  return (getText(type) ?? 'without a type').slice(0, 40);
}
