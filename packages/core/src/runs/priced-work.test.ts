import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryQueue,
  createMemoryStore,
} from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createServices } from '../app/create-services.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { Hold } from '../ports/ledger.ts';
import type { LeasedJob } from '../ports/queue.ts';
import { createQuestHandler } from './handler.ts';
import { questJob } from './quest-job.ts';
import type { QuestTask } from './quest-task.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import { createRunningQuests } from './running.ts';
import { stopQuest } from './transitions.ts';

const QUEST_ID = 'q'.repeat(24);
const ACCOUNT = 'user:ada';
const ENTRY = { info: { id: 'painter' } } as CatalogueEntry;

/** A kind of quest that makes up to four images at 5 each. */
function painting(work: QuestTask['work']): QuestTask {
  return {
    kind: 'painting',
    operation: 'paint',
    concurrency: 1,
    phases: [],
    work,
    alongside: async () => undefined,
  };
}

async function createStudio() {
  const clock = createFakeClock(1_000_000);
  const ledger = createMemoryLedger({ clock });
  await ledger.grant({ account: ACCOUNT, amount: 100, key: 'start', reason: 'start' });
  const services = createServices(
    {
      store: createMemoryStore(),
      ledger,
      limiter: createMemoryLimiter(),
      queue: createMemoryQueue({ clock, ids: createFakeIds() }),
      models: [],
      clock,
      ids: createFakeIds(),
    },
    { jwtSecret: 'a'.repeat(64) },
  );
  const quests = services.store.collection(QUESTS);
  const quest: QuestRecord = {
    id: QUEST_ID,
    kind: 'painting',
    sessionId: 's',
    ownerId: 'ada',
    status: 'pending',
    type: 'message',
    request: { payer: { account: ACCOUNT, userId: 'ada' }, requestId: 'r' },
    createdAt: 0,
    updatedAt: 0,
  };
  await quests.insert(quest);
  await services.queue.enqueue(questJob(quest));
  const lease = () => services.queue.lease({ kinds: ['painting'], limit: 1, leaseMs: 60_000 });
  const [job] = await lease();
  const runJob = (leased: LeasedJob | undefined, work: QuestTask['work']) =>
    createQuestHandler(services, createRunningQuests(), painting(work)).run(
      leased as LeasedJob,
      new AbortController().signal,
      async () => undefined,
    );
  return {
    ledger,
    quests,
    run: (work: QuestTask['work']) => runJob(job, work),
    /** Another worker gets the job, because its lease has ended. */
    async takeOver() {
      await clock.advance(60_000);
      const [again] = await lease();
      await runJob(again, async () => ({ type: 'message' }));
    },
    balance: () => ledger.balance(ACCOUNT),
  };
}

describe('quest with a price per piece', () => {
  it('charges the produced pieces and releases the rest', async () => {
    const studio = await createStudio();
    await studio.run(async (run) => {
      const work = await run.payPrice(ENTRY, 20);
      expect(await studio.balance()).toMatchObject({ held: 20 });
      work.made(10, { images: 2 });
      run.update({ images: ['one', 'two'] });
      return { type: 'message' };
    });
    expect(await studio.quests.get(QUEST_ID)).toMatchObject({ status: 'done', images: ['one', 'two'] });
    expect(await studio.balance()).toMatchObject({ posted: 90, held: 0 });
    expect(await studio.ledger.charges({ account: ACCOUNT }, 10)).toMatchObject([
      { operation: 'paint', model: 'painter', status: 'settled', amount: 10, usage: { images: 2 } },
    ]);
  });

  it('is free when nothing came out', async () => {
    const studio = await createStudio();
    await studio.run(async (run) => {
      await run.payPrice(ENTRY, 20);
      throw new Error('the image provider failed');
    });
    expect(await studio.quests.get(QUEST_ID)).toMatchObject({ status: 'done', type: 'error' });
    expect(await studio.balance()).toMatchObject({ posted: 100, held: 0 });
  });

  it('fails with a message when the credit is insufficient', async () => {
    const studio = await createStudio();
    await studio.run(async (run) => {
      await run.payPrice(ENTRY, 101);
      return { type: 'message' };
    });
    expect(await studio.quests.get(QUEST_ID)).toMatchObject({
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
    });
  });

  it('charges the pieces that were produced before it was stopped', async () => {
    const studio = await createStudio();
    await studio.run(async (run) => {
      const work = await run.payPrice(ENTRY, 20);
      work.made(5, { images: 1 });
      await stopQuest(studio.quests, QUEST_ID, 'Enough.', 0);
      await run.writer.save();
      run.signal.throwIfAborted();
      return { type: 'message' };
    });
    expect(await studio.quests.get(QUEST_ID)).toMatchObject({ status: 'stopped' });
    expect(await studio.balance()).toMatchObject({ posted: 95, held: 0 });
  });

  it('reports the amount that another worker charged before', async () => {
    const studio = await createStudio();
    await studio.run(async (run) => {
      const work = await run.payPrice(ENTRY, 20);
      work.made(10, { images: 2 });
      await studio.ledger.settle(work.note().hold as Hold, 5, { images: 1 });
      await stopQuest(studio.quests, QUEST_ID, 'Enough.', 0);
      await run.writer.save();
      run.signal.throwIfAborted();
      return { type: 'message' };
    });
    expect(await studio.balance()).toMatchObject({ posted: 95, held: 0 });
    expect(await studio.quests.get(QUEST_ID)).toMatchObject({ promptMeta: { credits: 5 / 1e6 } });
  });

  it('reports its charge on a stopped quest that another worker has closed', async () => {
    const studio = await createStudio();
    await studio.run(async (run) => {
      const work = await run.payPrice(ENTRY, 20);
      work.made(10, { images: 2 });
      await stopQuest(studio.quests, QUEST_ID, 'Enough.', 0);
      await studio.takeOver();
      await run.writer.save();
      run.signal.throwIfAborted();
      return { type: 'message' };
    });
    expect(await studio.balance()).toMatchObject({ posted: 90, held: 0 });
    expect(await studio.quests.get(QUEST_ID)).toMatchObject({
      status: 'stopped',
      promptMeta: { credits: 10 / 1e6 },
    });
  });
});
