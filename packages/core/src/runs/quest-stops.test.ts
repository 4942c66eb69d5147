import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  CREDIT,
  crash,
  HELD,
  MODEL,
  openQuestRun,
  QUEST_ID,
  type QuestRunOptions,
  REQUEST,
} from '../../test/quest-run.ts';
import { JobInterrupted } from '../jobs/interruption.ts';
import type { RunContext } from './run-context.ts';
import { QUEST_TEXTS } from './text-pieces.ts';
import { stopQuest } from './transitions.ts';

const COST = 50_000;
const DONE = { type: 'message' } as const;

async function speak(run: RunContext) {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.ask();
  call.meter.accept();
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
  return call;
}

/** A quest whose worker is interrupted after this work. */
async function interrupt(
  reason: 'lease-lost' | 'stopping',
  work: (run: RunContext) => Promise<unknown>,
  options?: QuestRunOptions,
) {
  const opened = await openQuestRun(options);
  const control = new AbortController();
  const end = await opened.run(
    await opened.lease(),
    async (run) => {
      await work(run);
      control.abort(new JobInterrupted(reason));
      run.signal.throwIfAborted();
      return DONE;
    },
    control.signal,
  );
  return { ...opened, end };
}

describe('work that is interrupted', () => {
  it('by a shutdown before its output goes back to the queue as if it had not run', async () => {
    const { end, read, balance, incidents } = await interrupt('stopping', (run) => run.pay(MODEL, REQUEST));
    expect(end).toEqual({ afterMs: 0, countAttempt: false });
    expect([await read(), await balance(), incidents]).toMatchObject([{ status: 'running' }, { held: 0 }, []]);
  });

  it('by a shutdown after some output ends with it', async () => {
    const { end, read, balance } = await interrupt('stopping', speak);
    expect(end).toBeUndefined();
    expect(await read()).toMatchObject({ status: 'done', type: 'message', text: 'abcdefg' });
    expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - COST });
  });

  it('by a shutdown after a charge without output fails, or ends as its kind says', async () => {
    const work = async (run: RunContext) => run.endStep(await run.pay(MODEL, REQUEST), 'finished');
    const failed = await interrupt('stopping', work);
    expect(await failed.read()).toMatchObject({ status: 'done', type: 'error' });
    const unfinished = { type: 'error', explanation: 'Interrupted.' } as const;
    const own = await interrupt('stopping', work, { task: { unfinished } });
    expect(await own.read()).toMatchObject(unfinished);
  });

  it('by the loss of its lease leaves everything to the next worker, at once', async () => {
    const { end, read, balance, clock } = await interrupt('lease-lost', speak);
    expect(end).toEqual({ afterMs: 0, countAttempt: true });
    expect([await read(), await balance()]).toMatchObject([{ status: 'running' }, { held: HELD }]);
    expect(clock.pending).toBe(0);
  });

  it('in its process only, through the quests that run there', async () => {
    const { start, runningQuests, quests, read } = await openQuestRun();
    await start(async (run) => {
      expect(runningQuests.read(await read())).toEqual({ text: '', toolPayloads: [] });
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      runningQuests.stop('other');
      expect(run.signal.aborted).toBe(false);
      runningQuests.stop(QUEST_ID);
      run.signal.throwIfAborted();
      return DONE;
    });
    expect(await read()).toMatchObject({ status: 'stopped' });
    expect(runningQuests.read(await read())).toBeUndefined();
  });
});

describe('quest that is stopped while it runs', () => {
  it('is closed with its text, charged as left, and shown to its readers', async () => {
    const { start, read, quests, stored, ended, balance, services, store, clock } = await openQuestRun({
      task: { isLive: true },
    });
    await start(async (run) => {
      await speak(run);
      await run.writer.save();
      run.writer.append('hij');
      await clock.advance(5000);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      run.writer.append('klm');
      await run.writer.save();
      run.signal.throwIfAborted();
      return DONE;
    });
    const quest = await read();
    expect(quest).toMatchObject({ status: 'stopped', text: 'abcdefghijklm', promptMeta: { credits: 0.05 } });
    expect(quest).not.toHaveProperty('liveSince');
    expect([stored, ended]).toMatchObject([[{ status: 'stopped', text: 'abcdefghijklm' }], []]);
    expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - COST });
    expect(await store.collection(QUEST_TEXTS).count({})).toBe(0);
    const events = await services.eventLog.read(QUEST_ID, 0);
    const text = events?.map(({ event }) => (event as { text?: string }).text ?? '').join('');
    expect(text).toBe('abcdefghijklm');
  });

  it('is charged for its input once the provider has accepted the call', async () => {
    for (const isAccepted of [true, false]) {
      const { start, quests, balance } = await openQuestRun();
      await start(async (run) => {
        const call = await run.pay(MODEL, REQUEST);
        if (isAccepted) call.meter.accept();
        await stopQuest(quests, QUEST_ID, 'Enough.', 0);
        await run.writer.save();
        run.signal.throwIfAborted();
        return DONE;
      });
      expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - (isAccepted ? 20_000 : 0) });
    }
  });

  it('at its end stays stopped, and is charged for the whole answer', async () => {
    const { start, read, quests, balance, ended } = await openQuestRun();
    await start(async (run) => {
      await speak(run);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      return DONE;
    });
    expect(await read()).toMatchObject({ status: 'stopped', text: 'abcdefg', promptMeta: { credits: 0.05 } });
    expect([await balance(), ended]).toMatchObject([{ held: 0, posted: CREDIT - COST }, []]);
  });

  it('at its end, without a charge, is closed with all that it has', async () => {
    const { start, read, quests, stored, ended } = await openQuestRun();
    await start(async (run) => {
      run.writer.append('abc');
      run.update({ answer: 'abc' });
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      return DONE;
    });
    expect(await read()).toMatchObject({ status: 'stopped', text: 'abc' });
    expect(await read()).not.toHaveProperty('liveSince');
    expect([stored, ended]).toMatchObject([[{ status: 'stopped', text: 'abc', answer: 'abc' }], []]);
  });

  it('goes no further after a call, whose charge is settled once', async () => {
    const { start, quests, charges, read } = await openQuestRun();
    let hasGoneOn = false;
    await start(async (run) => {
      const call = await speak(run);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      await run.endStep(call, 'finished');
      hasGoneOn = true;
      return DONE;
    });
    expect([hasGoneOn, await charges()]).toMatchObject([false, [{ amount: COST }]]);
    expect((await read()).promptMeta).toMatchObject({ credits: COST / 1e6 });
  });

  it('has its charge stored before it is settled', async () => {
    const notes: unknown[] = [];
    let look = async (): Promise<unknown> => undefined;
    const { start, read, quests } = await openQuestRun({
      ledger: (ledger) => ({
        ...ledger,
        async settle(...args) {
          notes.push(await look());
          return ledger.settle(...args);
        },
      }),
    });
    look = read;
    await start(async (run) => {
      await speak(run);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      return DONE;
    });
    expect(notes).toMatchObject([
      { status: 'stopped', text: 'abcdefg', notes: { due: [{ key: QUEST_ID, amount: COST }], steps: [] } },
    ]);
  });
});

describe('worker that has lost its quest', () => {
  it('to a newer worker writes, settles and releases nothing', async () => {
    const { start, read, quests, stored, ended, balance, charges, clock } = await openQuestRun();
    await start(async (run) => {
      await speak(run);
      await quests.update(QUEST_ID, { fence: 9 });
      return DONE;
    });
    expect([await read(), await balance()]).toMatchObject([{ status: 'running' }, { held: HELD }]);
    expect([await charges(), stored, ended, clock.pending]).toEqual([[], [], [], 0]);
  });

  it('that another one has ended leaves the money to it', async () => {
    const { start, quests, balance, stored } = await openQuestRun();
    await start(async (run) => {
      await speak(run);
      await quests.update(QUEST_ID, { status: 'done' });
      return DONE;
    });
    expect([await balance(), stored]).toMatchObject([{ held: HELD }, []]);
  });

  it('because its record is gone settles it only while it has the lease of its job', async () => {
    for (const hasLease of [true, false]) {
      const { start, quests, queue, balance, read } = await openQuestRun();
      await start(async (run) => {
        await speak(run);
        await quests.take(QUEST_ID);
        if (!hasLease) await queue.finish(run.lease);
        return DONE;
      });
      expect(await balance()).toMatchObject(hasLease ? { held: 0, posted: CREDIT - COST } : { held: HELD });
      expect(await read()).toBeUndefined();
    }
  });
});

it('is not run again for an old lease after the next worker has ended it', async () => {
  const { run, lease, takeOver, read } = await openQuestRun();
  const first = await lease();
  void run(first, crash);
  await run(await takeOver(), async () => DONE);
  expect(await read()).toMatchObject({ status: 'done', fence: 2 });
  expect(await run(first, crash)).toBeUndefined();
  expect(await read()).toMatchObject({ status: 'done', fence: 2 });
});

it('keeps the hold of the next worker when an old lease comes late', async () => {
  const { run, lease, takeOver, clock, balance } = await openQuestRun();
  const first = await lease();
  const second = await takeOver();
  void run(second, async (context) => {
    await speak(context);
    await context.writer.save();
    return crash();
  });
  await clock.advance(0);
  await run(first, crash);
  expect(await balance()).toMatchObject({ held: HELD, posted: CREDIT });
});

it('leaves nothing at the signal of its job, and is remote to its readers, after its end', async () => {
  const { run, lease, services } = await openQuestRun({ task: { isLive: true } });
  const control = new AbortController();
  const reader = services.liveFollowers.follow(QUEST_ID);
  await run(
    await lease(),
    async () => {
      expect(reader.isRemote).toBe(false);
      return DONE;
    },
    control.signal,
  );
  expect([getEventListeners(control.signal, 'abort'), reader.isRemote]).toEqual([[], true]);
});
