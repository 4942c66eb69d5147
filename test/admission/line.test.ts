import { COLLECTIONS } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { ENGINES, POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { type ChatApp, createChatApp } from '../support/chat.ts';

const QUESTION = { message: 'A question', newConversation: true };

/** Waits as long as the answer says. */
async function wait(app: ChatApp, headers: Headers): Promise<void> {
  await app.clock.advance(Number(headers.get('Retry-After')) * 1000);
  await app.settle();
}

function openApp(admission: object, options: Parameters<typeof createChatApp>[0] = {}): Promise<ChatApp> {
  return createChatApp({
    started: false,
    settings: { admin: { DefaultAPIModel: 'scripted' }, admission },
    ...options,
  });
}

describe('the line of one owner', () => {
  it('refuses what is beyond it with 503 and a true Retry-After, and no other owner', async () => {
    const app = await openApp({ maxWaitingPerOwner: 3 });
    for (let at = 0; at < 3; at += 1) expect((await app.chat(QUESTION)).status).toBe(200);
    const refused = await app.chat(QUESTION);
    expect(refused.status).toBe(503);
    const seconds = refused.headers.get('Retry-After');
    expect(seconds).toMatch(/^[1-9]\d?$/);
    expect(JSON.stringify(refused.body)).toContain(`Try again in ${seconds} seconds`);
    const bob = await app.addUser('bob@example.com');
    const { key } = await app.issue({ userId: bob.id, scopes: ['ai:chat', 'notebooks:write'] });
    expect((await app.chat(QUESTION, { credential: key })).status).toBe(200);

    await wait(app, refused.headers);
    expect((await app.chat(QUESTION)).status).toBe(200);
    await app.api.close();
  });

  it('admits again once its work has begun', async () => {
    const app = await openApp({ maxWaitingPerOwner: 2 });
    for (let at = 0; at < 2; at += 1) await app.chat(QUESTION);
    expect((await app.chat(QUESTION)).status).toBe(503);
    await app.api.start();
    await app.settle();
    await app.clock.advance(1000);
    expect((await app.chat(QUESTION)).status).toBe(200);
    await app.settle();
    expect(await app.services.store.collection(QUESTS).count({ status: 'done' })).toBe(3);
    await app.api.close();
  });

  it('never exceeds its maximum by more than a tenth, however long clients wait', async () => {
    const app = await openApp({ maxWaitingPerOwner: 20 });
    let last = new Headers({ 'Retry-After': '1' });
    for (let round = 0; round < 6; round += 1) {
      for (let at = 0; at < 25; at += 1) {
        const { status, headers } = await app.chat(QUESTION);
        if (status === 503) last = headers;
      }
      await wait(app, last);
    }
    expect(await app.services.store.collection(QUESTS).count({ status: 'pending' })).toBe(22);
    await app.api.close();
  });

  it('admits as many of parallel requests as it has room for', async () => {
    const app = await openApp({ maxWaitingPerOwner: 20 });
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await app.chat(QUESTION)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 503)).toHaveLength(80);
    await app.api.close();
  });

  it('has no bound with null', async () => {
    const app = await openApp({ maxWaitingPerOwner: null, maxWaiting: null });
    for (let at = 0; at < 60; at += 1) expect((await app.chat(QUESTION)).status).toBe(200);
    await app.api.close();
  });

  it('counts no refused request, and answers a repeated one while the line is full', async () => {
    const app = await openApp({ maxWaitingPerOwner: 2 });
    for (let at = 0; at < 5; at += 1) {
      expect((await app.chat({ message: 'A question', sessionId: 'f'.repeat(24) })).status).toBe(404);
    }
    const named = { headers: { 'Idempotency-Key': 'one' } };
    const first = await app.chat(QUESTION, named);
    expect((await app.chat(QUESTION)).status).toBe(200);
    expect((await app.chat(QUESTION)).status).toBe(503);
    const again = await app.chat(QUESTION, named);
    expect({ status: again.status, id: again.body.id }).toEqual({ status: 200, id: first.body.id });
    await app.api.close();
  });
});

describe('the line of all owners', () => {
  it('refuses every owner while it is full, and admits each after its own wait', async () => {
    const app = await openApp({ maxWaiting: 30 });
    const keys = await Promise.all(
      ['bob', 'eve'].map(async (name) => {
        const user = await app.addUser(`${name}@example.com`);
        return (await app.issue({ userId: user.id, scopes: ['ai:chat', 'notebooks:write'] })).key;
      }),
    );
    for (let at = 0; at < 30; at += 1) expect((await app.chat(QUESTION)).status).toBe(200);
    const [bob = '', eve = ''] = keys;
    const refused = await app.chat(QUESTION, { credential: bob });
    expect(refused.status).toBe(503);
    await wait(app, refused.headers);
    // The place is Bob's.
    const late = await app.chat(QUESTION, { credential: eve });
    expect(late.status).toBe(503);
    expect((await app.chat(QUESTION, { credential: bob })).status).toBe(200);
    await wait(app, late.headers);
    expect((await app.chat(QUESTION, { credential: eve })).status).toBe(200);
    await app.api.close();
  });

  it('returns the wait that follows from the speed at which work leaves it', async () => {
    const app = await openApp({ maxWaiting: 40 });
    const { queue } = app.services;
    const finish = async (limit: number): Promise<void> => {
      for (const job of await queue.lease({ kinds: ['chat'], limit, leaseMs: 60_000 })) {
        await queue.finish(job);
      }
    };
    for (let at = 0; at < 40; at += 1) expect((await app.chat(QUESTION)).status).toBe(200);
    expect((await app.chat(QUESTION)).headers.get('Retry-After')).toBe('5');
    // Two jobs in four seconds.
    await app.clock.advance(4000);
    await finish(2);
    const answers = [];
    for (let at = 0; at < 3; at += 1) answers.push(await app.chat(QUESTION));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503]);
    expect(answers[2]?.headers.get('Retry-After')).toBe('2');
    await app.clock.advance(2000);
    expect((await app.chat(QUESTION)).status).toBe(200);
    await app.api.close();
  });
});

describe.each(ENGINES.filter(({ name }) => name !== 'PGlite' || POSTGRES_URL === undefined))(
  'the lines on $name',
  ({ open }) => {
    it('count the work of one owner and of all', async () => {
      const { database, close } = await open();
      await migrate(database, { collections: COLLECTIONS });
      const app = await openApp(
        { maxWaitingPerOwner: 2, maxWaiting: 3 },
        { ports: (given) => createSqlPorts(database, given) },
      );
      const bob = await app.addUser('bob@example.com');
      const { key } = await app.issue({ userId: bob.id, scopes: ['ai:chat', 'notebooks:write'] });
      const asBob = { credential: key };
      for (let at = 0; at < 2; at += 1) expect((await app.chat(QUESTION)).status).toBe(200);
      const own = await app.chat(QUESTION);
      expect(JSON.stringify(own.body)).toContain('Too many of your requests wait.');
      expect((await app.chat(QUESTION, asBob)).status).toBe(200);
      const all = await app.chat(QUESTION, asBob);
      expect(JSON.stringify(all.body)).toContain('Too many requests wait.');
      await app.clock.advance(Number(all.headers.get('Retry-After')) * 1000);
      expect((await app.chat(QUESTION, asBob)).status).toBe(200);
      await app.api.close();
      await close();
    });
  },
);
