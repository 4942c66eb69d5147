import { describe, expect, it } from 'vitest';
import { ID, MUSIC_INPUT, openGeneration } from '../../../test/generations.ts';
import { FILES, type FileRecord } from '../files/records.ts';
import { MUSIC } from './music.ts';
import type { GenerationRecord } from './records.ts';
import { VIDEO } from './video.ts';
import { toCommonWire, toWireGeneration } from './wire.ts';

const FILE = 'b'.repeat(24);
const DONE = { state: 'succeeded', file: { id: FILE, mimeType: 'video/webm' }, settled: 5_000_000 } as const;

async function show(record: Partial<GenerationRecord>, file?: Partial<FileRecord>) {
  const { own, record: whole, clock } = await openGeneration({ record });
  if (file !== undefined) {
    await own.store.collection(FILES).insert({
      ...{ id: FILE, ownerId: 'ada', name: 'a.webm', mimeType: 'video/webm', size: 5, status: 'clean' },
      ...{ source: 'generated', createdAt: 0, objectKey: 'a/1', ...file },
    });
  }
  const { library, store } = own;
  const link: typeof library.link = async (...given) => library.link(...given);
  const services = { store, library: { ...library, link } };
  const wire = await toWireGeneration(services, VIDEO, whole, '/base');
  return { wire: wire as { output: { url: string | null; expires_at: string | null } | null }, clock };
}

describe('a generation', () => {
  it.each<[Partial<GenerationRecord>, object]>([
    [{ state: 'reserving' }, { state: 'pending', progress: null, credits: { reserved: 8, settled: null } }],
    [
      { state: 'running', progress: 0.5 },
      { progress: 0.5, credits: { reserved: 8, settled: null } },
    ],
    [
      { state: 'storing', progress: 0.5 },
      { progress: 1, credits: { reserved: 8, settled: null } },
    ],
    [
      { state: 'succeeded', settled: 5_000_000 },
      { progress: 1, credits: { reserved: null, settled: 5 } },
    ],
    [{ state: 'cancelled' }, { progress: null, credits: { reserved: null, settled: 0 } }],
    [
      { state: 'failed', error: { code: 'provider_error', message: 'x' }, prices: undefined as never },
      {
        ...{ state: 'failed', error: { code: 'provider_error', message: 'x' } },
        credits: { reserved: null, settled: null },
      },
    ],
  ])('is shown: %j', async (record, wire) => {
    expect((await show(record)).wire).toMatchObject({ output: null, ...wire });
  });

  it('has the fields of its kind', async () => {
    const { record } = await openGeneration({ record: { updatedAt: 7 } });
    const common = toCommonWire(record, null);
    const created = new Date(record.createdAt).toISOString();
    const fields = { created_at: created, updated_at: new Date(7).toISOString(), prompt: 'a boat' };
    expect(VIDEO.toWire(common, record.input)).toMatchObject({
      ...{ id: ID, object: 'video_generation', mode: 'text_to_video', aspect_ratio: '16:9' },
      ...{ resolution: '720p', ...fields },
    });
    expect(MUSIC.toWire(common, MUSIC_INPUT)).toMatchObject({
      ...{ id: ID, object: 'music_generation', instrumental: false, format: 'mp3', ...fields },
    });
  });
});

describe('the result of a generation', () => {
  it('has an address for some time', async () => {
    const { wire, clock } = await show(DONE, {});
    expect(wire.output).toMatchObject({
      ...{ availability: 'ready', content_type: 'video/webm', duration_seconds: 8, file_id: FILE },
      url: expect.stringContaining('/base/') as unknown,
    });
    expect(Date.parse(wire.output?.expires_at ?? '')).toBeGreaterThan(clock.now());
  });

  it.each<[Partial<FileRecord> | undefined, object]>([
    [{ status: 'pending' }, { availability: 'pending_scan', file_id: FILE }],
    [{ status: 'scanning' }, { availability: 'pending_scan', file_id: FILE }],
    [{ status: 'blocked' }, { availability: 'unavailable', file_id: FILE }],
    [{ ownerId: 'bob' }, { availability: 'unavailable', file_id: null }],
    [undefined, { availability: 'unavailable', file_id: null }],
  ])('has no address if its file is %j', async (file, output) => {
    const shown = await show({ ...DONE, resultSeconds: 7.5 }, file);
    const none = { url: null, expires_at: null };
    expect(shown.wire.output).toEqual({
      ...{ content_type: 'video/webm', duration_seconds: 7.5, ...none, ...output },
    });
  });

  it('is not shown before it is charged', async () => {
    expect((await show({ ...DONE, state: 'storing' }, {})).wire.output).toBeNull();
  });
});
