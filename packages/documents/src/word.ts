/** The text of a docx file, paragraph by paragraph. */
export async function textOfWord(bytes: Uint8Array, mostUnpackedBytes: number): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const unpacked = unpackedSize(buffer);
  if (unpacked > mostUnpackedBytes) {
    throw new RangeError(
      `a file that unpacks to ${unpacked} bytes, and at most ${mostUnpackedBytes} are read`,
    );
  }
  // Loaded at the first such file: it is large.
  const { default: mammoth } = await import('mammoth');
  const { value } = await mammoth.extractRawText({ buffer });
  return value.trim();
}

const DIRECTORY_END = 0x0605_4b50;
const DIRECTORY_ENTRY = 0x0201_4b50;
/** The end record, and the longest comment behind it. */
const LONGEST_END = 22 + 0xffff;

/**
 * What the parts of a ZIP archive say they unpack to, before any is unpacked: a small file may hold gigabytes of nothing.
 * @throws Error for what is no archive.
 */
function unpackedSize(archive: Buffer): number {
  const from = Math.max(0, archive.length - LONGEST_END);
  for (let at = archive.length - 22; at >= from; at -= 1) {
    if (archive.readUInt32LE(at) === DIRECTORY_END) return sumEntries(archive, at);
  }
  throw new Error('not a ZIP archive');
}

function sumEntries(archive: Buffer, end: number): number {
  const entries = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  let size = 0;
  for (let entry = 0; entry < entries; entry += 1) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY)
      throw new Error('a ZIP archive with a broken directory');
    size += archive.readUInt32LE(at + 24);
    at += 46 + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return size;
}
