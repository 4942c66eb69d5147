import { describe, expect, test } from 'vitest';
import { type Colour, encodeFrame } from '../src/frames.ts';

const GREY: Colour = [99, 99, 99];

describe('a frame of a demo video', () => {
  test('has a block for every 16 pixels that are begun', () => {
    const size = (width: number, height: number): number =>
      encodeFrame({ width, height }, 0, () => GREY).length;
    const one = size(16, 16);
    // Each further block has a head of two bytes.
    for (const [width, height, blocks] of [
      [2, 2, 1],
      [18, 16, 2],
      [32, 16, 2],
      [34, 16, 3],
      [34, 34, 9],
    ] as const) {
      expect(size(width, height), `${width} × ${height}`).toBe(one + (blocks - 1) * (2 + 384));
    }
  });

  test('has no sequence of bytes that begins a unit', () => {
    const row = [0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 0, 0];
    const encode = (colourAt: (x: number) => Colour): string =>
      encodeFrame({ width: 16, height: 16 }, 0, colourAt).toString('hex').replaceAll(/../g, '$& ');
    const head = encode(() => GREY).split('63 ')[0];
    const luma = Array.from({ length: 16 }, () => row.map((value) => `0${value} `).join('')).join('');
    const plain = `${head}${luma}${'63 '.repeat(128)}80 `;
    const escaped = encode((x) => [row[x] ?? 0, 99, 99]);
    expect(escaped).toBe(plain.replaceAll(/00 00 (?=0[0-3])/g, '00 00 03 '));
    expect(escaped).not.toMatch(/00 00 0[0-2]/);
  });
});
