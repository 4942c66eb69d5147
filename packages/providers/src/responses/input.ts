import { createHash } from 'node:crypto';
import type { GenerateRequest, ModelContent } from '@questline/core/ports';
import { documentText, titled, unsupported } from '../content/documents.ts';
import { toReasoningItem } from './reasoning.ts';

type Json = Readonly<Record<string, unknown>>;

/** The differences in content between vendors of the Responses API. */
export interface InputDialect {
  /** The provider id, for error texts and reasoning blocks. */
  readonly provider: string;
  /** Whether the vendor accepts documents other than text. */
  readonly files: boolean;
}

/** The API's maximum length of call ids. */
const MAX_CALL_ID = 64;

/**
 * Converts the conversation to items in order. Items have no ids: ids of messages and calls would bind them to
 * reasoning that may be omitted later.
 * @throws ProviderError `invalid_request` for content the protocol has no place for.
 */
export function toInputItems(
  { messages }: Pick<GenerateRequest, 'messages'>,
  dialect: InputDialect,
  { withReasoning }: { readonly withReasoning: boolean },
): Json[] {
  return messages.flatMap(({ role, content }) => {
    if (role === 'assistant') return toAssistantItems(content, dialect, withReasoning);
    return role === 'system' ? toSystemItems(content, dialect) : toUserItems(content, dialect);
  });
}

function toSystemItems(content: readonly ModelContent[], { provider }: InputDialect): Json[] {
  const texts = content.map((piece) => {
    if (piece.type === 'text') return piece.text;
    throw unsupported(provider, `${piece.type} in a system message`);
  });
  return [{ role: 'system', content: texts.join('\n\n') }];
}

function toUserItems(content: readonly ModelContent[], dialect: InputDialect): Json[] {
  const results: Json[] = [];
  const parts: Json[] = [];
  for (const piece of content) {
    if (piece.type === 'tool_result') {
      const output = piece.isError ? `Error: ${piece.content}` : piece.content;
      results.push({ type: 'function_call_output', call_id: toCallId(piece.toolUseId), output });
    } else {
      parts.push(toUserPart(piece, dialect));
    }
  }
  const [first] = parts;
  if (first === undefined) return results;
  const isText = parts.length === 1 && first.type === 'input_text';
  return [...results, { role: 'user', content: isText ? first.text : parts }];
}

function toUserPart(piece: ModelContent, { provider, files }: InputDialect): Json {
  if (piece.type === 'text') return { type: 'input_text', text: piece.text };
  if (piece.type === 'image') {
    const image_url = `data:${piece.mediaType};base64,${piece.data}`;
    return { type: 'input_image', image_url, detail: 'auto' };
  }
  if (piece.type === 'document') {
    const text = documentText(piece);
    if (text !== undefined) return { type: 'input_text', text: titled(piece, text) };
    if (!files || piece.mediaType !== 'application/pdf') {
      throw unsupported(provider, `a document of type ${piece.mediaType}`);
    }
    const file_data = `data:application/pdf;base64,${piece.data}`;
    return { type: 'input_file', filename: piece.name, file_data };
  }
  throw unsupported(provider, `${piece.type} in a user message`);
}

/** Reasoning precedes the item that it produced; without one it is omitted, because the API rejects it alone. */
function toAssistantItems(
  content: readonly ModelContent[],
  { provider }: InputDialect,
  withReasoning: boolean,
): Json[] {
  const items: Json[] = [];
  let reasoning: Json[] = [];
  const add = (item: Json): void => {
    items.push(...reasoning, item);
    reasoning = [];
  };
  for (const piece of content) {
    if (piece.type === 'text') {
      if (piece.text !== '') add({ role: 'assistant', content: piece.text });
    } else if (piece.type === 'tool_use') {
      const args = JSON.stringify(piece.input ?? {});
      add({ type: 'function_call', call_id: toCallId(piece.id), name: piece.name, arguments: args });
    } else if (piece.type === 'thinking') {
      const item = withReasoning ? toReasoningItem(provider, piece.block) : undefined;
      if (item !== undefined) reasoning.push(item);
    } else {
      throw unsupported(provider, `${piece.type} in an assistant message`);
    }
  }
  return items;
}

/** Ids of other providers may be longer; call and result must have the same id. */
function toCallId(id: string): string {
  if (id.length <= MAX_CALL_ID) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}
