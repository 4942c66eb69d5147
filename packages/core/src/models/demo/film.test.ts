import { describe, expect, test } from 'vitest';
import type { Clock } from '../../ports/clock.ts';
import type { VideoRequest } from '../../ports/media.ts';
import { demoFilms } from './film.ts';

const WISH: VideoRequest = {
  model: 'demo-video',
  prompt: 'A cat plays the piano',
  durationSeconds: 4,
  aspectRatio: '16:9',
  resolution: '360p',
};

const films = demoFilms(undefined);

async function filmOf(more: Partial<VideoRequest> = {}): Promise<Buffer> {
  const id = await films.submit({ ...WISH, ...more }, {});
  const status = await films.poll(id, {});
  if (status.state !== 'done') throw new Error('it is not done');
  const { body, mediaType } = await films.fetch(status.output, {});
  expect(mediaType).toBe('video/mp4');
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The boxes of an MP4 by their paths; every length told must fit. */
function boxesOf(bytes: Buffer, path = '', at = 0): Map<string, { at: number; data: Buffer }> {
  const found = new Map<string, { at: number; data: Buffer }>();
  for (let place = 0; place < bytes.length; ) {
    const size = bytes.readUInt32BE(place);
    expect(size).toBeGreaterThanOrEqual(8);
    expect(place + size).toBeLessThanOrEqual(bytes.length);
    const name = path + bytes.toString('latin1', place + 4, place + 8);
    const data = bytes.subarray(place + 8, place + size);
    found.set(name, { at: at + place + 8, data });
    if (/(?:moov|trak|mdia|minf|stbl)$/.test(name)) {
      for (const [inner, box] of boxesOf(data, `${name}/`, at + place + 8)) found.set(inner, box);
    }
    place += size;
  }
  return found;
}

describe('films of the demo provider', () => {
  test('are MP4 whose index tells the truth', async () => {
    const film = await filmOf();
    const boxes = boxesOf(film);
    const data = (path: string) => boxes.get(path)?.data ?? Buffer.alloc(0);
    const table = 'moov/trak/mdia/minf/stbl/';
    expect(film.toString('latin1', 4, 12)).toBe('ftypisom');
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
      expect(film.readUInt32BE(place)).toBe(size - 4);
      // The head of a frame that stands for itself, and nothing that looks like another head.
      expect(film[place + 4]).toBe(0x65);
      expect(film.subarray(place + 4, place + size).includes(Buffer.from([0, 0, 1]))).toBe(false);
      place += size;
    }
    expect(place).toBe(film.length);
  });

  test('are the same for the same wish, differ otherwise, and are small', async () => {
    const film = await filmOf();
    expect((await filmOf()).equals(film)).toBe(true);
    expect((await filmOf({ prompt: 'A dog' })).equals(film)).toBe(false);
    const image = { mediaType: 'image/png', data: Buffer.from('picture') };
    expect((await filmOf({ image })).equals(film)).toBe(false);
    expect((await filmOf({ durationSeconds: 10, aspectRatio: '1:1' })).length).toBeLessThan(200_000);
  });

  test('take their time where there is a clock, whoever asks', async () => {
    let now = 1_000_000;
    const clock: Clock = { now: () => now, timer: () => () => undefined };
    const id = await demoFilms({ clock, pauseMs: 30 }).submit(WISH, {});
    const later = demoFilms({ clock, pauseMs: 30 });
    expect(await later.poll(id, {})).toEqual({ state: 'running', progress: 0 });
    now += 1500;
    expect(await later.poll(id, {})).toEqual({ state: 'running', progress: 0.5 });
    now += 1500;
    expect(await later.poll(id, {})).toEqual({ state: 'done', output: id, durationSeconds: 4 });
  });

  test('of others are not known', async () => {
    await expect(films.poll('somebody-elses', {})).rejects.toMatchObject({ kind: 'failed' });
    await expect(films.submit({ ...WISH, model: 'demo-image' }, {})).rejects.toMatchObject({
      kind: 'invalid_request',
    });
  });
});
