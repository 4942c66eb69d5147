import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

/** Decoders of compressed request bodies. */
const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

export type BodyEncoding = keyof typeof DECODERS;

/** Parses a `Content-Encoding` header. @returns undefined for none, `unsupported` for an unknown or a chained one. */
export function parseEncoding(value: string | undefined): BodyEncoding | 'unsupported' | undefined {
  const name = value?.trim().toLowerCase();
  if (name === undefined || name === '' || name === 'identity') return undefined;
  return Object.hasOwn(DECODERS, name) ? (name as BodyEncoding) : 'unsupported';
}

/**
 * Decompresses a body.
 * @returns `too-large` beyond `limit` decoded bytes, of which no more are produced; `malformed` for other bytes.
 */
export async function decodeBody(
  bytes: Uint8Array,
  encoding: BodyEncoding,
  limit: number,
): Promise<Uint8Array | 'too-large' | 'malformed'> {
  try {
    return await DECODERS[encoding](bytes, { maxOutputLength: limit });
  } catch (error) {
    return error instanceof RangeError ? 'too-large' : 'malformed';
  }
}
