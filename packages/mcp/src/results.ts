import type { ToolResult } from '@questline/core';

/** Characters of a result that a model is given. */
const LONGEST_RESULT = 100_000;

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

/** What a server answered, as text for a model. */
export function resultOf({ content, structuredContent, isError }: CallResult): ToolResult {
  const blocks = Array.isArray(content) ? (content as readonly Block[]) : [];
  const said = blocks.map(textOf).filter((text) => text !== '');
  const text =
    said.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : said.join('\n');
  return {
    content: text.length <= LONGEST_RESULT ? text : `${text.slice(0, LONGEST_RESULT)}\n[cut]`,
    isError: isError === true,
  };
}

function textOf({ type, text, mimeType, uri, resource }: Block): string {
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
