import type { FileToCheck } from '../src/ports/moderator.ts';

/** A file before its check. Notes the parts that are read. */
export function makeFile(content: Uint8Array | string, mimeType: string, piece = 1000) {
  const bytes = Buffer.from(content);
  const reads: (readonly [start: number, end: number])[] = [];
  const file: FileToCheck = {
    ...{ name: 'file', mimeType, size: bytes.length },
    async read(start, end) {
      reads.push([start, end]);
      return bytes.subarray(start, end);
    },
    async *stream() {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    },
  };
  return { ...file, reads };
}
