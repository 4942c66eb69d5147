import { describe, expect, test } from 'vitest';
import { encodeJpeg } from '../src/jpeg.ts';

type Colour = readonly [number, number, number];

/** Codes of the sizes 0 to 8 of a difference (ITU-T T.81, table K.3). */
const SIZES = ['00', '010', '011', '100', '101', '110', '1110', '11110', '111110'];

/** The brightness and the two colour differences of each block of a row of blocks. */
function readBlocks(jpeg: Buffer, count: number): number[][] {
  const start = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  const scan = jpeg.subarray(start + 2 + jpeg.readUInt16BE(start + 2), -2);
  let bits = '';
  for (let at = 0; at < scan.length; at += 1) {
    bits += scan.readUInt8(at).toString(2).padStart(8, '0');
    if (scan[at] === 0xff) expect(scan[++at]).toBe(0);
  }
  const values = [0, 0, 0];
  const read = (length: number): string => {
    const text = bits.slice(0, length);
    bits = bits.slice(length);
    return text;
  };
  const blocks = Array.from({ length: count }, () => {
    for (const place of values.keys()) {
      const size = SIZES.findIndex((code) => bits.startsWith(code));
      read(SIZES[size]?.length ?? 0);
      const text = read(size);
      const value = Number.parseInt(`0${text}`, 2);
      values[place] = (values[place] ?? 0) + (text.startsWith('0') ? value - 2 ** size + 1 : value);
      expect(read(1)).toBe('0');
    }
    return [...values];
  });
  expect(bits).toMatch(/^1{0,7}$/);
  return blocks;
}

describe('a JPEG of the demo provider', () => {
  test.each<[string, readonly Colour[], number[][]]>([
    ['the greatest colour difference', [[255, 0, 0]], [[-52, -43, 127]]],
    [
      'a byte of ones, which is followed by a zero',
      [
        [0, 255, 255],
        [0, 0, 0],
        [255, 255, 255],
      ],
      [
        [51, 43, -127],
        [-128, 0, 0],
        [127, 0, 0],
      ],
    ],
  ])('has the colours of its blocks, with %s', (_, colours, expected) => {
    const colourAt = (column: number): Colour => colours[Math.floor(column / 8)] ?? [0, 0, 0];
    const jpeg = Buffer.from(encodeJpeg(colours.length * 8, 8, colourAt));
    expect(readBlocks(jpeg, colours.length)).toEqual(expected);
  });
});
