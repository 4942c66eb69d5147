import type { AudioFormat, Media } from '@questline/core/ports';
import { computeHash, splitWords } from './words.ts';

/*
 * Audio without a codec: one beep per word, with a pitch that depends on the word. Includes a minimal MP3 encoder,
 * because MP3 is the default format; a layer III frame with a single frequency line is simple.
 */

const RATE = 24_000;
const BEEP_SECONDS = 0.2;
const MAX_SECONDS = 30;

/** Synthesizes a text. Deterministic. @param seconds default: from the number of words. */
export function beeps(text: string, format: AudioFormat, seconds?: number): Media {
  const words = splitWords(text);
  const length = Math.min(MAX_SECONDS, seconds ?? Math.max(1, words.length) * BEEP_SECONDS);
  const pitches = (words.length === 0 ? [text] : words).map((word) => 200 + (computeHash(word) % 600));
  if (format === 'mp3') return { mediaType: 'audio/mpeg', data: layerThree(pitches, length) };
  const samples = encodeWave(pitches, length);
  return format === 'wav'
    ? { mediaType: 'audio/wav', data: withWaveHead(samples) }
    : { mediaType: 'audio/pcm', data: samples };
}

/** 16 bits, one channel. */
function encodeWave(pitches: readonly number[], seconds: number): Buffer {
  const count = Math.round(seconds * RATE);
  const samples = Buffer.alloc(count * 2);
  for (let place = 0; place < count; place++) {
    const pitch = pitches[Math.floor(place / (BEEP_SECONDS * RATE)) % pitches.length] ?? 440;
    const value = Math.sin((2 * Math.PI * pitch * place) / RATE) * 0x2000;
    samples.writeInt16LE(Math.round(value), place * 2);
  }
  return samples;
}

function withWaveHead(samples: Buffer): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

const FRAME_SAMPLES = 1152;
const FRAME_RATE = 44_100;
/** 64 kbit/s: 144 * 64,000 / 44,100 bytes. */
const FRAME_BYTES = 208;
/** MPEG 1, layer III, no checksum, 64 kbit/s, 44.1 kHz, one channel. */
const FRAME_HEAD = [0xff, 0xfb, 0x50, 0xc4];
const LINE_HERTZ = FRAME_RATE / 2 / 576;

function layerThree(pitches: readonly number[], seconds: number): Buffer {
  const frames = Math.max(1, Math.ceil((seconds * FRAME_RATE) / FRAME_SAMPLES));
  return Buffer.concat(
    Array.from({ length: frames }, (_, number) => {
      const place = Math.floor((number * FRAME_SAMPLES) / FRAME_RATE / BEEP_SECONDS) % pitches.length;
      return getFrame(Math.round((pitches[place] ?? 440) / LINE_HERTZ));
    }),
  );
}

/** A frame that sounds one line of the spectrum, alike in both of its halves. */
function getFrame(line: number): Buffer {
  const pairs = (line >> 1) + 1;
  // Code table 1: a pair of nothing is `1`; one line and nothing is `01` or `001`, and the sign.
  const spectrum = `${'1'.repeat(pairs - 1)}${line % 2 === 0 ? '01' : '001'}0`;
  const half =
    binary(spectrum.length, 12) +
    binary(pairs, 9) +
    // Loudness; no scale factors; a plain window; table 1 everywhere.
    binary(200, 8) +
    binary(0, 4) +
    '0' +
    binary(1, 5).repeat(3) +
    binary(0, 4) +
    binary(0, 3) +
    '000';
  const bits = binary(0, 18) + half.repeat(2) + spectrum.repeat(2);
  const frame = Buffer.alloc(FRAME_BYTES);
  frame.set(FRAME_HEAD);
  for (let place = 0; place < bits.length; place += 8) {
    frame[4 + place / 8] = Number.parseInt(bits.slice(place, place + 8).padEnd(8, '0'), 2);
  }
  return frame;
}

function binary(value: number, length: number): string {
  return value.toString(2).padStart(length, '0');
}
