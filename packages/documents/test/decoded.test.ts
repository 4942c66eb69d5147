import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { countDecodedBytes } from '../src/decoded.ts';

const MAX = 1000;
let reset: () => void;

/** The counter replaces these; the stub restores them. */
beforeEach(() => {
  vi.stubGlobal('Uint8Array', Uint8Array);
  vi.stubGlobal('DecompressionStream', DecompressionStream);
  reset = countDecodedBytes(MAX, () => {
    throw new Error('too much');
  });
});
afterEach(() => vi.unstubAllGlobals());

async function inflate(bytes: number): Promise<number> {
  const packed = new Blob([deflateSync(Buffer.alloc(bytes))]).stream();
  let size = 0;
  for await (const piece of packed.pipeThrough(new DecompressionStream('deflate'))) size += piece.length;
  return size;
}

describe('count of decoded bytes', () => {
  it('includes a quarter of each allocated buffer, up to the limit', () => {
    expect(new Uint8Array(4 * MAX - 4)).toHaveLength(4 * MAX - 4);
    expect(new Uint8Array(4)).toHaveLength(4);
    expect(() => new Uint8Array(4)).toThrow('too much');
  });

  it('does not include views and copies', () => {
    const buffer = new ArrayBuffer(8 * MAX);
    expect(new Uint8Array(buffer)).toHaveLength(8 * MAX);
    expect([...new Uint8Array([1, 2])]).toEqual([1, 2]);
  });

  it('includes what a stream inflates, up to the limit', async () => {
    expect(await inflate(MAX)).toBe(MAX);
    await expect(inflate(1)).rejects.toThrow('too much');
  });

  it('begins again with each document', async () => {
    expect(await inflate(MAX)).toBe(MAX);
    reset();
    expect(await inflate(MAX)).toBe(MAX);
  });

  it('leaves the classes of the values as they are', () => {
    class Pixels extends Uint8Array {}
    expect(new Pixels(1)).toBeInstanceOf(Pixels);
    expect(new Uint8Array(1)).toBeInstanceOf(Uint8Array);
  });
});
