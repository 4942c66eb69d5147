import { describe, expect, it } from 'vitest';
import { settle } from '../../test/delayed.ts';
import { MODEL, openQuestRun, QUEST_ID, type QuestRunOptions, REQUEST } from '../../test/quest-run.ts';
import { withEngineCharges, withEngineEvents, withWriteAll } from '../../test/whole-writes.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { writesTo } from '../ports/write-all.ts';
import { getLiveTopic } from './live-event.ts';
import type { PlannedEnd, RunContext } from './run-context.ts';
import { stopQuest } from './transitions.ts';

const DONE = { type: 'message' } as const;
const ANSWERS = defineCollection<StoredRecord>({ name: 'answers', columns: {}, unique: [], indexes: [] });
const written = [writesTo(ANSWERS).insert({ id: 'answer' })];
const unmet = [writesTo(ANSWERS).expect('missing')];

const plan = (run: RunContext, expected: PlannedEnd['expected'] = []): void =>
  run.planEnd(() => ({ expected, written }));

async function speak(run: RunContext): Promise<void> {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
}

async function takeLong(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await settle();
}

/** A quest on an engine that writes all in one step, its events too. */
async function setUp(options: QuestRunOptions = {}) {
  /** Where the batches of events were written: in the step of the end, or by themselves. */
  const appended: string[] = [];
  const seen: unknown[] = [];
  const published: string[] = [];
  const opened = await openQuestRun({
    store: withWriteAll,
    ledger: (ledger) => ({
      ...withEngineCharges(ledger),
      async settle(...given) {
        // Longer than the end of the quest, and shorter than a batch of events.
        await takeLong(10);
        return ledger.settle(...given);
      },
    }),
    eventLog(eventLog) {
      const append =
        (where: string): typeof eventLog.append =>
        async (...given) => {
          appended.push(where);
          await takeLong(20);
          return eventLog.append(...given);
        };
      const { toAppend } = withEngineEvents({ ...eventLog, append: append('in the step') });
      return { ...eventLog, append: append('alone'), ...(toAppend && { toAppend }) };
    },
    ...options,
    task: {
      isLive: true,
      readFirst: () => ({ reads: [], getInput: () => undefined }),
      alongside: async () => void seen.push(await readTypes(), (await opened.charges()).length),
      ...options.task,
    },
  });
  const { services } = opened;
  await services.publisher.subscribe(getLiveTopic(QUEST_ID), (message) => published.push(message));
  const readTypes = async () =>
    (await services.eventLog.read(QUEST_ID, 0))?.map(
      ({ event }) => (event as { readonly type: string }).type,
    );
  return { ...opened, appended, seen, published, readTypes };
}

describe('events of a quest that ends in one step', () => {
  it('are written in this step, and announced', async () => {
    const { start, appended, readTypes, published } = await setUp();
    await start(async (run) => {
      await speak(run);
      plan(run);
      return DONE;
    });
    expect([appended, await readTypes()]).toEqual([['in the step'], ['text', 'usage']]);
    expect(published).toEqual(['2']);
  });

  it('come before the end, after the charge, where the step is refused', async () => {
    const { start, appended, seen, read } = await setUp();
    await start(async (run) => {
      await speak(run);
      plan(run, unmet);
      return DONE;
    });
    expect([(await read()).status, appended, seen]).toEqual(['done', ['alone'], [['text', 'usage'], 1]]);
  });

  it('follow those of a worker that has crashed', async () => {
    const { lease, takeOver, run, services, readTypes } = await setUp();
    await lease();
    await services.eventLog.append(QUEST_ID, {
      ...{ attempt: 1, after: 0, keepMs: 1e9 },
      events: [{ type: 'step', iteration: 1 }],
    });
    await run(await takeOver(), async (context) => {
      context.writer.append('abc');
      plan(context);
      return DONE;
    });
    expect(await readTypes()).toEqual(['step', 'reset-step']);
  });

  it('are written although the quest was stopped, and has several charges', async () => {
    const { start, read, quests, readTypes, balance } = await setUp();
    await start(async (run) => {
      await speak(run);
      await speak(run);
      plan(run);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      return DONE;
    });
    expect([(await read()).status, await readTypes(), await balance()]).toMatchObject([
      'stopped',
      ['text', 'usage'],
      { held: 0 },
    ]);
  });
});
