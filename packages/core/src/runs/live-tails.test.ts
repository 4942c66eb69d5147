import { createMemoryEventLog, createMemoryPublisher, createMemoryStore } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createEventExpiry } from './live-expiry.ts';
import { createLiveFollowers } from './live-followers.ts';
import { createLiveTails } from './live-tails.ts';
import { newQuest, QUESTS, type QuestRecord } from './records.ts';

const ID = 'q1';

async function setUp(more: Partial<QuestRecord> = {}) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const quest = newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, 0);
  await quests.insert({ ...quest, ...more });
  const services = {
    ...{ store, clock, publisher: createMemoryPublisher(), eventLog: createMemoryEventLog({ clock }) },
    onError: () => undefined,
  };
  const liveFollowers = createLiveFollowers(services, true);
  return { clock, quests, tails: createLiveTails({ ...services, liveFollowers }), liveFollowers };
}

describe('tails of a process', () => {
  it('are shared by the readers of a stream, until the last one leaves', async () => {
    const { tails, clock } = await setUp();
    const first = tails.open(ID);
    const second = tails.open(ID);
    const other = tails.open('q2');
    expect([first.tail === second.tail, first.tail === other.tail]).toEqual([true, false]);
    other.close();
    first.close();
    await clock.advance(0);
    expect([first.tail.isReady(), tails.open(ID).tail === first.tail]).toEqual([true, true]);
    second.close();
    tails.open(ID).close();
    const again = tails.open(ID);
    expect(again.tail === first.tail).toBe(true);
    again.close();
    again.close();
    const fresh = tails.open(ID);
    expect(fresh.tail === first.tail).toBe(false);
    fresh.close();
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  it('begin again for work that has ended, and leave those before alone', async () => {
    const { tails, clock, quests } = await setUp();
    const first = tails.open(ID);
    await quests.update(ID, { status: 'done' });
    await clock.advance(2000);
    expect(first.tail.isOver()).toBe(true);
    const second = tails.open(ID);
    expect(second.tail === first.tail).toBe(false);
    first.close();
    const third = tails.open(ID);
    expect(third.tail === second.tail).toBe(true);
    second.close();
    third.close();
  });

  it.each<[QuestRecord['status'], boolean, boolean]>([
    ['pending', false, false],
    ['running', false, false],
    ['waiting', true, false],
    ['done', false, true],
    ['stopped', false, true],
  ])('know the phase of a quest that is %s', async (status, isWaiting, isOver) => {
    const { tails, clock } = await setUp({ status });
    const { tail, close } = tails.open(ID);
    await clock.advance(0);
    expect([tail.isWaiting(), tail.isOver()]).toEqual([isWaiting, isOver]);
    close();
  });

  it('are over for a quest that is gone', async () => {
    const { tails, clock } = await setUp();
    const { tail, close } = tails.open('gone');
    await clock.advance(0);
    expect(tail.isOver()).toBe(true);
    close();
  });

  it('mark a quest in another process as followed, while they are open', async () => {
    const { tails, clock, quests, liveFollowers } = await setUp({ status: 'running' });
    const { tail, close } = tails.open(ID);
    await clock.advance(0);
    expect([tail.isRemote(), (await quests.get(ID))?.followedAt]).toEqual([true, clock.now()]);
    const run = liveFollowers.enter({ id: ID }, false, async () => undefined);
    expect([run.isFollowed(), tail.isRemote()]).toEqual([true, false]);
    close();
    expect(run.isFollowed()).toBe(false);
  });

  it('ask other work whether it has ended, and follow no quest', async () => {
    const { tails, clock, quests } = await setUp({ status: 'running' });
    let hasEnded = false;
    const { tail, close } = tails.open(ID, async () => hasEnded);
    await clock.advance(1000);
    expect([tail.isReady(), tail.isOver(), tail.isRemote()]).toEqual([true, false, false]);
    expect(await quests.get(ID)).not.toHaveProperty('followedAt');
    hasEnded = true;
    await clock.advance(2000);
    expect(tail.isOver()).toBe(true);
    close();
  });
});

it('stops the readers of a process at its shutdown, apart from those that have left', async () => {
  const { tails } = await setUp();
  const stopped: number[] = [];
  const removals = [1, 2, 3].map((id) => tails.add(() => void stopped.push(id)));
  removals[1]?.();
  tails.dismiss();
  expect(stopped).toEqual([1, 3]);
});

it('expires events each minute', async () => {
  let calls = 0;
  const task = createEventExpiry({ eventLog: { expire: async () => (calls += 1) } as never });
  await task.run();
  expect([task.name, task.everyMs, calls]).toEqual(['expire-events', 60_000, 1]);
});
