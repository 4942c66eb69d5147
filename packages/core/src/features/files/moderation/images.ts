import type { FileToCheck } from '../../../ports/moderator.ts';
import type { Inspection } from './verdicts.ts';

/** Decoded, such an image takes 256 MB. No phone camera makes a larger one by default. */
const MAX_PIXELS = 64_000_000;
const HEAD_BYTES = 65_536;
/** Maximum bytes before the size of a JPEG, thumbnails and profiles included. */
const MAX_SEGMENTS = 1000;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Reads the declared size of an image, without decoding. */
export const findHugeImage: Inspection = async (file) => {
  if (!file.mimeType.startsWith('image/') || file.mimeType === 'image/svg+xml') return undefined;
  const head = Buffer.from(await file.read(0, HEAD_BYTES));
  const size = await getSize(file, head);
  if (size === undefined) return undefined;
  const { width, height } = size;
  return width * height > MAX_PIXELS ? `an image of ${width} by ${height} pixels` : undefined;
};

async function getSize(file: FileToCheck, head: Buffer): Promise<Size | undefined> {
  const begins = head.toString('latin1', 0, 12);
  if (begins.startsWith('\x89PNG') && head.length >= 24) {
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  }
  if (begins.startsWith('GIF8') && head.length >= 10) {
    return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
  }
  if (begins.startsWith('\xff\xd8')) return jpegSize(file);
  if (begins.startsWith('RIFF') && begins.endsWith('WEBP')) return webpSize(head);
  if (begins.startsWith('BM') && head.length >= 26) {
    return { width: head.readInt32LE(18), height: Math.abs(head.readInt32LE(22)) };
  }
  if (begins.startsWith('II*\0') || begins.startsWith('MM\0*'))
    return tiffSize(file, begins.startsWith('II'));
  if (begins.slice(4, 8) === 'ftyp') return isoSize(head);
  return undefined;
}

async function jpegSize(file: FileToCheck): Promise<Size | undefined> {
  let at = 2;
  for (let count = 0; count < MAX_SEGMENTS; count += 1) {
    const segment = Buffer.from(await file.read(at, at + 9));
    if (segment.length < 9 || segment[0] !== 0xff) return undefined;
    const marker = segment.readUInt8(1);
    // Fill bytes.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) };
    at += 2 + segment.readUInt16BE(2);
  }
  return undefined;
}

function webpSize(head: Buffer): Size | undefined {
  if (head.length < 30) return undefined;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
  }
}

/** Reads tags 256 and 257 in the first directory of a TIFF. */
async function tiffSize(file: FileToCheck, isLittle: boolean): Promise<Size | undefined> {
  const short = (bytes: Buffer, at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (bytes: Buffer, at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const start = Buffer.from(await file.read(4, 8));
  if (start.length < 4) return undefined;
  const offset = long(start, 0);
  const directory = Buffer.from(await file.read(offset, offset + 2 + 12 * 200));
  let width = 0;
  let height = 0;
  for (let at = 2; at + 12 <= directory.length && at < 2 + 12 * short(directory, 0); at += 12) {
    const value = short(directory, at + 2) === 3 ? short(directory, at + 8) : long(directory, at + 8);
    if (short(directory, at) === 256) width = value;
    if (short(directory, at) === 257) height = value;
  }
  return { width, height };
}

/** Returns the largest size in the header of an AVIF or HEIC: one of the sizes is that of the whole image. */
function isoSize(head: Buffer): Size | undefined {
  let largest: Size | undefined;
  for (let at = head.indexOf('ispe'); at >= 0 && at + 16 <= head.length; at = head.indexOf('ispe', at + 4)) {
    const size = { width: head.readUInt32BE(at + 8), height: head.readUInt32BE(at + 12) };
    if (largest === undefined || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}
