import { describe, expect, it } from 'vitest';
import {
  CREDIT,
  MODEL,
  openQuestRun,
  QUEST_ID,
  type QuestRunOptions,
  REQUEST,
} from '../../test/quest-run.ts';
import { withEngineCharges, withEngineJobs, withWriteAll } from '../../test/whole-writes.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { type StoreWrite, writesTo } from '../ports/write-all.ts';
import { newQuest } from './records.ts';
import type { PlannedEnd, RunContext } from './run-context.ts';
import { QUEST_TEXTS } from './text-pieces.ts';
import { stopQuest } from './transitions.ts';

const COST = 50_000;
const DONE = { type: 'message' } as const;
const ANSWERS = defineCollection<StoredRecord>({ name: 'answers', columns: {}, unique: [], indexes: [] });
const written = [writesTo(ANSWERS).insert({ id: 'answer' })];

async function speak(run: RunContext): Promise<void> {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
}

/** A quest on an engine that writes all in one step. */
async function setUp(options: QuestRunOptions = {}) {
  const steps: (readonly StoreWrite[])[] = [];
  const settled: string[] = [];
  const opened = await openQuestRun({
    store: (store) => {
      const whole = withWriteAll(store);
      return {
        ...whole,
        writeAll(writes, more) {
          steps.push(writes);
          return whole.writeAll?.(writes, more) as Promise<boolean>;
        },
      };
    },
    queue: withEngineJobs,
    ledger: (ledger) => ({
      ...withEngineCharges(ledger),
      settle(hold, ...more) {
        settled.push(hold.id);
        return ledger.settle(hold, ...more);
      },
    }),
    ...options,
  });
  return {
    ...opened,
    settled,
    /** The kinds of writes of the last step. */
    lastStep: () => steps.at(-1)?.map((write) => write.do),
    countAnswers: () => opened.store.collection(ANSWERS).count({}),
    countJobs: async () => (await opened.queue.counts()).leased,
  };
}

/** Plans the answer, and what it expects. */
const plan = (run: RunContext, expected: PlannedEnd['expected'] = []): void =>
  run.planEnd(() => ({ expected, written }));

describe('quest that ends in one step', () => {
  it('is stored, charged and finished together, without its pieces', async () => {
    const { start, read, lastStep, countAnswers, countJobs, stored, ended, charges, ...one } = await setUp();
    const end = await start(async (run) => {
      await speak(run);
      await run.writer.save();
      run.writer.append('h');
      await one.clock.advance(5000);
      plan(run);
      return DONE;
    });
    expect(end).toBe('finished');
    expect(lastStep()).toEqual(['update', 'remove-where', 'insert', 'engine', 'engine']);
    expect(await read()).toMatchObject({
      ...{ status: 'done', text: 'abcdefgh', promptMeta: { credits: COST / 1e6 }, phases: { think: 0 } },
    });
    expect(await read()).not.toHaveProperty('notes');
    expect([await countAnswers(), await countJobs(), one.settled, stored]).toEqual([1, 0, [], []]);
    expect(ended).toEqual([await read()]);
    expect([await charges(), await one.balance()]).toMatchObject([[{ amount: COST }], { held: 0 }]);
    expect(await one.store.collection(QUEST_TEXTS).count({})).toBe(0);
  });

  it('is announced to those who wait for it', async () => {
    const { start, services, quests } = await setUp();
    const { signal } = new AbortController();
    const waiting = services.questEvents.untilEnded(quests, QUEST_ID, { timeoutMs: 1e6, signal });
    await start(async (run) => {
      plan(run);
      return DONE;
    });
    expect(await waiting).toMatchObject({ status: 'done' });
  });

  it('leaves the job to its worker where the queue is on another engine', async () => {
    const { start, lastStep, countJobs } = await setUp({ queue: (queue) => queue });
    const end = await start(async (run) => {
      plan(run);
      return DONE;
    });
    expect([end, lastStep(), await countJobs()]).toEqual([undefined, ['update', 'insert'], 1]);
  });

  it('counts the last plan, with the quest as it ends', async () => {
    const { start, countAnswers } = await setUp();
    const seen: string[] = [];
    await start(async (run) => {
      run.planEnd(() => undefined);
      run.planEnd((quest) => {
        seen.push(`${quest.status} ${quest.text}`);
        return { expected: [], written };
      });
      run.writer.append('abc');
      return DONE;
    });
    expect([seen, await countAnswers()]).toEqual([['done abc'], 1]);
  });
});

describe('quest that cannot end in one step', () => {
  it.each<[string, (run: RunContext) => void, QuestRunOptions]>([
    ['has no plan', () => undefined, {}],
    ['has a plan that needs a transaction', (run) => run.planEnd(() => undefined), {}],
    ['expects what is not so', (run) => plan(run, [writesTo(ANSWERS).expect('missing')]), {}],
    [
      'has a follow-up',
      plan,
      { task: { followUps: [{ applies: () => true, create: async () => undefined }] } },
    ],
    ['has a store without steps', plan, { store: (store) => store }],
  ])('because it %s ends in a transaction, after its charge', async (_name, prepare, options) => {
    const { start, read, stored, settled, charges, balance, ended, countAnswers } = await setUp(options);
    const end = await start(async (run) => {
      await speak(run);
      prepare(run);
      return DONE;
    });
    expect([end, (await read()).status, settled.length, await countAnswers()]).toEqual([
      undefined,
      'done',
      1,
      0,
    ]);
    expect([stored, ended]).toEqual([[await read()], [await read()]]);
    expect([await charges(), await balance()]).toMatchObject([[{ amount: COST }], { held: 0 }]);
  });

  it('because another follow-up applies only to other quests ends in one step', async () => {
    const other = newQuest({ id: 'n', kind: 'n', sessionId: 's', ownerId: 'a', request: {} as never }, 0);
    const { start, stored } = await setUp({
      task: { followUps: [{ applies: ({ type }) => type === 'error', create: async () => other }] },
    });
    const end = await start(async (run) => {
      plan(run);
      return DONE;
    });
    expect([end, stored]).toEqual(['finished', []]);
  });

  it('because it was stopped is closed, and charged once', async () => {
    const { start, quests, read, charges, balance, countAnswers, ended } = await setUp();
    await start(async (run) => {
      await speak(run);
      plan(run);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      return DONE;
    });
    expect(await read()).toMatchObject({ status: 'stopped', text: 'abcdefg', promptMeta: { credits: 0.05 } });
    expect([await charges(), await balance()]).toMatchObject([[{ amount: COST }], { held: 0 }]);
    expect([await countAnswers(), ended]).toEqual([0, []]);
  });
});

describe('charges of a quest that ends in one step', () => {
  it('that are several are settled before', async () => {
    const { start, settled, lastStep, balance } = await setUp();
    const end = await start(async (run) => {
      await speak(run);
      await speak(run);
      plan(run);
      return DONE;
    });
    expect([end, settled.length, lastStep()]).toEqual(['finished', 2, ['update', 'insert', 'engine']]);
    expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - 2 * COST });
  });

  it('are settled before by a ledger on another engine', async () => {
    const { start, balance, charges } = await setUp({ ledger: (ledger) => ledger });
    const end = await start(async (run) => {
      await speak(run);
      plan(run);
      return DONE;
    });
    expect([end, await charges(), await balance()]).toMatchObject([
      'finished',
      [{ amount: COST }],
      { held: 0 },
    ]);
  });

  it('without a hold are recorded before', async () => {
    const { start, charges } = await setUp({ enforceCredits: false });
    const end = await start(async (run) => {
      await speak(run);
      plan(run);
      return DONE;
    });
    expect([end, await charges()]).toMatchObject(['finished', [{ amount: 0, usage: { output: 3 } }]]);
  });

  it('wait until holds without an answer are released', async () => {
    let count = 0;
    const { start, balance, countAnswers } = await setUp({
      ledger: (ledger) => ({
        ...withEngineCharges(ledger),
        async hold(request) {
          count += 1;
          const outcome = await ledger.hold(request);
          if (count === 1) throw new Error('no answer');
          return outcome;
        },
      }),
    });
    const end = await start(async (run) => {
      await run.pay(MODEL, REQUEST).catch(() => undefined);
      plan(run);
      return DONE;
    });
    expect([end, await countAnswers(), await balance()]).toMatchObject(['finished', 1, { held: 0 }]);
  });
});
