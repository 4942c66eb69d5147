import type { ToolResult } from '@questline/core';

/** Maximum length of a result, in characters. */
const MAX_RESULT = 100_000;

/** A result as servers give it: only what is read here. */
interface CallResult {
  readonly [field: string]: unknown;
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

interface Block {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly resource?: { readonly text?: unknown; readonly uri?: unknown };
}

/** Converts a tool result to text for a model. */
export function toResult({ content, structuredContent, isError }: CallResult): ToolResult {
  const blocks = Array.isArray(content) ? (content as readonly Block[]) : [];
  const said = blocks.map(getText).filter((text) => text !== '');
  const text =
    said.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : said.join('\n');
  return {
    content: text.length <= MAX_RESULT ? text : `${text.slice(0, MAX_RESULT)}\n[cut]`,
    isError: isError === true,
  };
}

function getText({ type, text, mimeType, uri, resource }: Block): string {
  switch (type) {
    case 'text':
      return typeof text === 'string' ? text : '';
    case 'resource':
      return typeof resource?.text === 'string' ? resource.text : `[resource ${String(resource?.uri)}]`;
    case 'resource_link':
      return `[resource ${String(uri)}]`;
    default:
      return `[${String(type)} ${String(mimeType)}]`;
  }
}
