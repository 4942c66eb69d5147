/*
 * H.264 without a codec: every block contains plain samples (I_PCM), and every frame is independent. Large but
 * simple. @see ITU-T H.264, 7.3
 */

/** The frame size in pixels: even numbers. */
export interface FrameShape {
  readonly width: number;
  readonly height: number;
}

/** Luma and both chromas of a pixel, 16 to 240 each. */
export type Colour = readonly [number, number, number];

/** Bits, most significant first. */
function createBits() {
  let bits = '';
  const unsigned = (value: number): void => {
    const binary = (value + 1).toString(2);
    bits += '0'.repeat(binary.length - 1) + binary;
  };
  return {
    raw(text: string) {
      bits += text;
    },
    /** Writes an unsigned Exp-Golomb code. */
    unsigned,
    /** @param end the bit that ends a unit; without it, zeros up to a whole byte. */
    bytes(end: '' | '1' = ''): Buffer {
      const bytes = (bits + end).match(/.{1,8}/g) ?? [];
      return Buffer.from(bytes.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
    },
  };
}

/** Escapes zeros that would look like a start code. */
function escaped(unit: Buffer): Buffer {
  const out: number[] = [];
  let zeros = 0;
  for (const byte of unit) {
    if (zeros === 2 && byte <= 3) {
      out.push(3);
      zeros = 0;
    }
    out.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(out);
}

const blocks = (pixels: number): number => Math.ceil(pixels / 16);

/** The parameter sets for a decoder: baseline profile, level 3. */
export function parameterSets({ width, height }: FrameShape): { sequence: Buffer; picture: Buffer } {
  const sequence = createBits();
  sequence.raw('01000010' + '11000000' + '00011110');
  for (const value of [0, 0, 2, 0]) sequence.unsigned(value);
  sequence.raw('0');
  sequence.unsigned(blocks(width) - 1);
  sequence.unsigned(blocks(height) - 1);
  sequence.raw('111');
  // Crops the last blocks, in steps of two pixels.
  const cut = [0, (blocks(width) * 16 - width) / 2, 0, (blocks(height) * 16 - height) / 2];
  for (const value of cut) sequence.unsigned(value);
  sequence.raw('0');
  return {
    sequence: Buffer.concat([Buffer.from([0x67]), escaped(sequence.bytes('1'))]),
    picture: Buffer.concat([Buffer.from([0x68]), escaped(pictureBits())]),
  };
}

function pictureBits(): Buffer {
  const bits = createBits();
  bits.unsigned(0);
  bits.unsigned(0);
  bits.raw('00');
  for (const value of [0, 0, 0]) bits.unsigned(value);
  bits.raw('000');
  // Three offsets of zero; the filter between blocks can be switched off.
  for (const value of [0, 0, 0]) bits.unsigned(value);
  bits.raw('100');
  return bits.bytes('1');
}

/** One frame, as the unit that holds it. @param number frames that follow each other differ in it. */
export function encodeFrame(
  { width, height }: FrameShape,
  number: number,
  colourAt: (x: number, y: number) => Colour,
): Buffer {
  const head = createBits();
  for (const value of [0, 7, 0]) head.unsigned(value);
  head.raw('0000');
  head.unsigned(number % 2);
  head.raw('00');
  // No change of quality; no filter.
  head.unsigned(0);
  head.unsigned(1);
  head.unsigned(25);
  const next = createBits();
  next.unsigned(25);
  const parts: Buffer[] = [];
  for (let row = 0; row < blocks(height); row++) {
    for (let column = 0; column < blocks(width); column++) {
      parts.push((row + column === 0 ? head : next).bytes(), getBlock(column * 16, row * 16, colourAt));
    }
  }
  return Buffer.concat([Buffer.from([0x65]), escaped(Buffer.concat([...parts, Buffer.from([0x80])]))]);
}

/** 16 by 16 lumas, then 8 by 8 of each chroma. */
function getBlock(left: number, top: number, colourAt: (x: number, y: number) => Colour): Buffer {
  const block = Buffer.alloc(384);
  for (let place = 0; place < 256; place++) {
    block[place] = colourAt(left + (place % 16), top + (place >> 4))[0];
  }
  for (let place = 0; place < 64; place++) {
    const [, blue, red] = colourAt(left + (place % 8) * 2, top + (place >> 3) * 2);
    block[256 + place] = blue;
    block[320 + place] = red;
  }
  return block;
}
