import { describe, expect, it } from 'vitest';
import { embedText } from './embedding.ts';

const compare = (one: string, other: string): number => {
  const [a, b] = [one, other].map((text) => embedText(text, 256).embedding);
  return (a ?? []).reduce((sum, value, at) => sum + value * (b?.[at] ?? 0), 0);
};

/** FNV-1a of a text, by its definition. */
function hash(text: string): number {
  let sum = 0x811c9dc5n;
  for (const unit of text) sum = ((sum ^ BigInt(unit.charCodeAt(0))) * 0x01000193n) & 0xffffffffn;
  return Number(sum);
}

describe('vector of a text by the demo model', () => {
  it('adds each word and its parts, at the place and with the sign of their hash', () => {
    const wanted = new Array<number>(64).fill(0);
    const terms: readonly (readonly [string, number])[] = [
      ...([
        ['cat', 1],
        ['<ca', 0.35],
        ['cat', 0.35],
        ['at>', 0.35],
      ] as const),
      ...([
        ['ox', 1],
        ['<ox', 0.35],
        ['ox>', 0.35],
      ] as const),
    ];
    for (const [term, weight] of terms) {
      const place = hash(term) % 64;
      wanted[place] = (wanted[place] ?? 0) + (hash(term) >= 2 ** 31 ? -weight : weight);
    }
    const length = Math.hypot(...wanted);
    const { embedding } = embedText('Cat, OX!', 64);
    for (const [place, value] of wanted.entries()) expect(embedding[place]).toBeCloseTo(value / length, 12);
  });

  it('has the length 1, or 0 without words', () => {
    expect(Math.hypot(...embedText('The lake is deep.', 32).embedding)).toBeCloseTo(1, 12);
    expect(embedText('...', 3)).toEqual({ embedding: [0, 0, 0], tokens: 1 });
  });

  it('is close to those of texts that share words or parts of words', () => {
    expect(compare('deep lake', 'lake deep')).toBeCloseTo(1, 12);
    expect(compare('knife', 'knives')).toBeGreaterThan(compare('knife', 'lake'));
  });

  it('costs a token for each word, and one at least', () => {
    expect(['', 'a', 'a b c'].map((text) => embedText(text, 8).tokens)).toEqual([1, 1, 3]);
  });
});
