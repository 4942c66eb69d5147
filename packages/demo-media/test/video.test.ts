import type { Clock, VideoRequest } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { createDemoVideos } from '../src/video.ts';

const REQUEST: VideoRequest = {
  model: 'demo-video',
  prompt: 'A cat plays the piano',
  durationSeconds: 4,
  aspectRatio: '16:9',
  resolution: '360p',
};

const videos = createDemoVideos(undefined);

async function getVideo(more: Partial<VideoRequest> = {}): Promise<Buffer> {
  const id = await videos.submit({ ...REQUEST, ...more }, {});
  const status = await videos.poll(id, {});
  if (status.state !== 'done') throw new Error('the video is not done');
  const { body, mediaType } = await videos.fetch(status.output, {});
  expect(mediaType).toBe('video/mp4');
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The boxes of an MP4 by path; checks every declared length. */
function getBoxes(bytes: Buffer, path = '', at = 0): Map<string, { at: number; data: Buffer }> {
  const found = new Map<string, { at: number; data: Buffer }>();
  for (let place = 0; place < bytes.length; ) {
    const size = bytes.readUInt32BE(place);
    expect(size).toBeGreaterThanOrEqual(8);
    expect(place + size).toBeLessThanOrEqual(bytes.length);
    const name = path + bytes.toString('latin1', place + 4, place + 8);
    const data = bytes.subarray(place + 8, place + size);
    found.set(name, { at: at + place + 8, data });
    if (/(?:moov|trak|mdia|minf|stbl)$/.test(name)) {
      for (const [inner, box] of getBoxes(data, `${name}/`, at + place + 8)) found.set(inner, box);
    }
    place += size;
  }
  return found;
}

describe('videos of the demo provider', () => {
  test('are MP4 with a consistent index', async () => {
    const video = await getVideo();
    const boxes = getBoxes(video);
    const data = (path: string) => boxes.get(path)?.data ?? Buffer.alloc(0);
    const table = 'moov/trak/mdia/minf/stbl/';
    expect(video.toString('latin1', 4, 12)).toBe('ftypisom');
    expect(data('moov/mvhd').readUInt32BE(12)).toBe(1000);
    expect(data('moov/mvhd').readUInt32BE(16)).toBe(4000);
    expect([data('moov/trak/tkhd').readUInt16BE(76), data('moov/trak/tkhd').readUInt16BE(80)]).toEqual([
      64, 36,
    ]);

    const sizes = data(`${table}stsz`);
    const count = sizes.readUInt32BE(8);
    expect(count).toBe(8);
    const times = data(`${table}stts`);
    expect(times.readUInt32BE(8) + times.readUInt32BE(16)).toBe(count);
    expect(times.readUInt32BE(8) * times.readUInt32BE(12) + times.readUInt32BE(20)).toBe(4000);
    let place = data(`${table}stco`).readUInt32BE(8);
    expect(place).toBe(boxes.get('mdat')?.at);
    for (let number = 0; number < count; number += 1) {
      const size = sizes.readUInt32BE(12 + number * 4);
      expect(video.readUInt32BE(place)).toBe(size - 4);
      // The header of a key frame, and no other sequence that looks like a header.
      expect(video[place + 4]).toBe(0x65);
      expect(video.subarray(place + 4, place + size).includes(Buffer.from([0, 0, 1]))).toBe(false);
      place += size;
    }
    expect(place).toBe(video.length);
  });

  test('are deterministic per request, and small', async () => {
    const video = await getVideo();
    expect((await getVideo()).equals(video)).toBe(true);
    expect((await getVideo({ prompt: 'A dog' })).equals(video)).toBe(false);
    const image = { mediaType: 'image/png', data: Buffer.from('picture') };
    expect((await getVideo({ image })).equals(video)).toBe(false);
    expect((await getVideo({ durationSeconds: 10, aspectRatio: '1:1' })).length).toBeLessThan(200_000);
  });

  test.each([
    ['100:1', 64, 2],
    ['1:100', 2, 64],
    ['1', 64, 64],
  ])('have even sides for %s', async (aspectRatio, width, height) => {
    const head = getBoxes(await getVideo({ aspectRatio, durationSeconds: 1 })).get('moov/trak/tkhd')?.data;
    expect([head?.readUInt16BE(76), head?.readUInt16BE(80)]).toEqual([width, height]);
  });

  test('take time if there is a clock, independent of the caller', async () => {
    let now = 1_000_000;
    const clock: Clock = { now: () => now, timer: () => () => undefined };
    const id = await createDemoVideos({ clock, pauseMs: 30 }).submit(REQUEST, {});
    const later = createDemoVideos({ clock, pauseMs: 30 });
    expect(await later.poll(id, {})).toEqual({ state: 'running', progress: 0 });
    now += 1500;
    expect(await later.poll(id, {})).toEqual({ state: 'running', progress: 0.5 });
    now += 1500;
    expect(await later.poll(id, {})).toEqual({ state: 'done', output: id, durationSeconds: 4 });
  });

  test('of other providers are unknown', async () => {
    await expect(videos.poll('unknown-id', {})).rejects.toMatchObject({ kind: 'failed' });
    await expect(videos.submit({ ...REQUEST, model: 'demo-image' }, {})).rejects.toMatchObject({
      kind: 'invalid_request',
    });
  });
});
