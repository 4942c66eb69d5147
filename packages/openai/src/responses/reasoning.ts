import { isPackedThinking, unpackThinking } from '@questline/core/internal';
import type { ThinkingBlock } from '@questline/core/ports';
import { issue } from '../errors.ts';
import type { ReasoningItem } from './contract-items.ts';

/** The type of the blocks that providers of this protocol store a reasoning item in. */
const BLOCK_TYPE = 'responses_reasoning';

/**
 * Reads reasoning that a client sends back. @param provider the provider of the requested model: reasoning that was not
 * received from this server is passed on to it unchanged. @returns undefined for an item without its content, which no
 * provider accepts: it is left out. @throws ApiError 400 for changed content of ours.
 */
export function readReasoning(
  item: ReasoningItem,
  provider: string,
  path: string,
): ThinkingBlock | undefined {
  const { encrypted_content: content } = item;
  if (content == null || content === '') return undefined;
  if (!isPackedThinking(content)) return { type: BLOCK_TYPE, provider, item };
  const block = unpackThinking(content);
  if (block === undefined) {
    throw issue(`${path}.encrypted_content`, 'changed: send reasoning items back as they came');
  }
  return block;
}
