import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../test/late-store.ts';
import { EVENT_OUTBOX, LOW_CREDITS, type OutboxRecord } from '../events/records.ts';
import { ARTIFACTS } from '../features/artifacts/records.ts';
import { FILE_USAGE } from '../features/files/records.ts';
import { SESSIONS, type SessionRecord } from '../features/sessions/records.ts';
import { EXTERNAL_IDS } from '../features/sign-in/external-ids.ts';
import { USERS, type UserRecord } from '../identity/records.ts';
import { createMemoryPorts } from '../memory/ports.ts';
import { IDEMPOTENCY } from '../operations/idempotency-records.ts';
import type { CollectionDefinition, Store, StoredRecord } from '../ports/store.ts';
import { QUESTS, type QuestRecord } from '../runs/records.ts';
import { hashSecret } from '../shared/secrets.ts';
import { COLLECTIONS } from './collections.ts';
import { createServices } from './create-services.ts';
import { findUserId, forgetUser } from './forget-user.ts';

const ADA = 'a'.repeat(24);
const BOB = 'b'.repeat(24);

/** Services with two users. The forgotten one is known to the host. @param change the store of the services. */
async function setUp(change: (store: Store) => Store = withLateWrites) {
  const clock = createFakeClock();
  const ports = { ...createMemoryPorts({ clock }), models: [] };
  const { store } = ports;
  const changed = change(store);
  const own = createServices(
    { ...ports, store: changed },
    { jwtSecret: 'a'.repeat(64), onError: () => undefined },
  );
  const revoked: unknown[] = [];
  const services = {
    ...own,
    store: changed,
    authenticator: {
      ...own.authenticator,
      async forgetUser(userId: string) {
        revoked.push(userId);
      },
    },
  };
  for (const id of [ADA, BOB])
    await store.collection(USERS).insert({ id, email: id, disabled: false } as UserRecord);
  for (const [externalId, userId] of [
    ['host|ada', ADA],
    ['host|bob', BOB],
  ] as const) {
    const link = { externalId, userId, isWelcomed: true, createdAt: 1 };
    await store.collection(EXTERNAL_IDS).insert({ id: hashSecret(externalId), ...link });
  }
  return { clock, store, services, revoked, forget: () => forgetUser(services, { userId: ADA }) };
}

/** A store that calls `before` before each write. */
function watchWrites(store: Store, before: (shape: string, verb: string) => void): Store {
  const collection: Store['collection'] = (definition) => {
    const usual = store.collection(definition);
    return {
      ...usual,
      async insert(...given) {
        before(definition.name, 'insert');
        return usual.insert(...given);
      },
      async update(...given) {
        before(definition.name, 'update');
        return usual.update(...given);
      },
      async take(...given) {
        before(definition.name, 'take');
        return usual.take(...given);
      },
      ...(usual.removeWhere !== undefined && {
        async removeWhere(...given: Parameters<NonNullable<typeof usual.removeWhere>>) {
          before(definition.name, 'removeWhere');
          return (await usual.removeWhere?.(...given)) as never;
        },
      }),
    };
  };
  return {
    ...store,
    collection,
    transaction: (work, options) => store.transaction((inner) => work(watchWrites(inner, before)), options),
  };
}

describe('user to forget', () => {
  it('is found by the id in the host and by the id here', async () => {
    const { services } = await setUp();
    expect(await findUserId(services, { externalId: 'host|ada' })).toBe(ADA);
    expect(await findUserId(services, { userId: BOB })).toBe(BOB);
    expect(await findUserId(services, { userId: 'none' })).toBeUndefined();
    expect(await findUserId(services, { externalId: ADA })).toBeUndefined();
  });

  it('is gone with its link to the host, and its credentials end before and after', async () => {
    const { store, services, revoked } = await setUp();
    expect(await forgetUser(services, { externalId: 'host|ada' })).toBe(true);
    expect((await store.collection(USERS).find({})).map(({ id }) => id)).toEqual([BOB]);
    expect((await store.collection(EXTERNAL_IDS).find({})).map(({ userId }) => userId)).toEqual([BOB]);
    expect(revoked).toEqual([ADA, ADA]);
    expect([await forgetUser(services, { externalId: 'host|ada' }), revoked.length]).toEqual([false, 2]);
  });

  it('is disabled before its work is asked to stop', async () => {
    const seen: unknown[] = [];
    const { store, forget } = await setUp((inner) => {
      const watched: Store['collection'] = (definition) => {
        const usual = inner.collection(definition);
        if (definition.name !== QUESTS.name) return usual;
        return {
          ...usual,
          async find(...given) {
            seen.push((await inner.collection(USERS).get(ADA))?.disabled);
            return usual.find(...given);
          },
        };
      };
      return withLateWrites({ ...inner, collection: watched });
    });
    await forget();
    expect(seen[0]).toBe(true);
    expect(await store.collection(USERS).get(ADA)).toBeUndefined();
  });
});

describe('traces of a forgotten user', () => {
  it('leave the lists of readers and writers of what others own', async () => {
    const { store, forget } = await setUp();
    const sessions = store.collection(SESSIONS);
    const add = (id: string, more: Partial<SessionRecord>) =>
      sessions.insert({ id, ownerId: BOB, name: id, ...more } as Partial<SessionRecord> as SessionRecord);
    await add('read', { readerIds: [ADA, 'c'] });
    await add('written', { readerIds: ['d'], writerIds: ['c', ADA] });
    await add('both', { readerIds: [ADA], writerIds: [ADA] });
    await add('none', { readerIds: ['c'] });
    await add('own', { ownerId: ADA });
    await forget();
    expect(
      (await sessions.find({})).map(({ id, readerIds, writerIds }) => [id, readerIds, writerIds]),
    ).toEqual([
      ['both', [], []],
      ['none', ['c'], undefined],
      ['read', ['c'], undefined],
      ['written', ['d'], ['c']],
    ]);
  });

  it('leave no change in records of others without the user', async () => {
    const changed: string[] = [];
    const { store, forget } = await setUp((inner) =>
      watchWrites(inner, (shape, verb) => void changed.push(`${verb} ${shape}`)),
    );
    const session = { id: 's', ownerId: BOB, name: 's', readerIds: ['c'] };
    await store.collection(SESSIONS).insert(session as Partial<SessionRecord> as SessionRecord);
    await forget();
    expect(changed).not.toContain('update sessions');
  });

  it('leave stored answers that name the user or an erased record', async () => {
    const { store, forget } = await setUp();
    const session = {
      id: 'c'.repeat(24),
      ownerId: ADA,
      name: 's',
    } as Partial<SessionRecord> as SessionRecord;
    await store.collection(SESSIONS).insert(session);
    const answers = store.collection(IDEMPOTENCY);
    const add = (id: string, answer: string) => answers.insert({ id, answer, bodyHash: '', expiresAt: 9e15 });
    await add('user', JSON.stringify({ owner: ADA }));
    await add('record', JSON.stringify({ other: BOB, id: session.id }));
    await add('other', JSON.stringify({ id: BOB }));
    await add('plain', 'done');
    await forget();
    expect((await answers.find({})).map(({ id }) => id)).toEqual(['other', 'plain']);
  });

  it('leave the report of low credit of the account', async () => {
    const { store, forget } = await setUp();
    const reports = store.collection(LOW_CREDITS);
    await reports.insert({ id: '1', account: `user:${ADA}` });
    await reports.insert({ id: '2', account: `user:${BOB}` });
    await forget();
    expect((await reports.find({})).map(({ id }) => id)).toEqual(['2']);
  });

  it('leave the outbox, except charges that the host has yet to receive', async () => {
    const { store, forget } = await setUp();
    const outbox = store.collection(EVENT_OUTBOX);
    const add = (id: string, type: string, userId: string, failedAt?: number) =>
      outbox.insert({
        ...{ id, event: { type, data: { userId } }, checkAt: 9e15, createdAt: 1 },
        ...(failedAt !== undefined && { failedAt }),
      } as unknown as OutboxRecord);
    await add('charge', 'charge.settled', ADA);
    await add('given up', 'charge.settled', ADA, 5);
    await add('other', 'quest.done', ADA);
    await add('of bob', 'quest.done', BOB);
    await outbox.insert({ id: 'open', checkAt: 9e15, createdAt: 1 });
    await forget();
    expect((await outbox.find({})).map(({ id }) => id)).toEqual(['charge', 'of bob', 'open']);
  });
});

describe('erasure that fails', () => {
  /** Records of each kind that end with the user. @param failing the write that fails, counted from 1. */
  async function openFailing(failing: number) {
    let left = Number.POSITIVE_INFINITY;
    const opened = await setUp((inner) =>
      watchWrites(withLateWrites(inner), () => {
        left -= 1;
        if (left === 0) throw new Error('away');
      }),
    );
    const { store } = opened;
    const add = <R extends StoredRecord>(definition: CollectionDefinition<R>, record: object) =>
      store.collection(definition).insert(record as R);
    await add(SESSIONS, { id: 'c'.repeat(24), ownerId: ADA, name: 's' });
    await add(SESSIONS, { id: 'd'.repeat(24), ownerId: BOB, name: 's', readerIds: [ADA], writerIds: [ADA] });
    await add(ARTIFACTS, { id: 'e'.repeat(24), ownerId: ADA, title: 't' });
    await add(FILE_USAGE, { id: ADA, bytes: 1 });
    await add(LOW_CREDITS, { id: '1', account: `user:${ADA}` });
    await add(IDEMPOTENCY, { id: 'answer', answer: ADA, bodyHash: '', expiresAt: 9e15 });
    const event = { type: 'quest.done', data: { userId: ADA } };
    await add(EVENT_OUTBOX, { id: 'event', event, checkAt: 9e15, createdAt: 1 });
    left = failing;
    return opened;
  }

  it('at any write keeps the account, and the next call erases the rest', async () => {
    let failing = 0;
    for (let isErased = false; !isErased; ) {
      failing += 1;
      const { store, forget } = await openFailing(failing);
      const outcome = await forget().catch(String);
      isErased = outcome === true;
      if (!isErased) {
        expect([outcome, await store.collection(USERS).count({ id: ADA })]).toEqual(['Error: away', 1]);
        expect(await forget()).toBe(true);
      }
      for (const shape of COLLECTIONS) {
        expect(JSON.stringify(await store.collection(shape as never).find({}))).not.toContain(ADA);
      }
    }
    expect(failing).toBeGreaterThan(8);
  });
});

describe('running work of a forgotten user', () => {
  const RUNNING = {
    ...{ id: 'q', kind: 'chat', sessionId: 's', ownerId: ADA, status: 'running', jobId: 'j', fence: 1 },
    ...{ type: 'message', request: {}, createdAt: 1, updatedAt: 1 },
  } as unknown as QuestRecord;

  it('is waited for, for 30 seconds', async () => {
    const { clock, store, forget } = await setUp((inner) => inner);
    await store.collection(QUESTS).insert(RUNNING);
    let outcome: unknown;
    void forget().catch((error: unknown) => {
      outcome = error;
    });
    await new Promise(setImmediate);
    for (let step = 0; step < 299; step += 1) await clock.advance(100);
    expect([outcome, (await store.collection(USERS).get(ADA))?.disabled]).toEqual([undefined, true]);
    await clock.advance(100);
    expect(String(outcome)).toContain('work of the user is still running after 30000 ms');
    expect(await store.collection(USERS).count({ id: ADA })).toBe(1);
  });

  it('is looked at every 100 ms, and its record is erased when it has ended', async () => {
    const { clock, store, services } = await setUp((inner) => inner);
    await store.collection(QUESTS).insert(RUNNING);
    const forgotten = forgetUser(services, { userId: ADA }, { timeoutMs: 1000 });
    for (let step = 0; step < 3; step += 1) await clock.advance(100);
    await store.collection(QUESTS).update('q', { status: 'done' });
    await clock.advance(100);
    expect([await forgotten, await store.collection(QUESTS).count({})]).toEqual([true, 0]);
  });
});
