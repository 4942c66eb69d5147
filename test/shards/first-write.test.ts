import { MESSAGES, SESSIONS } from '@questline/core/internal';
import { writesTo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { makeSession } from '../support/owned-resources.ts';
import { shareShards } from '../support/shards.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp, NOW } from '../support/test-app.ts';

describe('a process that has used no collection yet', () => {
  const shards = shareShards();

  it.each([
    ['after the session', false],
    ['before the session', true],
  ])('adds a message of another user %s, on the shard of the session', async (_title, isFirst) => {
    const ports = await shards.fresh();
    const app = await createTestApp({ ports });
    const { user, services } = app;
    const other = await app.addUser('other@example.com');
    await makeSession(app, other);
    const sessionId = await makeSession(app, user);
    const { store } = ports(services);
    const id = services.ids.next();
    const message = {
      id,
      sessionId,
      ownerId: other.id,
      createdAt: NOW,
      role: 'user',
      content: 'Hi',
    } as const;
    const writes = [
      writesTo(SESSIONS).update(sessionId, { name: 'Shared' }),
      writesTo(MESSAGES).insert(message),
    ];
    expect(await store?.writeAll?.(isFirst ? writes.toReversed() : writes)).toBe(true);
    expect((await callAs(app, user, 'GET', `/api/sessions/${sessionId}`)).body).toMatchObject({
      name: 'Shared',
    });
    expect(await services.store.collection(MESSAGES).get(id, { sessionId })).toMatchObject({ content: 'Hi' });
    await app.api.close();
  });
});
