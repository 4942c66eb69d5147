import { type FrameShape, parameterSets } from './frames.ts';

const u8 = (...values: number[]): Buffer => Buffer.from(values);
const u16 = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(values.length * 2);
  values.forEach((value, place) => void buffer.writeUInt16BE(value, place * 2));
  return buffer;
};
const u32 = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(values.length * 4);
  values.forEach((value, place) => void buffer.writeUInt32BE(value, place * 4));
  return buffer;
};

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...parts]);
}

/** The identity matrix. */
const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
const MILLISECONDS = 1000;

/** Encodes a video as an MP4 of H.264 with a constant frame rate. @param frames units of `encodeFrame`. */
export function encodeMp4(shape: FrameShape, frames: readonly Buffer[], seconds: number): Buffer {
  const samples = frames.map((frame) => Buffer.concat([u32(frame.length), frame]));
  const type = box(
    'ftyp',
    Buffer.from('isom', 'latin1'),
    u32(0x200),
    Buffer.from('isomiso2avc1mp41', 'latin1'),
  );
  // The offset of the frames depends only on the length of the index.
  const index = indexOf(shape, samples, seconds, 0);
  const begin = type.length + index.length + 8;
  return Buffer.concat([type, indexOf(shape, samples, seconds, begin), box('mdat', ...samples)]);
}

function indexOf(shape: FrameShape, samples: readonly Buffer[], seconds: number, begin: number): Buffer {
  const { width, height } = shape;
  const duration = Math.round(seconds * MILLISECONDS);
  const each = Math.max(1, Math.floor(duration / samples.length));
  const last = duration - each * (samples.length - 1);
  const { sequence, picture } = parameterSets(shape);
  const decoder = box(
    'avcC',
    u8(1, 0x42, 0xc0, 0x1e, 0xff, 0xe1),
    u16(sequence.length),
    sequence,
    u8(1),
    u16(picture.length),
    picture,
  );
  const entry = box(
    'avc1',
    u8(0, 0, 0, 0, 0, 0, 0, 1),
    Buffer.alloc(16),
    u16(width, height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(0x18, 0xffff),
    decoder,
  );
  const table = box(
    'stbl',
    box('stsd', u32(0, 1), entry),
    box('stts', u32(0, 2, samples.length - 1, each, 1, last)),
    box('stsc', u32(0, 1, 1, samples.length, 1)),
    box('stsz', u32(0, 0, samples.length, ...samples.map(({ length }) => length))),
    box('stco', u32(0, 1, begin)),
  );
  const media = box(
    'mdia',
    box('mdhd', u32(0, 0, 0, MILLISECONDS, duration), u16(0x55c4, 0)),
    box('hdlr', u32(0, 0), Buffer.from('vide', 'latin1'), u32(0, 0, 0), u8(0)),
    box('minf', box('vmhd', u32(1, 0, 0)), box('dinf', box('dref', u32(0, 1), box('url ', u32(1)))), table),
  );
  const track = box(
    'trak',
    box(
      'tkhd',
      u32(3, 0, 0, 1, 0, duration, 0, 0),
      u16(0, 0, 0, 0),
      MATRIX,
      u32(width * 0x10000, height * 0x10000),
    ),
    media,
  );
  const head = box(
    'mvhd',
    u32(0, 0, 0, MILLISECONDS, duration, 0x10000),
    u16(0x100, 0),
    u32(0, 0),
    MATRIX,
    Buffer.alloc(24),
    u32(2),
  );
  return box('moov', head, track);
}
