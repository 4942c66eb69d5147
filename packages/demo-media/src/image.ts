import { crc32, deflateSync } from 'node:zlib';
import { encodeJpeg } from './jpeg.ts';
import { computeHash } from './words.ts';

const MAX_SIZE = 256;

/** The formats of the demo. */
export type DemoFormat = 'png' | 'jpeg';

/**
 * Draws a gradient between two colours that depend on the prompt. Deterministic for prompt and seed.
 * @param width requested pixels, like `height`; the image has this aspect ratio and at most 256 pixels per side.
 */
export function drawImage(
  prompt: string,
  { width, height, seed = 0, format = 'png' }: DemoImage,
): Uint8Array {
  const scale = Math.min(1, MAX_SIZE / Math.max(width, height));
  const columns = Math.max(1, Math.round(width * scale));
  const rows = Math.max(1, Math.round(height * scale));
  const from = getColour(computeHash(`${seed} ${prompt}`));
  const to = getColour(computeHash(`${prompt} ${seed}`));
  const colourAt = (column: number, row: number): Colour => {
    const place = (row + column) / Math.max(1, rows + columns - 2);
    const mix = (part: 0 | 1 | 2) => Math.round(from[part] * (1 - place) + to[part] * place);
    return [mix(0), mix(1), mix(2)];
  };
  return format === 'jpeg' ? encodeJpeg(columns, rows, colourAt) : encodePng(columns, rows, colourAt);
}

export interface DemoImage {
  readonly width: number;
  readonly height: number;
  readonly seed?: number;
  readonly format?: DemoFormat;
}

type Colour = readonly [number, number, number];

function encodePng(
  columns: number,
  rows: number,
  colourAt: (column: number, row: number) => Colour,
): Uint8Array {
  const lineBytes = 1 + columns * 3;
  const pixels = Buffer.alloc(rows * lineBytes);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      pixels.set(colourAt(column, row), row * lineBytes + 1 + column * 3);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(columns, 0);
  head.writeUInt32BE(rows, 4);
  // 8 bits, true colour.
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function getColour(hash: number): Colour {
  return [hash & 0xff, (hash >>> 8) & 0xff, (hash >>> 16) & 0xff];
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(data.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}
