import { SESSIONS, STORAGE_USAGE } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createBreakableStore } from '../support/store.ts';

const long = { systemPromptText: 'x'.repeat(500) };

it.each<[string, string, object | undefined]>([
  ['POST', '/api/v1/sessions', { name: 'Two' }],
  ['PUT', '', { systemPromptText: 'x'.repeat(900) }],
  ['PUT', '', { systemPromptText: 'x' }],
  ['DELETE', '', undefined],
])('%s %s counts the storage exactly, whichever call of the store fails', async (method, path, body) => {
  const breakable = createBreakableStore();
  const app = await createChatApp({ store: breakable.wrap, started: false });
  const { store } = app.services;
  const made = await app.json('POST', '/api/v1/sessions', { body: { name: 'One', ...long } });
  const target = path === '' ? `/api/sessions/${made.body.id}` : path;
  const read = async () => {
    const sessions = await store.collection(SESSIONS).find({});
    const sum = sessions.reduce((total, { bytes = 0 }) => total + bytes, 0);
    expect((await store.collection(STORAGE_USAGE).get(`${app.user.id}:sessions`))?.bytes).toBe(sum);
    return sessions;
  };
  const before = await read();
  for (let calls = 0; ; calls += 1) {
    breakable.callsBeforeFailure = calls;
    breakable.failure = new StorageUnavailable('away');
    const { status } = await app.json(method, target, body && { body });
    breakable.failure = undefined;
    if (status === 200) {
      expect(calls).toBeGreaterThan(2);
      expect(await read()).not.toEqual(before);
      return;
    }
    expect(status).toBe(503);
    if (method !== 'DELETE') expect(await read()).toEqual(before);
    await read();
    if ((await store.collection(SESSIONS).get(made.body.id)) === undefined) return;
  }
});

it('a clone beyond the quota leaves no message behind', async () => {
  const storageQuotas = { sessions: 1_000_000, artifacts: null, lakes: null };
  const app = await createChatApp({ services: (services) => ({ ...services, storageQuotas }) });
  const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'One', ...long } });
  await app.chat({ message: 'Hi', sessionId: body.id, wait: true });
  const usage = async () => {
    const record = await app.services.store.collection(STORAGE_USAGE).get(`${app.user.id}:sessions`);
    return record?.bytes ?? 0;
  };
  const before = await usage();
  // Room for the messages, and not for the session.
  storageQuotas.sessions = before + 600;
  const clone = await app.json('POST', `/api/v1/sessions/${body.id}/clone`);
  expect([clone.status, await usage()]).toEqual([422, before]);
});
