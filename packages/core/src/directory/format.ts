import type { FileHandle } from 'node:fs/promises';
import type { ObjectInfo } from '../ports/objects.ts';

/*
 * File format: a header of 512 bytes with the metadata, then the bytes of the object. One rename replaces both
 * atomically.
 */

export const HEAD_BYTES = 512;
const MARK = 'questline object 1\n';

/** @throws RangeError if the metadata exceeds the header, e.g. for a content type of several hundred characters. */
export function getHead({ size, contentType, etag }: Omit<ObjectInfo, 'key'>): Buffer {
  const head = Buffer.alloc(HEAD_BYTES, '\n');
  const text = `${MARK}${JSON.stringify({ size, contentType, etag })}`;
  if (Buffer.byteLength(text) > HEAD_BYTES)
    throw new RangeError('the content type of the object is too long');
  head.write(text);
  return head;
}

/** @throws Error for a file with a foreign or truncated header. */
export async function readHead(file: FileHandle, key: string): Promise<ObjectInfo> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const text = buffer.toString('utf8', 0, bytesRead);
  const { size: length } = await file.stat();
  if (text.startsWith(MARK)) {
    const { size, contentType, etag } = JSON.parse(text.slice(MARK.length)) as Omit<ObjectInfo, 'key'>;
    if (length === HEAD_BYTES + size) return { key, size, contentType, etag };
  }
  throw new Error(`the file of the object ${key} is damaged`);
}
