import { crc32, deflateSync } from 'node:zlib';
import { hashOf } from './embedding.ts';

const LARGEST = 256;

/**
 * A picture as PNG: a gradient between two colours that the prompt decides. The same prompt and seed give the same bytes.
 * @param width pixels asked for, as is `height`; the picture has this shape and at most 256 pixels a side.
 */
export function drawPicture(prompt: string, width: number, height: number, seed = 0): Uint8Array {
  const scale = Math.min(1, LARGEST / Math.max(width, height));
  const columns = Math.max(1, Math.round(width * scale));
  const rows = Math.max(1, Math.round(height * scale));
  const from = colourOf(hashOf(`${seed} ${prompt}`));
  const to = colourOf(hashOf(`${prompt} ${seed}`));
  const lineBytes = 1 + columns * 3;
  const pixels = Buffer.alloc(rows * lineBytes);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const place = (row + column) / Math.max(1, rows + columns - 2);
      for (let part = 0; part < 3; part++) {
        const value = (from[part] ?? 0) * (1 - place) + (to[part] ?? 0) * place;
        pixels[row * lineBytes + 1 + column * 3 + part] = Math.round(value);
      }
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

function colourOf(hash: number): readonly number[] {
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
