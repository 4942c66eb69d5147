import { describe, expect, it } from 'vitest';
import { createBest } from '../src/vectors/nearest.ts';

/** A direction with this cosine to the wanted one. */
const toDirection = (score: number) => Float32Array.of(score, Math.sqrt(1 - score * score));
const WANTED = Float32Array.of(1, 0);

function see(scores: Readonly<Record<string, number>>, limit: number, minScore = -1) {
  const best = createBest(WANTED, limit, minScore);
  for (const [id, score] of Object.entries(scores)) best.see(id, toDirection(score));
  return best.found.map(({ id }) => id);
}

describe('the nearest chunks', () => {
  const SCORES = { c: 0.5, a: 0.25, e: 0.5, d: 1, b: 0.5, f: -0.5 };

  it.each([
    [1, ['d']],
    [2, ['d', 'b']],
    [3, ['d', 'b', 'c']],
    [4, ['d', 'b', 'c', 'e']],
    [6, ['d', 'b', 'c', 'e', 'a', 'f']],
    [9, ['d', 'b', 'c', 'e', 'a', 'f']],
  ])('are at most %i, nearest first, those that are as near by their ids', (limit, expected) => {
    expect(see(SCORES, limit)).toEqual(expected);
    const reversed = Object.fromEntries(Object.entries(SCORES).toReversed());
    expect(see(reversed, limit)).toEqual(expected);
  });

  it('are at least as near as the caller wants', () => {
    expect(see(SCORES, 9, 0.5)).toEqual(['d', 'b', 'c', 'e']);
    expect(see(SCORES, 9, 0.75)).toEqual(['d']);
  });

  it('have their scores', () => {
    const best = createBest(WANTED, 2, -1);
    best.see('a', toDirection(0.5));
    expect(best.found).toEqual([{ id: 'a', score: 0.5 }]);
  });

  it('are none for a limit of 0', () => {
    expect(see(SCORES, 0)).toEqual([]);
  });
});
