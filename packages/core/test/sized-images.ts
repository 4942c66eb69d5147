import { findHugeImage } from '../src/features/files/moderation/images.ts';
import { makeFile } from './checked-file.ts';

export const find = (content: Uint8Array, mimeType = 'image/png') =>
  findHugeImage(makeFile(content, mimeType), {});
/** 64 megapixels are allowed; this is one row more. */
export const WIDTH = 8000;
export const MAX_HEIGHT = 8000;
export const HUGE = 'an image of 8000 by 8001 pixels';

export type Encode = (width: number, height: number) => Uint8Array;

/** Bytes with numbers at places. */
export function at(size: number, begin: string, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.write(begin, 'latin1');
  write(bytes);
  return bytes;
}
