import { isPackedThinking, unpackThinking } from '@questline/core/internal';
import type { ThinkingBlock } from '@questline/core/ports';
import { issue } from '../errors.ts';
import type { ThoughtBlock } from './wire.ts';

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
  if (!isPackedThinking(signature)) {
    const { thinking } = block as { readonly thinking?: unknown };
    return { type: 'thinking', thinking: typeof thinking === 'string' ? thinking : '', signature };
  }
  const read = unpackThinking(signature);
  if (read === undefined) throw issue(`${path}.signature`, 'changed: send blocks back as they came');
  return read;
}
