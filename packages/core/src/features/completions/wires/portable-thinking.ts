import type { ThinkingBlock } from '../../../ports/models.ts';

/** Marks text that contains a reasoning block. No vendor's signature or encrypted reasoning has a dot. */
const PREFIX = 'questline.';
const MAX_BLOCK_FIELDS = 100;

/** Writes a block into a field that clients return unchanged, for wires that have no place for it. */
export function packThinking(block: ThinkingBlock): string {
  return PREFIX + Buffer.from(JSON.stringify(block)).toString('base64url');
}

/** Whether `packThinking` may have written the text. */
export function isPackedThinking(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Reads the text of `packThinking`. @returns undefined for a changed text. */
export function unpackThinking(text: string): ThinkingBlock | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString());
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { type } = value as { readonly type?: unknown };
  if (typeof type !== 'string' || Object.keys(value).length > MAX_BLOCK_FIELDS) return undefined;
  return value as ThinkingBlock;
}

/** The readable text of a block; often empty. */
export function getThinkingText({ thinking, text }: ThinkingBlock): string {
  if (typeof thinking === 'string') return thinking;
  return typeof text === 'string' ? text : '';
}
