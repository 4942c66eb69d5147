import { describe, expect, it } from 'vitest';
import {
  CREDIT,
  MODEL,
  openQuestRun,
  QUEST_ID,
  type QuestRunOptions,
  REQUEST,
} from '../../test/quest-run.ts';
import { JobInterrupted } from '../jobs/interruption.ts';
import { questJob } from './quest-job.ts';
import type { QuestTask } from './quest-task.ts';
import type { RunContext } from './run-context.ts';
import { QUEST_TEXTS } from './text-pieces.ts';
import { decideCalls, stopQuest } from './transitions.ts';

const COST = 50_000;
const DONE = { type: 'message' } as const;
const CALL = { id: '1.0', tool: 'mail', kind: 'approval', input: { to: 'ada' } } as const;
const PAUSE = { calls: [CALL], sealedState: 'sealed' };

async function answer(run: RunContext): Promise<void> {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
  await run.endStep(call, 'finished');
}

/** A quest that waits after one charged answer. */
async function openWaiting(options: QuestRunOptions = {}) {
  const opened = await openQuestRun({ ...options, task: { isLive: true, ...options.task } });
  await opened.start(async (run) => {
    await answer(run);
    return PAUSE;
  });
  const { quests, queue, clock, run, lease, read } = opened;
  return {
    ...opened,
    /** The user decides, and the work goes on. */
    async goOn(work: QuestTask['work'], signal?: AbortSignal) {
      const quest = await read();
      const { wait } = quest;
      if (wait === undefined) throw new Error('it does not wait');
      const calls = [{ ...CALL, decision: { type: 'approve' as const } }];
      const pending = await decideCalls(quests, { ...quest, wait }, calls, [], clock.now());
      if (pending === undefined) throw new Error('not decided');
      await queue.enqueue(questJob(pending));
      let job = await lease();
      while (job.key === QUEST_ID) job = await lease();
      return run(job, work, signal);
    },
  };
}

describe('quest that waits for a decision', () => {
  it('holds nothing, keeps its charges, and shows what it waits for', async () => {
    const { read, balance, services, stored, ended, clock, store } = await openWaiting();
    const quest = await read();
    expect(quest).toMatchObject({
      ...{ status: 'waiting', text: 'abcdefg', promptMeta: { credits: COST / 1e6 } },
      ...{ wait: { ...PAUSE, lastEvent: 3 }, paid: [{ key: QUEST_ID, amount: COST }] },
      phases: { store: 0 },
    });
    expect([stored, ended, clock.pending]).toEqual([[], [], 0]);
    expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - COST });
    const events = await services.eventLog.read(QUEST_ID, 0);
    expect(events?.at(-1)).toEqual({ sequence: 3, event: { type: 'approval-requested', ...CALL } });
    expect(await store.collection(QUEST_TEXTS).count({})).toBe(0);
  });

  it('is announced to those who wait for it', async () => {
    const { start, services, quests } = await openQuestRun();
    const { signal } = new AbortController();
    const waiting = services.questEvents.untilEnded(quests, QUEST_ID, { timeoutMs: 1e6, signal });
    await start(async () => PAUSE);
    expect(await waiting).toMatchObject({ status: 'waiting' });
  });

  it('has its whole text in its record', async () => {
    const { start, read, clock, store } = await openQuestRun();
    await start(async (run) => {
      run.writer.append('a');
      await run.writer.save();
      run.writer.append('b');
      await clock.advance(5000);
      return PAUSE;
    });
    expect([(await read()).text, await store.collection(QUEST_TEXTS).count({})]).toEqual(['ab', 0]);
  });

  it('does not wait when it was stopped meanwhile', async () => {
    for (const isCharged of [true, false]) {
      const { start, read, quests, balance, stored } = await openQuestRun();
      await start(async (run) => {
        if (isCharged) {
          const call = await run.pay(MODEL, REQUEST);
          await run.endStep(call, 'finished');
        }
        await stopQuest(quests, QUEST_ID, 'Enough.', 0);
        return PAUSE;
      });
      expect(await read()).toMatchObject({ status: 'stopped' });
      expect([await balance(), stored.length]).toMatchObject([{ held: 0 }, 1]);
    }
  });
});

describe('quest that goes on after a wait', () => {
  it('has its text and its charges, its own holds, and events behind those before', async () => {
    const { goOn, read, balance, services } = await openWaiting();
    await goOn(async (run) => {
      expect([run.writer.text(), run.hasOutput(), run.hasCharges()]).toEqual(['abcdefg', false, false]);
      expect(run.getAllCharges()).toHaveLength(1);
      expect(run.job.fence).toBe(1_000_001);
      await run.leaveWait();
      expect(await read()).not.toHaveProperty('wait');
      expect(run.hasOutput()).toBe(true);
      await answer(run);
      expect(run.getAllCharges().map(({ key }) => key)).toEqual([QUEST_ID, `${QUEST_ID}:1000001:0`]);
      return DONE;
    });
    expect(await read()).toMatchObject({
      ...{ status: 'done', text: 'abcdefgabcdefg', promptMeta: { credits: (2 * COST) / 1e6 } },
    });
    expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - 2 * COST });
    const events = await services.eventLog.read(QUEST_ID, 3);
    expect(events?.map(({ event }) => (event as { type: string }).type)).toEqual(['text', 'usage']);
  });

  it('waits again, with all charges so far', async () => {
    const { goOn, read } = await openWaiting();
    await goOn(async (run) => {
      await run.leaveWait();
      await answer(run);
      return PAUSE;
    });
    expect(await read()).toMatchObject({
      ...{ status: 'waiting', wait: { lastEvent: 6 } },
      paid: [{ key: QUEST_ID }, { key: `${QUEST_ID}:1000001:0` }],
    });
  });

  it('is repeated after a shutdown before it has gone on, and ends with its text after', async () => {
    for (const hasLeft of [false, true]) {
      const control = new AbortController();
      const { goOn, read } = await openWaiting();
      const end = await goOn(async (run) => {
        if (hasLeft) await run.leaveWait();
        control.abort(new JobInterrupted('stopping'));
        run.signal.throwIfAborted();
        return DONE;
      }, control.signal);
      expect(end).toEqual(hasLeft ? undefined : { afterMs: 0, countAttempt: false });
      expect((await read()).status).toBe(hasLeft ? 'done' : 'running');
    }
  });

  it('does not go on when it was stopped', async () => {
    const { goOn, quests, read, balance } = await openWaiting();
    let hasLeft = false;
    await goOn(async (run) => {
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      await run.leaveWait();
      hasLeft = true;
      return DONE;
    });
    expect([hasLeft, await balance()]).toMatchObject([false, { held: 0, posted: CREDIT - COST }]);
    expect(await read()).toMatchObject({ status: 'stopped', text: 'abcdefg', promptMeta: { credits: 0.05 } });
  });
});

it('names the job of a quest by the waits before it', () => {
  const quest = { id: 'q', kind: 'k', ownerId: 'o' };
  expect(questJob(quest, { more: 1 })).toEqual({
    ...{ kind: 'k', key: 'q', owner: 'o', payload: { questId: 'q', more: 1 } },
  });
  expect(questJob({ ...quest, resumed: 2 }, { more: 1 })).toEqual({
    ...{ kind: 'k', key: 'q:2', owner: 'o', payload: { questId: 'q', resumed: 2, more: 1 } },
  });
});
