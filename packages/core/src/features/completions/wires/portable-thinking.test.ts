import { describe, expect, it } from 'vitest';
import { getThinkingText, isPackedThinking, packThinking, unpackThinking } from './portable-thinking.ts';

const pack = (value: unknown) => packThinking(value as never);
const withFields = (count: number) =>
  Object.fromEntries([['type', 'thinking'], ...Array.from({ length: count - 1 }, (_, at) => [`f${at}`, at])]);

describe('reasoning in a text field', () => {
  it('comes back as it was, with up to 100 fields', () => {
    const text = pack(withFields(100));
    expect(text).toMatch(/^questline\.[\w-]+$/);
    expect([isPackedThinking(text), isPackedThinking('sig')]).toEqual([true, false]);
    expect(unpackThinking(text)).toEqual(withFields(100));
  });

  it.each([null, 5, 'x', [], [{ type: 'thinking' }], {}, { type: 5 }, withFields(101)])(
    'is dropped if it is no block: %.40j',
    (value) => {
      expect(unpackThinking(pack(value))).toBeUndefined();
    },
  );

  it('is dropped if it is not JSON', () => {
    expect(unpackThinking('questline.x')).toBeUndefined();
  });

  it('has a readable text, or none', () => {
    expect(getThinkingText({ type: 'thinking', thinking: 'a', text: 'b' })).toBe('a');
    expect(getThinkingText({ type: 'thinking', text: 'b' })).toBe('b');
    expect(getThinkingText({ type: 'thinking' })).toBe('');
  });
});
