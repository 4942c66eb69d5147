import { COLLECTIONS, defineOperation, defineRoute, type Services } from '@questline/core';
import { SESSIONS } from '@questline/core/internal';
import { createShardDirectory, createSqlPorts, SHARD_COLLECTIONS, shard } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { shareDatabase } from '../../packages/sql/test/shared.ts';
import { makeSession } from '../support/owned-resources.ts';
import { shareShards } from '../support/shards.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

/** An operation of a host that renames two sessions in one transaction. */
const renameBoth = defineOperation({
  id: 'renameBoth',
  method: 'POST',
  path: '/api/v1/both',
  tag: 'Samples',
  summary: 'Rename two sessions',
  auth: 'key-or-token',
  scopes: ['notebooks:write'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  subject: 'Session',
  input: { body: z.object({ ids: z.array(z.string()) }) },
  output: { 204: { description: 'Renamed.' } },
});

const toRoutes = (services: Services) => [
  defineRoute(renameBoth, services, async ({ body }) => {
    await services.store.transaction(async (inner) => {
      for (const id of body.ids) await inner.collection(SESSIONS).update(id, { name: 'Renamed' });
    });
    return undefined;
  }),
];

describe('a request that several databases cannot fulfil', () => {
  const shards = shareShards();
  const collections = [...COLLECTIONS, ...SHARD_COLLECTIONS];
  const [home, known] = [
    shareDatabase(SQLITE_MEMORY, collections),
    shareDatabase(SQLITE_MEMORY, collections),
  ];

  it('is refused with 409 if it changes two of them in one transaction, and changes nothing', async () => {
    const app = await createTestApp({ ports: await shards.fresh(), extra: toRoutes });
    const other = await app.addUser('other@example.com');
    const ids = [await makeSession(app, app.user), await makeSession(app, other)];
    const answer = await callAs(app, app.user, 'POST', '/api/v1/both', { ids });
    expect(answer).toMatchObject({
      status: 409,
      body: {
        error: 'This would change records of users in two databases in one step, which is not possible',
      },
    });
    const sessions = await app.services.store.collection(SESSIONS).find({});
    expect(sessions.map(({ name }) => name)).toEqual(['Notes', 'Notes']);
    expect(app.incidents).toEqual([]);
    const own = await callAs(app, app.user, 'POST', '/api/v1/both', { ids: ids.slice(0, 1) });
    expect(own.status).toBe(204);
    await app.api.close();
  });

  it('is refused with 503 for a user on a shard that the process does not know', async () => {
    const [homeDatabase, knownDatabase] = [await home.fresh(), await known.fresh()];
    const app = await createTestApp({
      ports(given) {
        const ports = createSqlPorts(homeDatabase, given);
        const shards = { known: createSqlPorts(knownDatabase, given) };
        let placed = 0;
        const directory = createShardDirectory({
          store: ports.store,
          shards: ['known', 'new'],
          choose: () => (placed++ === 0 ? 'known' : 'new'),
        });
        return { ...shard({ home: ports, shards, directory }), vectors: ports.vectors };
      },
    });
    const other = await app.addUser('other@example.com');
    const credential = await app.token(other);
    const answer = await app.ask('POST', '/api/v1/sessions', { credential, body: { name: 'Notes' } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await app.ask('GET', '/api/v1/me', { credential: await app.token() })).status).toBe(200);
    await app.api.close();
  });
});
