import type { ThinkingBlock } from '@questline/core/ports';
import { record, text } from '../content/fields.ts';

/** The type of the thinking blocks that hold a reasoning item of the Responses API. */
const BLOCK_TYPE = 'responses_reasoning';

/**
 * Converts a reasoning item to a block. The block names the `provider`, because no other one can decrypt
 * it; `thinking` is the summary, if the vendor returns one.
 */
export function toThinkingBlock(provider: string, item: Readonly<Record<string, unknown>>): ThinkingBlock {
  const thinking = summarize(item);
  return { type: BLOCK_TYPE, provider, ...(thinking !== '' && { thinking }), item };
}

/** Returns the original item of a block from this provider. Undefined for other blocks. */
export function toReasoningItem(
  provider: string,
  block: ThinkingBlock,
): Readonly<Record<string, unknown>> | undefined {
  if (block.type !== BLOCK_TYPE || block.provider !== provider) return undefined;
  const item = record(block.item);
  // The vendor stores no items, so it cannot resolve an item without content.
  return item.type === 'reasoning' && text(item.encrypted_content) !== undefined ? item : undefined;
}

function summarize(item: Readonly<Record<string, unknown>>): string {
  const parts = [item.summary, item.content].flat();
  return parts.flatMap((part) => text(record(part).text) ?? []).join('\n\n');
}
