import type { ThinkingBlock } from '../../ports/models.ts';

/**
 * On the wire every block is `thinking` or `redacted_thinking`, whatever the provider calls its own: clients return
 * blocks unchanged, and need no provider names. The provider's name is part of the block.
 */
export function toWireThinking(block: ThinkingBlock): ThinkingBlock {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return block;
  return { ...block, type: 'thinking', provider_type: block.type };
}

/** The block in the provider's own form. */
export function fromWireThinking(block: ThinkingBlock): ThinkingBlock {
  const { provider_type: type, ...rest } = block;
  return typeof type === 'string' ? { ...rest, type } : block;
}
