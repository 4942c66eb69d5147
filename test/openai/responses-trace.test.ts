import { COLLECTIONS } from '@questline/core';
import { QUESTS, RESPONSES } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { NOW } from '../support/test-app.ts';
import { reason } from '../support/vendor-wire.ts';
import { createOpenAIApp } from './support.ts';
import { QUESTION } from './support-responses.ts';

const DAY_MS = 86_400_000;
const SECRET = 'a text of this test only';

async function dump(store: Store): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const content: Record<string, readonly unknown[]> = {};
  for (const shape of COLLECTIONS) content[shape.name] = await store.collection(shape as never).find({});
  return content;
}

describe('the store after a response', () => {
  it.each([false, true])('has no trace of one that is not stored (stream: %s)', async (stream) => {
    const app = await createOpenAIApp({ onCall: reason });
    // The first request of a key is noted.
    await app.send('GET', '/models');
    const before = await dump(app.services.store);
    const answer = await app.send('POST', '/responses', { ...QUESTION, input: SECRET, store: false, stream });
    expect(await answer.text()).toContain('Rain.');
    await app.settle();
    expect(await dump(app.services.store)).toEqual(before);
  });

  it('has the text of a stored one, until it is deleted', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const before = await dump(app.services.store);
    const { id } = await app.client.responses.create({ ...QUESTION, input: SECRET });
    expect(JSON.stringify(await dump(app.services.store))).toContain(SECRET);
    await app.client.responses.delete(id);
    await app.settle();
    await app.services.eventLog.expire();
    const after = await dump(app.services.store);
    expect(JSON.stringify(after)).not.toContain(SECRET);
    expect(after.quests).toEqual(before.quests);
    expect(after[RESPONSES.name]).toEqual([]);
    expect(after.storage_usage).toMatchObject([{ bytes: 0 }]);
  });

  it('loses responses after 30 days, with their quests', async () => {
    const app = await createOpenAIApp({
      onCall: reason,
      settings: { admin: { DefaultAPIModel: 'scripted' }, worker: { pollMs: 60_000 } },
    });
    const responses = app.services.store.collection(RESPONSES);
    const old = await app.client.responses.create(QUESTION);
    const young = await app.client.responses.create(QUESTION);
    await responses.update(old.id.slice(5), { createdAt: NOW - 30 * DAY_MS - 1 });
    await responses.update(young.id.slice(5), { createdAt: NOW - 30 * DAY_MS + 3_600_000 });
    await app.clock.advance(600_000);
    await app.settle();
    expect((await app.send('GET', `/responses/${old.id}`)).status).toBe(404);
    expect(await app.client.responses.retrieve(young.id)).toMatchObject({ status: 'completed' });
    expect(await app.services.store.collection(QUESTS).count({})).toBe(1);
    expect(app.incidents).toEqual([]);
  });
});
