import type { ThinkingBlock } from '@questline/core/ports';
import { issue } from '../errors.ts';
import type { ThoughtBlock } from './wire.ts';

/** Marks a signature that contains the block of another provider. No signature of the vendor has a dot. */
const PREFIX = 'questline.';
const MAX_BLOCK_FIELDS = 100;

/** A block of the vendor is returned as it is. */
export function isVendorBlock(block: ThinkingBlock): block is ThoughtBlock & ThinkingBlock {
  if (block.type === 'redacted_thinking') return typeof block.data === 'string';
  return (
    block.type === 'thinking' &&
    typeof block.thinking === 'string' &&
    typeof block.signature === 'string' &&
    block.signature !== ''
  );
}

/**
 * Writes a block of another provider into a signature: clients keep only the fields that the vendor has, and return
 * signatures unchanged.
 */
export function toSignature(block: ThinkingBlock): string {
  return PREFIX + Buffer.from(JSON.stringify(block)).toString('base64url');
}

/** The readable text of a block of another provider; often empty. */
export function getThought({ thinking, text }: ThinkingBlock): string {
  if (typeof thinking === 'string') return thinking;
  return typeof text === 'string' ? text : '';
}

/**
 * Reads a block that a client sends back. @returns undefined for a thought without a signature, which no provider accepts:
 * it is left out. @throws ApiError 400 for a changed signature of ours.
 */
export function readThought(
  block: { readonly type: string; readonly signature?: unknown; readonly data?: unknown },
  path: string,
): ThinkingBlock | undefined {
  const { type, signature, data } = block;
  if (type === 'redacted_thinking')
    return typeof data === 'string' && data !== '' ? { type, data } : undefined;
  if (typeof signature !== 'string' || signature === '') return undefined;
  if (!signature.startsWith(PREFIX)) {
    const { thinking } = block as { readonly thinking?: unknown };
    return { type: 'thinking', thinking: typeof thinking === 'string' ? thinking : '', signature };
  }
  const read = parse(Buffer.from(signature.slice(PREFIX.length), 'base64url').toString());
  if (read === undefined) throw issue(`${path}.signature`, 'changed: send blocks back as they came');
  return read;
}

function parse(text: string): ThinkingBlock | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { type } = value as { readonly type?: unknown };
  if (typeof type !== 'string' || Object.keys(value).length > MAX_BLOCK_FIELDS) return undefined;
  return value as ThinkingBlock;
}
