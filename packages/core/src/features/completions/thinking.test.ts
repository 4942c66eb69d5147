import { describe, expect, it } from 'vitest';
import { fromWireThinking, toWireThinking } from './thinking.ts';

describe('a block of reasoning', () => {
  it.each([
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'redacted_thinking', data: 'x' },
  ])('has its own type on the wire: %j', (block) => {
    expect(toWireThinking(block)).toBe(block);
    expect(fromWireThinking(block)).toBe(block);
  });

  it('of another type names that type beside the one of the wire', () => {
    const block = { type: 'thought_signature', value: 's' };
    const wire = { type: 'thinking', provider_type: 'thought_signature', value: 's' };
    expect(toWireThinking(block)).toEqual(wire);
    expect(fromWireThinking(wire)).toEqual(block);
  });

  it('is left as it is with a type that is no text', () => {
    const block = { type: 'thinking', provider_type: 7 };
    expect(fromWireThinking(block)).toBe(block);
  });
});
