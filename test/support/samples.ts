import { crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

/* Files built byte by byte, each with one property to detect. */

interface ZipFile {
  readonly name: string;
  readonly content: Uint8Array;
  /** The declared size in the directory, if it is wrong. */
  readonly declared?: number;
}

/** A ZIP archive. */
export function encodeZip(files: readonly ZipFile[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, declared = content.length } of files) {
    const packed = deflateRawSync(content);
    const label = Buffer.from(name);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(8, 4);
    about.writeUInt32LE(crc32(content), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(declared, 18);
    about.writeUInt16LE(label.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), about, label, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), about, tail, label]));
    locals.push(local);
    offset += local.length;
  }
  return Buffer.concat([...locals, getEnd(directory, offset, files.length)]);
}

/** An archive whose entries all refer to the same bytes. */
export function overlappingZip(count: number, content: Uint8Array): Buffer {
  const one = encodeZip([{ name: 'a', content }]);
  const start = one.indexOf('PK\x01\x02');
  const entry = one.subarray(start, one.indexOf('PK\x05\x06'));
  const entries = Array.from({ length: count }, () => entry);
  return Buffer.concat([one.subarray(0, start), getEnd(entries, start, count)]);
}

function getEnd(directory: readonly Buffer[], offset: number, count: number): Buffer {
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([entries, end]);
}

/** A complete PNG of one colour. */
export function encodePng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0], 8);
  const row = Buffer.alloc(1 + Math.ceil(width / 8));
  const pixels = width * height > 1_000_000 ? Buffer.alloc(10) : Buffer.concat(Array(height).fill(row));
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, check]);
  };
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  return Buffer.concat([
    start,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

/** The header of a JPEG after a segment of `before` bytes. */
export function encodeJpeg(width: number, height: number, before = 20_000): Buffer {
  const profile = Buffer.alloc(before + 2);
  profile.set([0xff, 0xe1]);
  profile.writeUInt16BE(before, 2);
  const frame = Buffer.alloc(19);
  frame.set([0xff, 0xc2, 0, 17, 8]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), profile, frame, Buffer.from([0xff, 0xd9])]);
}

export function encodeGif(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.write('GIF89a', 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return head;
}

export function encodeWebp(width: number, height: number): Buffer {
  const head = Buffer.alloc(30);
  head.write('RIFF\x16\x00\x00\x00WEBPVP8X', 'latin1');
  head.writeUIntLE(width - 1, 24, 3);
  head.writeUIntLE(height - 1, 27, 3);
  return head;
}

/** Zeros with maximum compression. */
export function gzipBomb(megabytes: number): Buffer {
  return gzipSync(Buffer.alloc(megabytes * 2 ** 20), { level: 9 });
}

export function zipBomb(megabytes: number): Buffer {
  return encodeZip([{ name: 'zeros', content: Buffer.alloc(megabytes * 2 ** 20), declared: 10 }]);
}

/** Split in two, so that virus scanners do not report this source. */
export const EICAR = `X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR${'-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'}`;
