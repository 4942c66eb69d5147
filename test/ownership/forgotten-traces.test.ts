import { EVENT_OUTBOX, IDEMPOTENCY, LOW_CREDITS, type OutboxRecord } from '@questline/core/internal';
import { forgetUser } from '@questline/core/personal-data';
import { expect, it } from 'vitest';
import { createTestApp, NOW } from '../support/test-app.ts';

it('erases events and stored answers about a user, except charges that are not delivered yet', async () => {
  const app = await createTestApp();
  const { id: userId } = app.user;
  const { store } = app.services;
  const other = await app.addUser('grace@example.com');
  const outbox = store.collection(EVENT_OUTBOX);
  const add = (
    id: string,
    type: 'quest.done' | 'charge.settled',
    owner: string,
    more: Partial<OutboxRecord> = {},
  ) => {
    const event = {
      id,
      type,
      createdAt: NOW,
      data: { id, userId: owner },
    } as unknown as OutboxRecord['event'] & object;
    return outbox.insert({ id, event, checkAt: NOW, createdAt: NOW, ...more });
  };
  await add('turn', 'quest.done', userId);
  await add('charge', 'charge.settled', userId);
  await add('failed-charge', 'charge.settled', userId, { failedAt: NOW });
  await add('foreign', 'quest.done', other.id);
  await outbox.insert({ id: 'intent', checkAt: NOW, createdAt: NOW });
  for (const id of [userId, other.id]) {
    await store.collection(LOW_CREDITS).insert({ id, account: `user:${id}` });
    const answer = JSON.stringify({ body: { owner: id, session: 'f'.repeat(24) } });
    await store.collection(IDEMPOTENCY).insert({ id, bodyHash: '', answer, expiresAt: NOW + 1e9 });
  }
  await store
    .collection(IDEMPOTENCY)
    .insert({ id: 'none', bodyHash: '', answer: '{}', expiresAt: NOW + 1e9 });
  expect(await forgetUser(app.services, { userId })).toBe(true);
  expect((await outbox.find({})).map(({ id }) => id)).toEqual(['charge', 'foreign', 'intent']);
  expect((await store.collection(LOW_CREDITS).find({})).map(({ id }) => id)).toEqual([other.id]);
  expect((await store.collection(IDEMPOTENCY).find({})).map(({ id }) => id).sort()).toEqual(
    ['none', other.id].sort(),
  );
  expect(await forgetUser(app.services, { userId })).toBe(false);
});
