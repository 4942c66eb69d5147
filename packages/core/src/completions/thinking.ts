import type { ThinkingBlock } from '../ports/models.ts';

/**
 * On the wire every block is `thinking` or `redacted_thinking`, whatever a provider calls its own: clients hand blocks
 * back as they got them, and need to know no provider's names. The provider's name travels along.
 */
export function toWireThinking(block: ThinkingBlock): ThinkingBlock {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return block;
  return { ...block, type: 'thinking', provider_type: block.type };
}

/** The block as its provider gave it. */
export function fromWireThinking(block: ThinkingBlock): ThinkingBlock {
  const { provider_type: type, ...rest } = block;
  return typeof type === 'string' ? { ...rest, type } : block;
}
