import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import type { VideoRequest } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { demoCalls } from '../src/calls.ts';
import { createDemoVideos } from '../src/video.ts';

const { image, speech, soundEffect } = demoCalls;
const video = createDemoVideos(undefined);

/** A short name of bytes. */
const digest = (...data: readonly Uint8Array[]): string =>
  createHash('sha256').update(Buffer.concat(data)).digest('hex').slice(0, 16);

const draw = async (more: object): Promise<Buffer> => {
  const { images } = await image({ model: 'demo-image', prompt: 'A cat', count: 1, ...more }, {});
  return Buffer.from(images[0]?.data ?? []);
};

/** The pixels of a PNG: how they are compressed depends on the version of Node. */
function readPixels(png: Buffer): string {
  const length = png.readUInt32BE(33);
  return digest(png.subarray(0, 33), inflateSync(png.subarray(41, 41 + length)), png.subarray(45 + length));
}

describe('bytes of demo media', () => {
  test.each([
    [{}, '2208ab1d9b02b398'],
    [{ seed: 7, size: { width: 300, height: 120 } }, 'f2c8a28c384e3e9b'],
    [{ aspectRatio: '9:16' }, 'd180bc43a27eaa42'],
    [{ size: { width: 64, height: 3000 } }, '30fa64cb57cede61'],
  ])('of a PNG with %j stay the same', async (more, expected) => {
    expect(readPixels(await draw(more))).toBe(expected);
  });

  test.each([
    [{}, 'd433c4ecc142ec1c'],
    [{ seed: 7, size: { width: 65, height: 33 } }, '04000843aede2439'],
  ])('of a JPEG with %j stay the same', async (more, expected) => {
    expect(digest(await draw({ ...more, outputFormat: 'jpeg' }))).toBe(expected);
  });

  test.each([
    ['mp3', 'One two, three!', '66a43a80d74044f8'],
    ['mp3', '?', '627d7b63ff2a937e'],
    ['wav', 'One two, three!', '91b138206370d616'],
    ['pcm', 'eins zwei', 'f57d59c7227366f1'],
    ['wav', '', '1d3094d1d379dfdb'],
  ] as const)('of %s for %j stay the same', async (format, text, expected) => {
    const { data } = await speech({ model: 'demo-speech', text, format }, {});
    expect(digest(data)).toBe(expected);
  });

  test('of a sound have the time that is asked for, up to 30 seconds', async () => {
    const size = async (durationSeconds: number) => {
      const request = { model: 'demo-sound-effect', text: 'a', format: 'pcm', durationSeconds } as const;
      return (await soundEffect(request, {})).data.length / 48_000;
    };
    expect([await size(1.5), await size(30), await size(31)]).toEqual([1.5, 30, 30]);
  });

  test.each<[Partial<VideoRequest>, string]>([
    [{}, 'fbb69393c68afeb2'],
    [{ durationSeconds: 1, aspectRatio: '9:16' }, '57a8da97bd6cce3b'],
    [
      { durationSeconds: 30, image: { mediaType: 'image/png', data: Buffer.from('picture') } },
      '2e21242a42175407',
    ],
  ])('of a video stay the same: %#', async (more, expected) => {
    const request: VideoRequest = {
      model: 'demo-video',
      prompt: 'A cat',
      durationSeconds: 4,
      aspectRatio: '16:9',
      resolution: '360p',
      ...more,
    };
    const id = await video.submit(request, {});
    const { body } = await video.fetch(id, {});
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    expect(digest(...pieces)).toBe(expected);
  });
});
