import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeBody, parseEncoding } from './encoding.ts';

describe('the encoding of a body', () => {
  it.each([undefined, '', ' ', 'identity', ' Identity '])('is absent for %j', (value) => {
    expect(parseEncoding(value)).toBeUndefined();
  });

  it.each([
    ['gzip', 'gzip'],
    [' X-GZIP ', 'x-gzip'],
    ['Deflate', 'deflate'],
    ['br', 'br'],
    ['zstd', 'unsupported'],
    ['gzip, br', 'unsupported'],
    ['toString', 'unsupported'],
  ])('is, for %j, %s', (value, expected) => {
    expect(parseEncoding(value)).toBe(expected);
  });
});

describe('a compressed body', () => {
  const plain = Buffer.from('x'.repeat(1000));

  it.each([
    ['gzip', gzipSync(plain)],
    ['x-gzip', gzipSync(plain)],
    ['deflate', deflateSync(plain)],
    ['br', brotliCompressSync(plain)],
  ] as const)('is decoded up to the limit: %s', async (encoding, bytes) => {
    expect(await decodeBody(bytes, encoding, 1000)).toEqual(plain);
    expect(await decodeBody(bytes, encoding, 999)).toBe('too-large');
  });

  it('is malformed when it is another encoding', async () => {
    expect(await decodeBody(plain, 'gzip', 1000)).toBe('malformed');
    expect(await decodeBody(gzipSync(plain).subarray(0, 20), 'gzip', 1000)).toBe('malformed');
  });
});
