/** Side of a block, in pixels. A block has one colour: all coefficients but the first are 0. */
const BLOCK = 8;
/** First coefficient of a block of one value: 8 times the value. Divided by 8, it is the value. */
const QUANTUM = 8;

/** Lengths of the codes for the sizes 0 to 11 of a difference (ITU-T T.81, table K.3), and the codes. */
const SIZE_COUNTS = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
const SIZE_CODES = [
  '00',
  '010',
  '011',
  '100',
  '101',
  '110',
  '1110',
  '11110',
  '111110',
  '1111110',
  '11111110',
  '111111110',
];
/** The only code of the other coefficients: the end of the block. */
const END_OF_BLOCK = '0';

/**
 * Encodes a baseline JPEG of blocks of one colour, for gradients (ITU-T T.81).
 * @param colourAt the red, green and blue of the pixel in the middle of a block, 0 to 255.
 */
export function encodeJpeg(
  width: number,
  height: number,
  colourAt: (column: number, row: number) => readonly [number, number, number],
): Uint8Array {
  const bits: string[] = [];
  const before = [0, 0, 0];
  for (let row = 0; row < height; row += BLOCK) {
    for (let column = 0; column < width; column += BLOCK) {
      const middle = colourAt(Math.min(column + BLOCK / 2, width - 1), Math.min(row + BLOCK / 2, height - 1));
      for (const [place, value] of toYCbCr(middle).entries()) {
        bits.push(encodeDifference(value - (before[place] ?? 0)), END_OF_BLOCK);
        before[place] = value;
      }
    }
  }
  const size = [height >> 8, height & 0xff, width >> 8, width & 0xff];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, [...Buffer.from('JFIF\0', 'latin1'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...Array<number>(64).fill(QUANTUM)]),
    segment(0xc0, [8, ...size, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]),
    segment(0xc4, [0x00, ...SIZE_COUNTS, ...SIZE_CODES.keys()]),
    segment(0xc4, [0x10, 1, ...Array<number>(15).fill(0), 0]),
    segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]),
    toBytes(bits.join('')),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/** Brightness and two colour differences, each from -128 to 127. */
function toYCbCr([red, green, blue]: readonly [number, number, number]): number[] {
  const values = [
    0.299 * red + 0.587 * green + 0.114 * blue - 128,
    -0.1687 * red - 0.3313 * green + 0.5 * blue,
    0.5 * red - 0.4187 * green - 0.0813 * blue,
  ];
  return values.map((value) => Math.min(127, Math.round(value)));
}

function encodeDifference(difference: number): string {
  const size = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
  const code = SIZE_CODES[size] ?? '';
  if (size === 0) return code;
  const value = difference > 0 ? difference : difference + 2 ** size - 1;
  return code + value.toString(2).padStart(size, '0');
}

/** Its content is shorter than 254 bytes. */
function segment(marker: number, content: readonly number[]): Buffer {
  return Buffer.from([0xff, marker, 0, content.length + 2, ...content]);
}

/** The last byte is filled with ones, and a byte of ones is followed by a zero: otherwise it would begin a marker. */
function toBytes(bits: string): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    const byte = Number.parseInt(bits.slice(at, at + 8).padEnd(8, '1'), 2);
    bytes.push(byte);
    if (byte === 0xff) bytes.push(0);
  }
  return Buffer.from(bytes);
}
