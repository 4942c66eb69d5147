import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { writeAll } from '../ports/write-all.ts';
import { newQuest, QUESTS, type QuestRecord } from './records.ts';
import {
  abandonQuest,
  claimQuest,
  closeStopped,
  decideCalls,
  endQuest,
  getFence,
  pauseQuest,
  saveProgress,
  saveStopped,
  stopQuest,
  writeEnd,
  writeProgress,
} from './transitions.ts';

const ID = 'q1';
const THEN = 1000;
const NOW = 5000;
/** The year 275760: no sweep reaches it. */
const WAITING = 8_640_000_000_000_000;
const HOLDER = { id: 'job', fence: 2 };
const OTHERS = [
  { id: 'job', fence: 1 },
  { id: 'job', fence: 3 },
  { id: 'other', fence: 2 },
];
const CALL = { id: '1.0', tool: 'mail', kind: 'approval', input: {} } as const;
const DECIDED = { ...CALL, decision: { type: 'approve' } } as const;
const TAKEN = { id: '1.0', type: 'approve', digest: 'd' } as const;
const WAIT = { calls: [CALL], sealedState: 'sealed', lastEvent: 3 };

/** A store with one quest. */
async function setUp(more: Partial<QuestRecord> = {}) {
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const quest = {
    ...newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, THEN),
    ...more,
  };
  await quests.insert(quest);
  return { store, quests, quest, read: () => quests.get(ID) as Promise<QuestRecord> };
}

const RUNNING = { status: 'running', jobId: HOLDER.id, fence: HOLDER.fence } as const;

describe('claim of a quest', () => {
  it.each<[string, Partial<QuestRecord>, boolean]>([
    ['that is new', {}, true],
    ['of an earlier lease', { ...RUNNING, fence: 1 }, true],
    ['of the same lease', RUNNING, false],
    ['of a later lease', { ...RUNNING, fence: 3 }, false],
    ['of a job that was lost', { ...RUNNING, jobId: 'lost', fence: 9 }, true],
    ['of a job after a wait', { ...RUNNING, jobId: 'later', fence: getFence(1, 1) }, false],
    ['that goes on after a wait', { status: 'pending', fence: getFence(0, 1) }, false],
    ['that waits', { status: 'waiting', fence: 1 }, false],
    ['that is done', { status: 'done', jobId: 'job', fence: 1 }, false],
    ['that was stopped', { status: 'stopped', fence: 1 }, false],
  ])('%s', async (_name, before, isClaimed) => {
    const { quests, read } = await setUp(before);
    const claimed = await claimQuest(quests, ID, HOLDER, NOW);
    expect(claimed !== undefined).toBe(isClaimed);
    if (isClaimed) expect(await read()).toMatchObject({ ...RUNNING, updatedAt: NOW, liveSince: THEN });
    else expect(await read()).toMatchObject({ ...before, updatedAt: THEN });
  });

  it('after a wait belongs to the job after the wait, whatever fence the job before had', async () => {
    const { quests } = await setUp({ status: 'pending', fence: getFence(0, 1) });
    expect(await claimQuest(quests, ID, { id: 'before', fence: 999_999 }, NOW)).toBeUndefined();
    const after = { id: 'after', fence: getFence(1, 1) };
    expect(await claimQuest(quests, ID, after, NOW)).toMatchObject({ jobId: 'after', fence: 1_000_001 });
  });

  it('of a lost job is possible up to its fences of this wait', async () => {
    const holder = { id: 'job', fence: getFence(1, 1) };
    for (const [fence, isClaimed] of [
      [getFence(999_999, 1), true],
      [getFence(0, 2), false],
    ] as const) {
      const { quests } = await setUp({ status: 'running', jobId: 'lost', fence });
      expect((await claimQuest(quests, ID, holder, NOW)) !== undefined).toBe(isClaimed);
    }
  });
});

describe('wait of a quest', () => {
  it('begins without a holder, and keeps what was paid', async () => {
    const { quests, read } = await setUp({ ...RUNNING, notes: { due: [] } });
    const paid = [{ key: 'k', account: 'a', details: {} as never, amount: 5, usage: {} }];
    expect(await pauseQuest(quests, ID, HOLDER, { text: 'So far', paid, wait: WAIT }, NOW)).toBeDefined();
    const quest = await read();
    expect(quest).toMatchObject({ status: 'waiting', text: 'So far', paid, wait: WAIT, fence: 2 });
    expect(quest).toMatchObject({ liveSince: WAITING, updatedAt: NOW });
    expect(quest).not.toHaveProperty('jobId');
    expect(quest).not.toHaveProperty('notes');
  });

  it('goes on with the last decision, for a new job', async () => {
    const wait = { ...WAIT, calls: [CALL, { ...CALL, id: '1.1' }] };
    const { quests, quest, read } = await setUp({
      ...{ status: 'waiting', fence: 2, liveSince: WAITING, wait, text: 'abc' },
    });
    const first = [DECIDED, { ...CALL, id: '1.1' }];
    expect(await decideCalls(quests, { ...quest, wait }, first, [TAKEN], NOW)).toBeDefined();
    const waiting = await read();
    expect(waiting).toMatchObject({ status: 'waiting', fence: 3, liveSince: WAITING, updatedAt: NOW });
    expect(waiting).toMatchObject({ wait: { ...WAIT, calls: first }, decided: [TAKEN] });
    expect(waiting).not.toHaveProperty('resumed');
    expect(waiting).not.toHaveProperty('lastWait');
    // It was read before the first decision.
    expect(await decideCalls(quests, { ...quest, wait }, first, [TAKEN], NOW)).toBeUndefined();
    const all = [DECIDED, { ...DECIDED, id: '1.1' }];
    const more = { ...TAKEN, id: '1.1' };
    expect(await decideCalls(quests, { ...waiting, wait }, all, [more], NOW + 1)).toBeDefined();
    expect(await read()).toMatchObject({
      ...{ status: 'pending', resumed: 1, fence: 1_000_000, liveSince: NOW + 1, updatedAt: NOW + 1 },
      ...{ decided: [TAKEN, more], wait: { ...WAIT, calls: all }, lastWait: { lastEvent: 3, textLength: 3 } },
    });
  });

  it('goes on each time with greater fences, and not after it was stopped', async () => {
    const wait = WAIT;
    const { quests, quest, read } = await setUp({ status: 'waiting', fence: 1_000_001, resumed: 1, wait });
    expect(await decideCalls(quests, { ...quest, wait }, [DECIDED], [TAKEN], NOW)).toBeDefined();
    expect(await read()).toMatchObject({
      ...{ status: 'pending', resumed: 2, fence: 2_000_000 },
      lastWait: { lastEvent: 3, textLength: 0 },
    });
    const stopped = await setUp({ status: 'stopped', fence: 2, wait });
    const late = { ...stopped.quest, wait };
    expect(await decideCalls(stopped.quests, late, [DECIDED], [TAKEN], NOW)).toBeUndefined();
  });
});

const WRITES: readonly (readonly [
  name: string,
  write: (store: Awaited<ReturnType<typeof setUp>>, holder: typeof HOLDER) => Promise<unknown>,
])[] = [
  ['saves', ({ quests }, holder) => saveProgress(quests, ID, holder, { text: 'x' }, NOW)],
  [
    'saves among other writes',
    async ({ store }, holder) =>
      (await writeAll(store, [writeProgress(ID, holder, { text: 'x' }, NOW)])) || undefined,
  ],
  ['ends', ({ quests }, holder) => endQuest(quests, ID, holder, { type: 'message', text: 'x' }, NOW)],
  [
    'ends among other writes',
    async ({ store, quest }, holder) =>
      (await writeAll(store, [writeEnd(quest, holder, { type: 'message', text: 'x' }, NOW).write])) ||
      undefined,
  ],
  [
    'pauses',
    ({ quests }, holder) => pauseQuest(quests, ID, holder, { text: 'x', paid: [], wait: WAIT }, NOW),
  ],
  ['abandons', ({ quests }, holder) => abandonQuest(quests, ID, holder, 'Gone.', NOW, undefined)],
];

describe.each(WRITES)('the worker of the newest lease %s', (name, write) => {
  it('a quest that runs, and no other worker does', async () => {
    for (const other of OTHERS) {
      const one = await setUp(RUNNING);
      expect(await write(one, other)).toBeUndefined();
      expect(await one.read()).toEqual(one.quest);
    }
    const one = await setUp(RUNNING);
    expect(await write(one, HOLDER)).toBeDefined();
    expect(await one.read()).toMatchObject({ updatedAt: NOW, ...(name !== 'abandons' && { text: 'x' }) });
  });

  it.each(['pending', 'waiting', 'done', 'stopped'] as const)('no quest that is %s', async (status) => {
    const one = await setUp({ ...RUNNING, status });
    expect(await write(one, HOLDER)).toBeUndefined();
    expect(await one.read()).toEqual(one.quest);
  });
});

describe('end of a quest', () => {
  it('leaves nothing of its run, in the record and in what was announced as the record', async () => {
    const begun = { ...RUNNING, notes: { due: [] }, wait: WAIT, text: 'Half' };
    const { store, quest, read } = await setUp(begun);
    const { write, ended } = writeEnd(quest, HOLDER, { type: 'message', text: 'Whole' }, NOW);
    expect(await writeAll(store, [write])).toBe(true);
    expect(await read()).toMatchObject({ status: 'done', text: 'Whole', updatedAt: NOW, jobId: HOLDER.id });
    for (const field of ['liveSince', 'notes', 'wait']) expect(await read()).not.toHaveProperty(field);
    expect(Object.entries(ended)).toEqual(Object.entries(await read()));
  });

  it('by a worker whose target was deleted shows what it has used', async () => {
    const { quests, read } = await setUp(RUNNING);
    const promptMeta = { model: 'm' };
    await abandonQuest(quests, ID, HOLDER, 'Gone.', NOW, promptMeta);
    expect(await read()).toMatchObject({ status: 'stopped', explanation: 'Gone.', promptMeta });
    expect(await read()).not.toHaveProperty('liveSince');
  });
});

describe('stop of a quest', () => {
  it.each(['pending', 'running', 'waiting'] as const)('that is %s', async (status) => {
    const { quests, read } = await setUp({ status, wait: WAIT, liveSince: WAITING });
    expect(await stopQuest(quests, ID, 'Enough.', NOW)).toBeDefined();
    const quest = await read();
    expect(quest).toMatchObject({
      status: 'stopped',
      explanation: 'Enough.',
      liveSince: NOW,
      updatedAt: NOW,
    });
    expect(quest).not.toHaveProperty('wait');
  });

  it.each(['done', 'stopped'] as const)('changes nothing when it is %s', async (status) => {
    const { quests, quest, read } = await setUp({ status });
    expect(await stopQuest(quests, ID, 'Enough.', NOW)).toBeUndefined();
    expect(await read()).toEqual(quest);
  });

  it('is saved by its own worker only, before it is closed', async () => {
    const saved = { text: 'Half', notes: { due: [] } };
    const stopped = { ...RUNNING, status: 'stopped' } as const;
    for (const other of OTHERS) {
      const { quests } = await setUp(stopped);
      expect(await saveStopped(quests, ID, other, saved)).toBeUndefined();
    }
    const { quests, read } = await setUp(stopped);
    expect(await saveStopped(quests, ID, HOLDER, saved)).toBeDefined();
    expect(await read()).toMatchObject({ status: 'stopped', ...saved });
    await closeStopped(quests, ID, {});
    expect(await saveStopped(quests, ID, HOLDER, saved)).toBeUndefined();
    const running = await setUp(RUNNING);
    expect(await saveStopped(running.quests, ID, HOLDER, saved)).toBeUndefined();
  });

  it('is closed once, and keeps the text that is there', async () => {
    const { quests, read } = await setUp({ ...RUNNING, status: 'stopped', text: 'Half' });
    expect(await closeStopped(quests, ID, {})).toBeDefined();
    expect(await read()).toMatchObject({ text: 'Half', status: 'stopped' });
    expect(await read()).not.toHaveProperty('promptMeta');
    expect(await read()).not.toHaveProperty('liveSince');
    expect(await closeStopped(quests, ID, { text: 'Late' })).toBeUndefined();
    expect(await read()).toMatchObject({ text: 'Half' });
  });

  it('is closed with its text and its usage, also where it never ran', async () => {
    const { quests, read } = await setUp({ status: 'stopped' });
    const progress = { text: 'Half', promptMeta: { model: 'm' } };
    expect(await closeStopped(quests, ID, progress)).toMatchObject(progress);
    expect(await read()).toMatchObject(progress);
    const running = await setUp(RUNNING);
    expect(await closeStopped(running.quests, ID, progress)).toBeUndefined();
  });
});
