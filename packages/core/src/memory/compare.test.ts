import { describe, expect, it } from 'vitest';
import { compareValues } from './compare.ts';

/** Each value comes before all that follow it. */
function expectOrder(values: readonly Parameters<typeof compareValues>[0][]): void {
  for (const [at, a] of values.entries()) {
    for (const [place, b] of values.entries()) {
      expect([a, b, Math.sign(compareValues(a, b))]).toEqual([a, b, Math.sign(at - place)]);
    }
  }
}

describe('order of values', () => {
  it('has null first, then false and true, and numbers by value', () => {
    expectOrder([null, false, true]);
    expectOrder([null, -2, 0, 0.5, 10, 9e15]);
    expectOrder([null, '', 'a']);
  });

  it('has text by code point, and a beginning before its continuation', () => {
    expectOrder(['', 'A', 'Aa', 'B', 'a', 'aa', 'ab', 'b']);
    const points = [0x41, 0xd7fe, 0xd7ff, 0xe000, 0xe001, 0xffff, 0x10000, 0x103ff, 0x10400, 0x10ffff];
    const characters = points.map((point) => String.fromCodePoint(point));
    expectOrder(characters);
    expectOrder(characters.map((character) => `x${character}y`));
    expectOrder(characters.flatMap((character) => [character, `${character}a`]));
  });

  it('has half a character beyond all that have one unit', () => {
    expectOrder(['\ue000', '\uffff', '\ud800', '\ud801', '\udc00', '\udffe', '\udfff']);
  });
});
