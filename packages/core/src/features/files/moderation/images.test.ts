import { describe, expect, it } from 'vitest';
import { encodeGif, encodeJpeg, encodePng, encodeWebp } from '../../../../../../test/support/samples.ts';
import { at, type Encode, find, HUGE, MAX_HEIGHT, WIDTH } from '../../../../test/sized-images.ts';

const encodeBmp: Encode = (width, height) =>
  at(26, 'BM', (bytes) => {
    bytes.writeInt32LE(width, 18);
    // From the top to the bottom.
    bytes.writeInt32LE(-height, 22);
  });

const encodeLossy: Encode = (width, height) =>
  at(30, 'RIFF....WEBPVP8 ', (bytes) => {
    bytes.writeUInt16LE(width | 0x4000, 26);
    bytes.writeUInt16LE(height | 0x4000, 28);
  });

const encodeLossless: Encode = (width, height) =>
  at(30, 'RIFF....WEBPVP8L', (bytes) => {
    bytes.writeUInt32LE((((height - 1) << 14) | (width - 1) | 0x10000000) >>> 0, 21);
  });

/** A size of its own for every part. The last one is cut off. */
const encodeIso: Encode = (width, height) =>
  at(112, '....ftypavif', (bytes) => {
    const sizes = [
      [16, 100, 200],
      [40, width, height],
      [70, 1, 90_000],
    ];
    for (const [place = 0, one = 0, other = 0] of sizes) {
      bytes.write('ispe', place, 'latin1');
      bytes.writeUInt32BE(one, place + 8);
      bytes.writeUInt32BE(other, place + 12);
    }
    bytes.write('ispe', 100, 'latin1');
    bytes.writeUInt32BE(0xffffffff, 108);
  });

const encodeTiff =
  (isLittle: boolean, type: number): Encode =>
  (width, height) =>
    at(8 + 2 + 12 * 3 + 12, isLittle ? 'II*\0' : 'MM\0*', (bytes) => {
      const short = (value: number, place: number) =>
        isLittle ? bytes.writeUInt16LE(value, place) : bytes.writeUInt16BE(value, place);
      const long = (value: number, place: number) =>
        isLittle ? bytes.writeUInt32LE(value, place) : bytes.writeUInt32BE(value, place);
      long(8, 4);
      short(3, 8);
      const tags = [
        [254, 77],
        [256, width],
        [257, height],
        // Beyond the directory.
        [256, 1],
      ];
      for (const [index, [tag = 0, value = 0]] of tags.entries()) {
        const place = 10 + 12 * index;
        short(tag, place);
        short(type, place + 2);
        (type === 3 ? short : long)(value, place + 8);
      }
    });

describe('an image', () => {
  const kinds: readonly (readonly [string, Encode])[] = [
    ['PNG', encodePng],
    ['GIF', encodeGif],
    ['JPEG', encodeJpeg],
    ['WebP', encodeWebp],
    ['WebP without losses', encodeLossless],
    ['WebP with losses', encodeLossy],
    ['BMP', encodeBmp],
    ['AVIF', encodeIso],
    ['TIFF of small numbers', encodeTiff(true, 3)],
    ['TIFF of large numbers', encodeTiff(true, 4)],
    ['TIFF in the other order', encodeTiff(false, 3)],
    ['TIFF of large numbers in the other order', encodeTiff(false, 4)],
  ];

  it.each(kinds)('has at most 64 megapixels: %s', async (_, encode) => {
    expect(await find(encode(WIDTH, MAX_HEIGHT))).toBeUndefined();
    expect(await find(encode(WIDTH, MAX_HEIGHT + 1))).toBe(HUGE);
  });

  it.each(kinds)('that is cut off has no size: %s', async (_, encode) => {
    const bytes = encode(WIDTH, MAX_HEIGHT + 1);
    for (let length = 0; length <= 32; length += 1) {
      const found = await find(bytes.subarray(0, length));
      expect([undefined, HUGE], `${length} bytes`).toContain(found);
    }
  });

  it.each([
    ['PNG', encodePng, 24],
    ['GIF', encodeGif, 10],
    ['WebP', encodeWebp, 30],
    ['BMP', encodeBmp, 26],
    ['AVIF', encodeIso, 56],
  ] as const)('needs no more than its head: %s', async (_, encode, length) => {
    const bytes = encode(WIDTH, MAX_HEIGHT + 1);
    expect(await find(bytes.subarray(0, length))).toBe(HUGE);
    expect(await find(bytes.subarray(0, length - 1))).toBeUndefined();
  });

  it('of an unknown format has no size', async () => {
    expect(await find(Buffer.alloc(100, 'x'))).toBeUndefined();
    for (const begin of ['RIFF....WAVEVP8X', 'RAFF....WEBPVP8X']) {
      expect(await find(at(30, begin, (bytes) => bytes.fill(0xff, 24)))).toBeUndefined();
    }
    expect(await find(at(30, '....ftypavif', () => undefined))).toBeUndefined();
  });

  it('is any type of image but SVG', async () => {
    const png = encodePng(WIDTH, MAX_HEIGHT + 1);
    expect(await find(png, 'image/x-other')).toBe(HUGE);
    for (const type of ['image/svg+xml', 'text/plain', 'application/image/png']) {
      expect(await find(png, type), type).toBeUndefined();
    }
  });
});
