import { setImmediate as turn } from 'node:timers/promises';
import { toFetchHandler } from '@questline/core';
import { TRANSCRIPTION_UPLOADS } from '@questline/core/internal';
import { createMemoryObjects, createMemoryQueue } from '@questline/core/memory';
import { type ObjectStore, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createSoundStudio } from '../support/media.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const RECORDING = Buffer.from('recorded');
const MAX_BYTES = 26_214_400;
const FORM_BYTES = 65_536;

/** More turns than anything else of a request takes. */
async function wait(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await turn();
}

async function setUp(changed: Partial<ObjectStore> = {}, options: TestAppOptions = {}) {
  const objects = createMemoryObjects();
  const studio = createSoundStudio();
  const app = await createTestApp({
    models: [studio],
    key: { scopes: ['ai:generate'] },
    objects: { ...objects, ...changed },
    ...options,
  });
  const announce = () =>
    app.ask('POST', '/api/v1/transcriptions/uploads', {
      body: { mime_type: 'audio/ogg', file_size: RECORDING.length },
    });
  /** @returns the key of the stored recording. */
  const upload = async (contentType = 'audio/ogg'): Promise<string> => {
    const { file_key } = (await (await announce()).json()) as { file_key: string };
    await objects.put(`transcriptions/${file_key}`, RECORDING, { contentType });
    return file_key;
  };
  return {
    ...{ app, objects, studio, announce, upload },
    transcribe: (file_key: string, signal?: AbortSignal) =>
      app.ask('POST', '/api/v1/transcriptions', { body: { file_key }, ...(signal && { signal }) }),
    isStored: async (key: string) => (await objects.head(`transcriptions/${key}`)) !== undefined,
    isKnown: async (key: string) =>
      (await app.services.store.collection(TRANSCRIPTION_UPLOADS).get(key)) !== undefined,
    getSpent: async () => 1000_000_000 - (await app.ledger.balance(app.account)).available,
  };
}

const fail = () => Promise.reject(new Error('down'));

describe('announcement of a recording', () => {
  it.each<[string, TestAppOptions]>([
    ['job', { ports: (given) => ({ queue: { ...createMemoryQueue(given), enqueue: fail } }) }],
    [
      'record',
      {
        store(store) {
          const collection: typeof store.collection = (shape) => {
            const own = store.collection(shape);
            return shape.name === TRANSCRIPTION_UPLOADS.name ? { ...own, insert: fail } : own;
          };
          return { ...store, collection };
        },
      },
    ],
  ])('fails if its %s cannot be stored', async (_name, options) => {
    const { announce } = await setUp({}, options);
    expect((await announce()).status).toBe(500);
  });
});

describe('recording that is transcribed', () => {
  it('is kept while the service stops', async () => {
    const { app, upload, transcribe, isKnown, isStored } = await setUp();
    const key = await upload();
    app.services.admissionControl.close();
    expect((await transcribe(key)).status).toBe(503);
    expect([await isKnown(key), await isStored(key)]).toEqual([true, true]);
    app.services.admissionControl.open();
    expect((await transcribe(key)).status).toBe(200);
  });

  it('is deleted before the answer, also when the provider fails', async () => {
    const own = createMemoryObjects();
    let removed = 0;
    const remove: ObjectStore['remove'] = async (key) => {
      await wait();
      removed += 1;
      return own.remove(key);
    };
    const { upload, transcribe, studio } = await setUp({ remove });
    expect((await transcribe(await upload())).status).toBe(200);
    expect(removed).toBe(1);
    studio.transcribe = () => Promise.reject(new ProviderError('content_blocked', 'x'));
    expect((await transcribe(await upload())).status).toBe(422);
    expect(removed).toBe(2);
  });

  it('is answered though it cannot be deleted, and is deleted later', async () => {
    const own = createMemoryObjects();
    const error = new Error('down');
    let isDown = true;
    const removed: string[] = [];
    const { app, upload, transcribe } = await setUp({
      async remove(key) {
        if (isDown) throw error;
        removed.push(key);
        return own.remove(key);
      },
    });
    await app.api.start();
    const key = await upload();
    const answer = await transcribe(key);
    expect([answer.status, await answer.json()]).toEqual([200, { text: 'Hello.' }]);
    expect(app.incidents).toEqual([
      { operation: 'createTranscription', requestId: answer.headers.get('X-Request-ID'), error },
    ]);
    isDown = false;
    await app.clock.advance(21 * 60_000);
    await app.settle();
    expect(removed).toEqual([`transcriptions/${key}`]);
  });

  it('is no longer read once the caller leaves', async () => {
    const leaving = new AbortController();
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { upload, transcribe, isStored, studio } = await setUp({
      get: (_key, _range, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
          begin();
        }),
    });
    const key = await upload();
    const answer = transcribe(key, leaving.signal);
    await begun;
    leaving.abort();
    await answer;
    expect([studio.recordings, await isStored(key)]).toEqual([[], false]);
  });

  it('is not read, but closed and deleted, if its type differs from the announced one', async () => {
    let isClosed = false;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('read')),
        async return() {
          await wait();
          isClosed = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const content = { size: RECORDING.length, contentType: 'audio/mpeg', body };
    const { upload, transcribe, isStored, studio } = await setUp({ get: async () => content as never });
    const key = await upload('audio/mpeg');
    const answer = await transcribe(key);
    expect([answer.status, await answer.json()]).toMatchObject([
      ...[422, { error: 'file_key: the upload differs from its announced size or type' }],
    ]);
    expect([isClosed, studio.recordings, await isStored(key)]).toEqual([true, [], false]);
  });
});

describe('recording in a form', () => {
  const FORM = [
    '--xyz',
    'Content-Disposition: form-data; name="file"; filename="a"',
    'Content-Type: audio/ogg',
    '',
    'recorded',
    '--xyz--',
    '',
  ].join('\r\n');

  async function ask({ app }: Awaited<ReturnType<typeof setUp>>, length?: number) {
    const answer = await toFetchHandler(app.api)(
      new Request('http://questline.test/api/ai/transcribe', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${await app.token()}`,
          'Content-Type': 'multipart/form-data; boundary=xyz',
          ...(length !== undefined && { 'Content-Length': String(length) }),
        },
        body: FORM,
      }),
    );
    return answer?.status;
  }

  it('may have 64 KiB of other parts, and no declared length', async () => {
    const set = await setUp();
    expect(await ask(set, MAX_BYTES + FORM_BYTES)).toBe(200);
    expect(await ask(set, MAX_BYTES + FORM_BYTES + 1)).toBe(413);
    expect(await ask(set)).toBe(200);
    expect(set.studio.recordings).toHaveLength(2);
  });

  it('is refused while the service stops', async () => {
    const set = await setUp();
    set.app.services.admissionControl.close();
    expect(await ask(set)).toBe(503);
    expect([set.studio.recordings, await set.getSpent()]).toEqual([[], 0]);
  });
});
