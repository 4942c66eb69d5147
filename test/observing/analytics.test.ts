import { ANALYTICS_EVENTS } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { expect, it } from 'vitest';
import { createBreakableStore } from '../support/store.ts';
import { createTestApp } from '../support/test-app.ts';

it('keeps the events of a user for the operator before it answers', async () => {
  const app = await createTestApp();
  const credential = await app.token();
  const events = app.services.store.collection(ANALYTICS_EVENTS);
  const log = async (body: object) => {
    const { status } = await app.ask('POST', '/api/analytics/log-event', { body, credential });
    return [status, await events.count({})];
  };
  expect(await log({ event: 'opened', properties: { page: 'start', depth: [1, null] } })).toEqual([204, 1]);
  await app.clock.advance(1000);
  expect(await log({ event: 'closed' })).toEqual([204, 2]);
  const kept = await events.find({}, { order: { field: 'createdAt', direction: 'asc' } });
  const now = app.clock.now();
  expect(kept).toEqual([
    {
      id: expect.any(String),
      userId: app.user.id,
      event: 'opened',
      properties: { page: 'start', depth: [1, null] },
      createdAt: now - 1000,
    },
    { id: expect.any(String), userId: app.user.id, event: 'closed', properties: {}, createdAt: now },
  ]);
});

it('answers with an error where an event of a user cannot be kept', async () => {
  const breakable = createBreakableStore();
  const app = await createTestApp({
    store: (store) => ({
      ...store,
      collection: (definition) =>
        definition.name === ANALYTICS_EVENTS.name
          ? breakable.wrap(store).collection(definition)
          : store.collection(definition),
    }),
  });
  breakable.failure = new StorageUnavailable('broken off');
  const options = { body: { event: 'opened' }, credential: await app.token() };
  expect((await app.ask('POST', '/api/analytics/log-event', options)).status).toBe(503);
});
