import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { ExcessError } from './excess.ts';

const END = 0x0605_4b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const ENTRY = 0x0201_4b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/** Maximum entries. */
const MAX_ENTRIES = 20_000;

/** The parts of a ZIP archive by name. Unpacks on demand. */
export interface Archive {
  has(name: string): boolean;
  /**
   * Unpacks a part in chunks, without trusting its declared size.
   * @throws ExcessError when all unpacked parts exceed the limit.
   */
  unpack(name: string): AsyncIterable<Uint8Array>;
}

interface Entry {
  readonly method: number;
  readonly offset: number;
  readonly packedSize: number;
}

/** @throws Error for an invalid archive. */
export function openArchive(archive: Buffer, maxDecodedBytes: number): Archive {
  const entries = readDirectory(archive);
  let decoded = 0;
  return {
    has: (name) => entries.has(name),
    async *unpack(name) {
      const entry = entries.get(name);
      if (entry === undefined) throw new Error(`the archive has no part ${name}`);
      const packed = locate(archive, entry);
      if (entry.method !== 0 && entry.method !== 8) throw new Error('a part is packed in an unknown way');
      const content = entry.method === 0 ? [packed] : Readable.from([packed]).pipe(createInflateRaw());
      for await (const piece of content as AsyncIterable<Uint8Array>) {
        decoded += piece.length;
        if (decoded > maxDecodedBytes) throw new ExcessError('decoded');
        yield piece;
      }
    },
  };
}

function readDirectory(archive: Buffer): ReadonlyMap<string, Entry> {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) throw new ExcessError('decoded');
  const entries = new Map<string, Entry>();
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(at) !== ENTRY) throw new Error('a ZIP archive with a broken directory');
    const nameBytes = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    entries.set(name, {
      method: archive.readUInt16LE(at + 10),
      packedSize: archive.readUInt32LE(at + 20),
      offset: archive.readUInt32LE(at + 42),
    });
    at += ENTRY_BYTES + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

function findEnd(archive: Buffer): number {
  const from = Math.max(0, archive.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = archive.length - END_BYTES; at >= from; at -= 1) {
    if (archive.readUInt32LE(at) === END) return at;
  }
  throw new Error('not a ZIP archive');
}

function locate(archive: Buffer, { offset, packedSize }: Entry): Buffer {
  const start = offset + LOCAL_BYTES + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  return archive.subarray(start, start + packedSize);
}
