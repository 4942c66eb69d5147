import { describe, expect, it } from 'vitest';
import {
  FREE,
  MUSIC_INPUT,
  MUSIC_MODEL,
  openGeneration,
  VIDEO_INPUT,
  VIDEO_MODEL,
} from '../../../test/generations.ts';
import { FILES, type FileRecord } from '../files/records.ts';
import { acceptGeneration } from './accept.ts';
import { MUSIC } from './music.ts';
import { VIDEO } from './video.ts';

const DAY_MS = 24 * 3_600_000;
const IMAGE = 'b'.repeat(24);
const CALL = { caller: { kind: 'token', userId: 'ada', isAdmin: false }, requestId: 'r-2' } as never;

async function open(
  options: Parameters<typeof openGeneration>[0] & { readonly entry?: object; readonly admin?: object } = {},
) {
  const { entry, admin, ...more } = options;
  const opened = await openGeneration({
    ...more,
    change: (own) => ({
      ...more.change?.(own),
      adminSettings: {
        ...own.adminSettings,
        current: async () => ({ ...(await own.adminSettings.current()), ...admin }),
      },
      async getCatalogue(caller) {
        const catalogue = await own.getCatalogue(caller);
        const find = (id: string) => {
          const found = catalogue.find(id);
          return found && ({ ...found, ...entry } as typeof found);
        };
        return { ...catalogue, find };
      },
    }),
  });
  const accept = (body: object = {}) =>
    acceptGeneration(opened.services, VIDEO, { model: 'director', prompt: 'a boat', ...body } as never, CALL);
  const addFile = (file: Partial<FileRecord> = {}) =>
    opened.own.store.collection(FILES).insert({
      ...{ id: IMAGE, ownerId: 'ada', name: 'a.png', mimeType: 'image/png', size: 5, status: 'clean' },
      ...{ source: 'upload', createdAt: 0, objectKey: 'a/1', ...file },
    });
  return { ...opened, accept, addFile };
}

describe('a request for a video', () => {
  it('is stored without credit for a day, and answered as pending', async () => {
    const { clock, accept, own, generations, money } = await open({ isHeld: false });
    const { answer, write } = await accept();
    await write(own.store);
    const { prices, ...record } = (await generations.get(answer.id)) ?? {};
    const now = clock.now();
    expect(prices?.second).toBe(1_000_000);
    expect(record).toStrictEqual({
      ...{ id: answer.id, kind: 'video', ownerId: 'ada', state: 'reserving', source: 'api' },
      ...{ model: 'director', input: VIDEO_INPUT, provider: 'videos', providerModel: 'director' },
      payer: expect.objectContaining({ account: 'user:ada', userId: 'ada' }) as unknown,
      ...{ requestId: 'r-2', reserved: 8_000_000, nextCheckAt: now + DAY_MS, createdAt: now, updatedAt: now },
    });
    const created = new Date(now).toISOString();
    expect(answer).toStrictEqual({
      ...{ id: answer.id, object: 'video_generation', state: 'pending', model: 'director' },
      ...{ mode: 'text_to_video', prompt: 'a boat', duration_seconds: 8, aspect_ratio: '16:9' },
      ...{ resolution: '720p', source: 'api', progress: null, error: null, output: null },
      ...{ credits: { reserved: 8, settled: null }, created_at: created, updated_at: created },
    });
    expect(await money()).toEqual(FREE);
  });

  it('is stored once', async () => {
    const { accept, own, generations } = await open();
    const { write, answer } = await accept();
    await write(own.store);
    await expect(write(own.store)).rejects.toThrow('duplicate quest id');
    expect(await generations.count({ id: answer.id })).toBe(1);
  });

  it.each([
    ['a model with prices', {}, { credits: { reserved: null, settled: null } }],
    ['a model without prices', { prices: undefined }, { credits: { reserved: null, settled: null } }],
  ])('reserves nothing without metering: %s', async (_, entry, wire) => {
    const { accept, own, generations } = await open({ entry, admin: { enforceCredits: false } });
    const { answer, write } = await accept();
    await write(own.store);
    expect(answer).toMatchObject(wire);
    const record = await generations.get(answer.id);
    expect([record?.reserved, record?.prices]).toEqual([0, undefined]);
  });

  it('needs a price with metering', async () => {
    const { accept } = await open({ entry: { prices: undefined } });
    await expect(accept()).rejects.toMatchObject({ status: 422, code: 'model_unavailable' });
    await expect(accept()).rejects.toThrow('has no price');
  });

  it('notes that the key is that of its owner', async () => {
    const { accept, own, generations } = await open({ entry: { ownKey: true } });
    const { answer, write } = await accept();
    await write(own.store);
    expect((await generations.get(answer.id))?.ownKey).toBe(true);
  });

  it('is refused for a model of another kind, or one that is unknown, disabled or retired', async () => {
    const retired = { ...VIDEO_MODEL, id: 'old', deprecationDate: '2020-01-01' };
    const { accept, services } = await open({ models: [VIDEO_MODEL, MUSIC_MODEL, retired] });
    for (const model of ['composer', 'other']) {
      await expect(accept({ model })).rejects.toMatchObject({ status: 422, code: 'model_unavailable' });
      await expect(accept({ model })).rejects.toThrow(`unknown video model '${model}'`);
    }
    await expect(accept({ model: 'old' })).rejects.toMatchObject({ status: 422, code: 'model_unavailable' });
    await expect(accept({ model: 'old' })).rejects.toThrow('was retired on 2020-01-01');
    const getCatalogue = async () => ({
      ...(await services.getCatalogue({ userId: 'ada' })),
      find: () => undefined,
      isDisabled: (id: string) => id === 'director',
    });
    const body = { model: 'director', prompt: 'a boat' } as never;
    const disabled = acceptGeneration({ ...services, getCatalogue }, VIDEO, body, CALL);
    await expect(disabled).rejects.toMatchObject({ status: 422, code: 'model_disabled' });
  });
});

describe('the image of a request', () => {
  it('is a clean image of the caller', async () => {
    const { accept, addFile } = await open();
    await addFile();
    const { answer } = await accept({ input_image_file_id: IMAGE });
    expect(answer).toMatchObject({ mode: 'image_to_video' });
  });

  it.each<[string, Partial<FileRecord>, string]>([
    ['is being checked', { status: 'pending' }, 'in moderation or blocked'],
    ['is no image', { mimeType: 'text/plain' }, 'not an image'],
  ])('is refused if it %s', async (_, file, message) => {
    const { accept, addFile } = await open();
    await addFile(file);
    const refused = accept({ input_image_file_id: IMAGE });
    await expect(refused).rejects.toMatchObject({ status: 422, code: 'unsupported_input' });
    await expect(refused).rejects.toThrow(message);
  });

  it.each([IMAGE, 'no id'])('is not found: %s', async (id) => {
    const asked: unknown[] = [];
    const { accept, addFile } = await open({
      change: ({ files }) => ({
        files: {
          ...files,
          find(userId, fileId) {
            asked.push(fileId);
            return files.find(userId, fileId);
          },
        },
      }),
    });
    await addFile({ ownerId: 'bob' });
    const refused = accept({ input_image_file_id: id });
    await expect(refused).rejects.toMatchObject({ status: 404, code: 'input_image_not_found' });
    expect(asked).toEqual(id === IMAGE ? [IMAGE] : []);
  });
});

it('accepts music, which has no image', async () => {
  const { services, own, generations } = await open();
  const body = { model: 'composer', prompt: 'a waltz', duration_seconds: 8 } as never;
  const { answer, write } = await acceptGeneration(services, MUSIC, body, CALL);
  await write(own.store);
  expect(answer).toMatchObject({
    ...{ object: 'music_generation', instrumental: false, format: 'mp3', credits: { reserved: 8 } },
  });
  expect(await generations.get(answer.id)).toMatchObject({ kind: 'music', input: MUSIC_INPUT });
});
