import type { FileHandle } from 'node:fs/promises';
import type { ObjectInfo } from '../ports/objects.ts';

/*
 * One file per object: what is known of it in the first 512 bytes, then its own. So both change places with the old ones
 * in one step of the file system.
 */

export const HEAD_BYTES = 512;
const MARK = 'questline object 1\n';

/** @throws RangeError when it does not fit: a content type of several hundred characters. */
export function headOf({ size, contentType, etag }: Omit<ObjectInfo, 'key'>): Buffer {
  const head = Buffer.alloc(HEAD_BYTES, '\n');
  const text = `${MARK}${JSON.stringify({ size, contentType, etag })}`;
  if (Buffer.byteLength(text) > HEAD_BYTES)
    throw new RangeError('the content type of the object is too long');
  head.write(text);
  return head;
}

/** @throws Error for a file that is none of ours, or was cut off. */
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
