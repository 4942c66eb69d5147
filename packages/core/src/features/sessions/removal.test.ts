import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { withEngineJobs, withWriteAll } from '../../../test/whole-writes.ts';
import { createStoreQueue } from '../../jobs/store-queue.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { STORAGE_USAGE } from '../storage/usage.ts';
import { SESSIONS, type SessionRecord } from './records.ts';
import { removeSession, removeUnusedSession } from './removal.ts';

const SESSION: SessionRecord = {
  id: 's',
  ownerId: 'o',
  name: 'n',
  bytes: 300,
  firstCreated: 0,
  lastUpdated: 5,
};

const quest = (id: string, sessionId: string, change: Partial<QuestRecord> = {}) =>
  ({
    id,
    sessionId,
    ownerId: 'o',
    status: 'running',
    liveSince: 1,
    createdAt: 0,
    updatedAt: 0,
    ...change,
  }) as QuestRecord;

async function setUp(isWhole: boolean, session: SessionRecord = SESSION) {
  const clock = createFakeClock();
  const memory = createMemoryStore();
  const store = isWhole ? withWriteAll(memory) : memory;
  const plain = createStoreQueue({ store: memory, clock, ids: createFakeIds() });
  const queue = isWhole ? withEngineJobs(plain) : plain;
  await memory.collection(SESSIONS).insert(session);
  for (const owner of ['o', 'another'])
    await memory.collection(STORAGE_USAGE).insert({ id: `${owner}:sessions`, bytes: 1000 });
  for (const one of [
    quest('running', 's'),
    quest('pending', 's', { status: 'pending' }),
    quest('done', 's', { status: 'done', liveSince: 0 }),
    quest('other', 't'),
  ])
    await memory.collection(QUESTS).insert(one);
  const stopped: string[] = [];
  const questEvents = { stopped: (id: string) => void stopped.push(id) } as never;
  const read = async () => ({
    sessions: await memory.collection(SESSIONS).count({}),
    bytes: (await memory.collection(STORAGE_USAGE).get('o:sessions'))?.bytes,
    stopped: stopped.toSorted(),
    states: Object.fromEntries(
      (await memory.collection(QUESTS).find({})).map(({ id, status }) => [id, status]),
    ),
    jobs: (await queue.counts()).delayed,
  });
  return { memory, services: { store, queue, clock, questEvents }, read };
}

const STATES = { running: 'running', pending: 'pending', done: 'done', other: 'running' };
const KEPT = { sessions: 1, bytes: 1000, stopped: [], states: STATES };
const REMOVED = {
  sessions: 0,
  bytes: 700,
  stopped: ['pending', 'running'],
  states: { ...STATES, running: 'stopped', pending: 'stopped' },
  jobs: 1,
};

describe.each([
  ['in one step', true],
  ['in a transaction', false],
])('the removal of a session %s', (_, isWhole) => {
  it('deletes it, gives its storage back, stops its turns and enqueues the purge', async () => {
    const { services, read } = await setUp(isWhole);
    expect(await removeSession(services, SESSION)).toEqual(SESSION);
    expect(await read()).toEqual(REMOVED);
  });

  it('gives no storage back that was not counted', async () => {
    const { bytes: _bytes, ...uncounted } = SESSION;
    const { services, read } = await setUp(isWhole, uncounted);
    expect(await removeSession(services, uncounted)).toEqual(uncounted);
    expect(await read()).toEqual({ ...REMOVED, bytes: 1000 });
  });

  it.each([
    ['was changed', { lastUpdated: 4 }],
    ['has another owner', { ownerId: 'another' }],
  ])('does nothing when it %s meanwhile', async (_title, was) => {
    const { services, read } = await setUp(isWhole);
    expect(await removeSession(services, { ...SESSION, ...was })).toBeUndefined();
    expect(await read()).toMatchObject(KEPT);
  });

  it('stores in the job of the purge whether the session is deleted already', async () => {
    const { services } = await setUp(isWhole);
    await removeSession(services, SESSION);
    await services.clock.advance(1000);
    const [job] = await services.queue.lease({ kinds: ['sessions.purge'], limit: 1, leaseMs: 1000 });
    expect(job?.payload).toEqual({ sessionId: 's', ...(isWhole && { isDeleted: true }) });
  });

  it('of an unused one leaves a session in use, and stops the turns of one that it deletes', async () => {
    const { services, read } = await setUp(isWhole);
    expect(await removeUnusedSession(services, SESSION, { isInUse: async () => true })).toBeUndefined();
    expect(await read()).toMatchObject(KEPT);
    expect(await removeUnusedSession(services, SESSION, { isInUse: async () => false })).toEqual(SESSION);
    expect(await read()).toEqual(REMOVED);
  });
});

it('waits for its writes', async () => {
  const { services, read } = await setUp(false);
  const late = { ...services, store: withLateWrites(services.store) };
  await removeSession(late, SESSION);
  expect(await read()).toEqual(REMOVED);
  const other = await setUp(false);
  const store = withLateWrites(other.services.store);
  await removeUnusedSession({ ...other.services, store }, SESSION, { isInUse: async () => false });
  expect(await other.read()).toEqual(REMOVED);
});

it('sends no event for a turn that ends meanwhile', async () => {
  const { memory, services, read } = await setUp(false);
  const store: typeof memory = {
    ...memory,
    collection(definition) {
      const collection = memory.collection(definition);
      return {
        ...collection,
        async find(...given) {
          const found = await collection.find(...given);
          await memory.collection(QUESTS).update('running', { status: 'done', liveSince: 0 });
          return found;
        },
      };
    },
  };
  await removeSession({ ...services, store }, SESSION);
  expect((await read()).stopped).toEqual(['pending']);
});
