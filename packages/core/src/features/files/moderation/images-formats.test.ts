import { describe, expect, it } from 'vitest';
import { encodeJpeg } from '../../../../../../test/support/samples.ts';
import { at, find, HUGE, MAX_HEIGHT, WIDTH } from '../../../../test/sized-images.ts';

describe('an AVIF', () => {
  const encode = (begin: string, ...sizes: readonly (readonly number[])[]) =>
    at(60, begin, (bytes) => {
      for (const [place = 0, width = 0, height = 0] of sizes) {
        bytes.write('ispe', place, 'latin1');
        bytes.writeUInt32BE(width, place + 8);
        bytes.writeUInt32BE(height, place + 12);
      }
    });

  it('has the first of its largest sizes', async () => {
    expect(await find(encode('....ftypavif', [12, 8000, 8001], [30, 8001, 8000]))).toBe(HUGE);
    expect(await find(encode('....ftypavif', [12, 10, 10], [30, 8000, 8001]))).toBe(HUGE);
  });

  it('may have sizes at its very start, and beside each other', async () => {
    expect(await find(encode('ispeftyp', [0, 8000, 8001]))).toBe(HUGE);
    expect(await find(encode('....ftypavif', [12, 1, 8000], [16, 8000, 8001]))).toBe(HUGE);
  });
});

describe('a TIFF', () => {
  /** A directory of large numbers at the end. */
  const encode = (tags: readonly (readonly [tag: number, value: number])[]) =>
    at(10 + 12 * tags.length, 'II*\0', (bytes) => {
      bytes.writeUInt32LE(8, 4);
      bytes.writeUInt16LE(tags.length, 8);
      for (const [index, [tag, value]] of tags.entries()) {
        bytes.writeUInt16LE(tag, 10 + 12 * index);
        bytes.writeUInt16LE(4, 12 + 12 * index);
        bytes.writeUInt32LE(value, 18 + 12 * index);
      }
    });

  it('may end with its directory', async () => {
    const tags = [
      [256, 8000],
      [257, 8001],
    ] as const;
    expect(await find(encode(tags))).toBe(HUGE);
  });

  it('has a size only with both numbers', async () => {
    expect(await find(encode([[256, 70_000_000]]))).toBeUndefined();
    expect(await find(encode([[257, 70_000_000]]))).toBeUndefined();
  });

  it('is read for at most 200 tags', async () => {
    const others = (count: number) => Array.from({ length: count }, () => [254, 1] as const);
    expect(await find(encode([[256, 8000], ...others(198), [257, 8001]]))).toBe(HUGE);
    expect(await find(encode([[256, 8000], ...others(199), [257, 8001]]))).toBeUndefined();
  });
});

describe('a JPEG', () => {
  /** Segments before the frame, in hexadecimal digits. */
  const encode = (...segments: readonly string[]) =>
    Buffer.concat([
      ...['ffd8', ...segments].map((hex) => Buffer.from(hex, 'hex')),
      encodeJpeg(WIDTH, MAX_HEIGHT + 1).subarray(2 + 20_002),
    ]);
  const frame = (marker: string) => `ff${marker}000808000a000a00`;

  it.each(['ffc4000400ff', 'ffc8000400ff', 'ffcc000400ff', 'ffe0000400ff', 'ffdb0002', 'ffffff', ''])(
    'may have a segment that is no frame: %s',
    async (segment) => {
      expect(await find(encode(segment))).toBe(HUGE);
    },
  );

  it.each(['c0', 'c1', 'c3', 'cd', 'cf'])('has the size of its first frame: %s', async (marker) => {
    expect(await find(encode(frame(marker)))).toBeUndefined();
  });

  it.each(['bf', 'd0'])('may have a marker beside those of frames: %s', async (marker) => {
    expect(await find(encode(`ff${marker}000400ff`))).toBe(HUGE);
  });

  it('is read for at most a thousand segments', async () => {
    expect(await find(encode(...Array<string>(999).fill('ffe00002')))).toBe(HUGE);
    expect(await find(encode(...Array<string>(1000).fill('ffe00002')))).toBeUndefined();
    expect(await find(encode('00e00002'))).toBeUndefined();
  });
});
