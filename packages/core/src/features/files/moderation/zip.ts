/** Bytes with random access. */
export interface RandomAccess {
  readonly size: number;
  /** Reads from `start` to `end`, exclusive. */
  read(start: number, end: number): Promise<Uint8Array>;
}

export interface ZipEntry {
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly packedSize: number;
  packed(): AsyncIterable<Uint8Array>;
}

const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const PIECE_BYTES = 65_536;
/** More than the checked number of entries needs for its names. */
const MAX_DIRECTORY_BYTES = 8 * 2 ** 20;
/** Placeholder for a number in the ZIP64 fields: archives of more than 4 GB. */
const ELSEWHERE = 0xffffffff;

/**
 * Lists the entries of a ZIP archive, according to its directory.
 * @throws RangeError for an invalid archive, or one of more than 4 GB.
 */
export async function* getEntries(archive: RandomAccess): AsyncGenerator<ZipEntry, void> {
  const directory = await readDirectory(archive);
  for (let at = 0; at < directory.length; ) {
    if (directory.readUInt32LE(at) !== ENTRY) throw new RangeError('the directory of the archive is broken');
    const packedSize = directory.readUInt32LE(at + 20);
    const offset = directory.readUInt32LE(at + 42);
    if (packedSize === ELSEWHERE || offset === ELSEWHERE)
      throw new RangeError('an archive of more than 4 GB');
    yield {
      method: directory.readUInt16LE(at + 10),
      isEncrypted: (directory.readUInt16LE(at + 8) & 1) === 1,
      packedSize,
      packed: () => bytesAt(archive, offset, packedSize),
    };
    at +=
      ENTRY_BYTES +
      directory.readUInt16LE(at + 28) +
      directory.readUInt16LE(at + 30) +
      directory.readUInt16LE(at + 32);
  }
}

async function readDirectory(archive: RandomAccess): Promise<Buffer> {
  const from = Math.max(0, archive.size - END_BYTES - MAX_COMMENT);
  const tail = Buffer.from(await archive.read(from, archive.size));
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END) continue;
    const size = tail.readUInt32LE(at + 12);
    const start = tail.readUInt32LE(at + 16);
    if (size > MAX_DIRECTORY_BYTES) throw new RangeError('the directory of the archive is too long');
    if (start + size > archive.size) throw new RangeError('the directory of the archive is elsewhere');
    return Buffer.from(await archive.read(start, start + size));
  }
  throw new RangeError('an archive without a directory');
}

/** Skips the entry's local header, which alone contains its own length. */
async function* bytesAt(archive: RandomAccess, offset: number, size: number): AsyncGenerator<Uint8Array> {
  const local = Buffer.from(await archive.read(offset, offset + LOCAL_BYTES));
  const start = offset + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28);
  for (let at = start; at < start + size; at += PIECE_BYTES) {
    const piece = await archive.read(at, Math.min(at + PIECE_BYTES, start + size));
    if (piece.length === 0) throw new RangeError('the archive ends before its last entry');
    yield piece;
  }
}
