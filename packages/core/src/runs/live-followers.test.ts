import { createMemoryPublisher, createMemoryStore } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Publisher } from '../ports/publisher.ts';
import { createLiveFollowers } from './live-followers.ts';
import { newQuest, QUESTS, type QuestRecord } from './records.ts';

const ID = 'q1';

/** Two processes on one store: `worker` runs the quest, `other` has its reader. */
async function setUp(publisher: Publisher = createMemoryPublisher(), isShared = true) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const incidents: unknown[] = [];
  const services = { store, publisher, clock, onError: (incident: object) => void incidents.push(incident) };
  const worker = createLiveFollowers(services, isShared);
  const other = createLiveFollowers(services, isShared);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const quest = newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, clock.now());
  await quests.insert(quest);
  const read = async () => (await quests.get(ID)) as QuestRecord;
  const calls = { followed: 0 };
  const enter = (hadWorker = false, followedAt?: number) =>
    worker.enter({ id: ID, ...(followedAt !== undefined && { followedAt }) }, hadWorker, async () => {
      calls.followed += 1;
    });
  return { clock, quests, worker, other, read, enter, calls, incidents };
}

describe('run without readers in other processes', () => {
  it('is followed while it has a reader of its process, and not by readers of other quests', async () => {
    const { worker, enter, calls } = await setUp();
    const run = enter();
    expect(run.isFollowed()).toBe(false);
    worker.follow('other');
    expect([run.isFollowed(), calls.followed]).toEqual([false, 0]);
    const first = worker.follow(ID);
    const second = worker.follow(ID);
    expect([run.isFollowed(), calls.followed, first.isRemote(), first.isDue()]).toEqual([
      true,
      2,
      false,
      false,
    ]);
    first.leave();
    expect(run.isFollowed()).toBe(true);
    second.leave();
    expect(run.isFollowed()).toBe(false);
  });

  it('is remote to its readers after it has left, unless another run of the quest has begun', async () => {
    const { worker, enter } = await setUp();
    const reader = worker.follow(ID);
    expect([reader.isRemote(), reader.isDue()]).toEqual([true, true]);
    const first = enter();
    const second = enter();
    expect(reader.isRemote()).toBe(false);
    first.leave();
    expect(reader.isRemote()).toBe(false);
    second.leave();
    expect(reader.isRemote()).toBe(true);
    const third = enter();
    second.leave();
    expect(reader.isRemote()).toBe(false);
    third.leave();
    expect(reader.isRemote()).toBe(true);
  });

  it('makes its readers wait until the events so far are written', async () => {
    const { worker } = await setUp();
    let end = (): void => undefined;
    const written = new Promise<void>((resolve) => {
      end = resolve;
    });
    worker.enter({ id: ID }, false, () => written);
    let isReady = false;
    const reading = worker.follow(ID).ready.then(() => {
      isReady = true;
    });
    await Promise.resolve();
    expect(isReady).toBe(false);
    end();
    await reading;
    expect(isReady).toBe(true);
  });
});

describe('run with readers in other processes', () => {
  it('is followed for 30 seconds after an announcement, and hears of new readers only', async () => {
    const { clock, worker, other, read, enter, calls } = await setUp();
    const stop = await worker.listen();
    const run = enter();
    const reader = other.follow(ID);
    await reader.see(await read());
    await clock.advance(0);
    expect([run.isFollowed(), calls.followed]).toEqual([true, 1]);
    await clock.advance(29_999);
    expect(run.isFollowed()).toBe(true);
    await reader.see(await read());
    await clock.advance(0);
    expect(calls.followed).toBe(1);
    await clock.advance(30_000);
    expect(run.isFollowed()).toBe(false);
    await stop();
    await reader.see(await read());
    await clock.advance(0);
    expect([run.isFollowed(), calls.followed]).toEqual([false, 1]);
  });

  it('is followed for 30 seconds after a new mark in its record', async () => {
    const { clock, quests, other, read, enter, calls } = await setUp();
    const run = enter();
    run.see(undefined);
    run.see(await read());
    expect(run.isFollowed()).toBe(false);
    await other.follow(ID).see(await read());
    expect(await read()).toMatchObject({ followedAt: clock.now() });
    run.see(await read());
    expect([run.isFollowed(), calls.followed]).toEqual([true, 1]);
    await clock.advance(30_000);
    run.see(await read());
    expect([run.isFollowed(), calls.followed]).toEqual([false, 1]);
    await quests.update(ID, { followedAt: 1 });
    run.see(await read());
    expect([run.isFollowed(), calls.followed]).toEqual([true, 2]);
  });

  it.each([
    ['had another worker', true, undefined],
    ['was followed from the beginning', false, 5],
  ])('is followed for 30 seconds from its first event, if it %s', async (_name, hadWorker, followedAt) => {
    const { clock, enter } = await setUp();
    const run = enter(hadWorker, followedAt);
    await clock.advance(100_000);
    expect(run.isFollowed()).toBe(true);
    await clock.advance(29_999);
    expect(run.isFollowed()).toBe(true);
    await clock.advance(1);
    expect(run.isFollowed()).toBe(false);
  });
});

describe('reader of a run in another process', () => {
  it('marks the quest every 10 seconds', async () => {
    const { clock, quests, other, read } = await setUp();
    const start = clock.now();
    const reader = other.follow(ID);
    expect(reader.isDue()).toBe(true);
    await reader.see(await read());
    expect([reader.isDue(), (await read()).followedAt]).toEqual([false, start]);
    await clock.advance(9999);
    await reader.see(await read());
    expect([reader.isDue(), (await read()).followedAt]).toEqual([false, start]);
    await clock.advance(1);
    expect(reader.isDue()).toBe(true);
    await quests.update(ID, { status: 'running' });
    await reader.see(await read());
    expect([reader.isDue(), (await read()).followedAt]).toEqual([false, clock.now()]);
  });

  it('lets the mark of another reader stand for its own', async () => {
    const { clock, quests, other, read } = await setUp();
    const marked = clock.now();
    await quests.update(ID, { followedAt: marked });
    await clock.advance(9999);
    const reader = other.follow(ID);
    await reader.see(await read());
    expect([reader.isDue(), (await read()).followedAt]).toEqual([false, marked]);
    await clock.advance(1);
    expect(reader.isDue()).toBe(true);
    await reader.see(await read());
    expect((await read()).followedAt).toBe(clock.now());
  });

  it('marks no quest that runs in its own process', async () => {
    const { worker, enter, read } = await setUp();
    const reader = worker.follow(ID);
    enter();
    await reader.see(await read());
    expect(await read()).not.toHaveProperty('followedAt');
  });

  it('trusts no mark of a clock that is ahead for longer than 10 seconds', async () => {
    const { clock, quests, other, read } = await setUp();
    await quests.update(ID, { followedAt: clock.now() + 60_000 });
    const reader = other.follow(ID);
    await reader.see(await read());
    expect(reader.isDue()).toBe(false);
    await clock.advance(10_000);
    expect(reader.isDue()).toBe(true);
  });

  it.each(['waiting', 'done', 'stopped'] as const)('marks no quest that is %s', async (status) => {
    const { quests, other, read } = await setUp();
    await quests.update(ID, { status });
    const reader = other.follow(ID);
    await reader.see(await read());
    expect(reader.isDue()).toBe(true);
    expect(await read()).not.toHaveProperty('followedAt');
  });

  it('marks the quest also when the publisher fails, and reports the failure', async () => {
    const error = new Error('away');
    const publisher: Publisher = {
      publish: () => Promise.reject(error),
      subscribe: async () => async () => undefined,
    };
    const { clock, other, read, incidents } = await setUp(publisher);
    await other.follow(ID).see(await read());
    await clock.advance(0);
    expect((await read()).followedAt).toBe(clock.now());
    expect(incidents).toEqual([{ operation: 'publish', requestId: '', error }]);
  });
});

it('asks workers to look for readers each second only without a shared publisher', async () => {
  const shared = await setUp();
  const alone = await setUp(createMemoryPublisher(), false);
  expect(shared.enter().lookEveryMs).toBe(Number.POSITIVE_INFINITY);
  expect(alone.enter().lookEveryMs).toBe(1000);
  const fixed = alone.worker.enterFixed(true);
  expect([fixed.lookEveryMs, fixed.isFollowed()]).toEqual([1000, true]);
  expect(alone.worker.enterFixed(false).isFollowed()).toBe(false);
});
