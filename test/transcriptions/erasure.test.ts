import { TRANSCRIPTION_UPLOADS } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import { forgetUser } from '@questline/core/personal-data';
import { expect, it } from 'vitest';
import { createSoundStudio } from '../support/media.ts';
import { createTestApp } from '../support/test-app.ts';

const RECORDING = Buffer.from('recorded');

async function setUp() {
  const objects = createMemoryObjects();
  let failures = 0;
  const app = await createTestApp({
    models: [createSoundStudio()],
    key: { scopes: ['ai:generate'] },
    objects: {
      ...objects,
      async remove(key) {
        if (failures > 0) {
          failures -= 1;
          throw new Error('the object store is down');
        }
        return objects.remove(key);
      },
    },
  });
  /** Announces a recording of the user and stores it. @returns its key in the object store. */
  const record = async (credential: string): Promise<string> => {
    const answer = await app.ask('POST', '/api/v1/transcriptions/uploads', {
      body: { mime_type: 'audio/ogg', file_size: RECORDING.length },
      credential,
    });
    expect(answer.status).toBe(201);
    const { file_key } = (await answer.json()) as { file_key: string };
    const key = `transcriptions/${file_key}`;
    await objects.put(key, RECORDING, { contentType: 'audio/ogg' });
    return key;
  };
  const fail = (times: number): void => {
    failures = times;
  };
  return { app, objects, record, fail };
}

it('removes the recordings of a forgotten user before they expire, and no others', async () => {
  const { app, objects, record } = await setUp();
  const other = await app.addUser('bob@example.com');
  const own = [await record(app.key), await record(app.key)];
  const foreign = await record(await app.token(other));
  expect(await forgetUser(app.services, { userId: app.user.id })).toBe(true);
  for (const key of own) expect(await objects.head(key)).toBeUndefined();
  expect(await objects.head(foreign)).toMatchObject({ size: RECORDING.length });
  expect(await app.services.store.collection(TRANSCRIPTION_UPLOADS).count({})).toBe(1);
});

it('reports when a recording of a forgotten user cannot be removed, and removes it when that is repeated', async () => {
  const { app, objects, record, fail } = await setUp();
  const key = await record(app.key);
  fail(1);
  await expect(forgetUser(app.services, { userId: app.user.id })).rejects.toThrow('the object store is down');
  expect(await forgetUser(app.services, { userId: app.user.id })).toBe(true);
  expect(await objects.head(key)).toBeUndefined();
});
