import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { WebToolError } from '@questline/core/ports';

const DECODERS = new Map<string, () => NodeJS.ReadWriteStream & Readable>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The value of `accept-encoding`: what all servers mean by `deflate` is not certain. */
export const CODINGS = 'gzip, br';

/**
 * Decodes a body. A server may encode one for a client that has not asked for it. The caller bounds what it reads: a few bytes may become
 * many.
 * @throws WebToolError for an unknown coding.
 */
export function decodeContent(body: Readable, coding: string | string[] | undefined): Readable {
  const name = String(coding ?? '').toLowerCase();
  if (name === '' || name === 'identity') return body;
  const decoder = DECODERS.get(name)?.();
  if (decoder === undefined) {
    throw new WebToolError('EXTERNAL_API_ERROR', 'The site answered in an encoding that is not supported.');
  }
  // The reader gets the error of either.
  return pipeline(body, decoder, () => undefined);
}
