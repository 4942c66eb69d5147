import { crc32, inflateSync } from 'node:zlib';
import { createDemoProvider } from '@questline/core';
import { describe, expect, test } from 'vitest';
import { demoCalls } from '../src/calls.ts';
import { createDemoMedia } from '../src/index.ts';

async function draw(more: object = {}): Promise<Buffer[]> {
  const { images } = await demoCalls.image({ model: 'demo-image', prompt: 'A cat', count: 1, ...more }, {});
  return images.map(({ data }) => Buffer.from(data));
}

/** Width, height and the pixels of a PNG, every checksum verified. */
function read(png: Buffer): { width: number; height: number; pixels: Buffer } {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const named = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(named));
    chunks.set(named.toString('latin1', 0, 4), named.subarray(4));
    at += length + 12;
  }
  const head = chunks.get('IHDR') ?? Buffer.alloc(8);
  const pixels = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
  return { width: head.readUInt32BE(0), height: head.readUInt32BE(4), pixels };
}

describe('images of the demo provider', () => {
  test('are PNG of the requested size', async () => {
    const [picture = Buffer.alloc(0)] = await draw({ size: { width: 512, height: 256 } });
    const { width, height, pixels } = read(picture);
    expect([width, height, pixels.length]).toEqual([256, 128, 128 * (1 + 256 * 3)]);
    const [wide = Buffer.alloc(0)] = await draw({ aspectRatio: '2:1' });
    expect(read(wide)).toMatchObject({ width: 256, height: 128 });
  });

  test('are equal for equal requests, and differ otherwise', async () => {
    const [first, second] = await draw({ count: 2 });
    expect(await draw({ count: 2 })).toEqual([first, second]);
    expect(second).not.toEqual(first);
    expect(await draw({ seed: 1 })).toEqual([second]);
  });
});

describe('format of demo images', () => {
  const inFormat = (outputFormat: 'png' | 'jpeg' | 'webp') =>
    demoCalls.image(
      { model: 'demo-image', prompt: 'A cat', count: 1, size: { width: 512, height: 200 }, outputFormat },
      {},
    );

  test('is JPEG on request, with a frame of the size and one scan of entropy-coded blocks', async () => {
    const [image] = (await inFormat('jpeg')).images;
    const jpeg = Buffer.from(image?.data ?? []);
    expect(image?.mediaType).toBe('image/jpeg');
    const markers: string[] = [];
    let at = 2;
    while (jpeg[at + 1] !== 0xda) {
      markers.push((jpeg[at + 1] ?? 0).toString(16));
      if (jpeg[at + 1] === 0xc0) {
        expect([jpeg.readUInt16BE(at + 5), jpeg.readUInt16BE(at + 7)]).toEqual([100, 256]);
      }
      at += 2 + jpeg.readUInt16BE(at + 2);
    }
    expect(markers).toEqual(['e0', 'db', 'c0', 'c4', 'c4']);
    const scan = jpeg.subarray(at + 2 + jpeg.readUInt16BE(at + 2), -2);
    for (let place = scan.indexOf(0xff); place >= 0; place = scan.indexOf(0xff, place + 1)) {
      expect(scan[place + 1]).toBe(0);
    }
    expect([...jpeg.subarray(-2)]).toEqual([0xff, 0xd9]);
  });

  test('is PNG by default, and always the requested one', async () => {
    expect((await inFormat('png')).images[0]?.mediaType).toBe('image/png');
    await expect(inFormat('webp')).rejects.toMatchObject({ kind: 'invalid_request' });
  });
});

describe('audio of the demo provider', () => {
  const say = async (format: 'mp3' | 'wav' | 'pcm', text = 'one two three') =>
    demoCalls.speech({ model: 'demo-speech', text, format }, {});

  test('are MP3 of complete frames', async () => {
    const { data, mediaType } = await say('mp3');
    expect(mediaType).toBe('audio/mpeg');
    const frames = data.length / 208;
    // Three beeps of 0.2 s, 1152 samples per frame.
    expect(frames).toBe(Math.ceil((0.6 * 44_100) / 1152));
    for (let at = 0; at < data.length; at += 208) {
      expect([...data.subarray(at, at + 3)]).toEqual([0xff, 0xfb, 0x50]);
    }
    expect((await say('mp3')).data).toEqual(data);
    expect((await say('mp3', 'four five six')).data).not.toEqual(data);
  });

  test('are WAV with a consistent header', async () => {
    const wave = Buffer.from((await say('wav')).data);
    const plain = (await say('pcm')).data;
    expect(wave.toString('latin1', 0, 4) + wave.toString('latin1', 8, 12)).toBe('RIFFWAVE');
    expect(wave.readUInt32LE(4)).toBe(wave.length - 8);
    expect(wave.readUInt32LE(40)).toBe(plain.length);
    expect(plain.length).toBe(0.6 * 24_000 * 2);
  });

  test('are as long as asked for', async () => {
    const request = { model: 'demo-music', prompt: 'a tune', lengthMs: 4000, format: 'pcm' } as const;
    expect((await demoCalls.music(request, {})).data.length).toBe(4 * 24_000 * 2);
    const effect = { model: 'demo-sound-effect', text: 'bang', durationSeconds: 1.5, format: 'pcm' } as const;
    expect((await demoCalls.soundEffect(effect, {})).data.length).toBe(1.5 * 24_000 * 2);
    const short = { ...effect, durationSeconds: 0.01, format: 'mp3' } as const;
    expect((await demoCalls.soundEffect(short, {})).data.length).toBe(208);
  });
});

test('transcribes a recording by its size', async () => {
  const audio = { mediaType: 'audio/wav', data: new Uint8Array(7) };
  expect(await demoCalls.transcribe({ model: 'demo-transcription', audio }, {})).toEqual({
    text: 'A recording of type audio/wav with 7 bytes.',
  });
});

test('rejects a model of another kind', async () => {
  const request = { model: 'demo-image', text: 'Hi', format: 'mp3' } as const;
  await expect(demoCalls.speech(request, {})).rejects.toMatchObject({ kind: 'invalid_request' });
});

test('offers media models with clear names and prices', () => {
  const provider = createDemoProvider({ media: createDemoMedia() });
  const models = provider.models().filter(({ type }) => type !== 'text' && type !== 'embedding');
  expect(models.map(({ id }) => id)).toEqual([
    'demo-image',
    'demo-speech',
    'demo-sound-effect',
    'demo-music',
    'demo-video',
    'demo-transcription',
  ]);
  expect(models.every(({ prices, provider }) => prices !== undefined && provider === 'demo')).toBe(true);
});
