import { describe, expect, it } from 'vitest';
import { settle } from '../../test/delayed.ts';
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
import type { Store } from '../ports/store.ts';
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

/** A store whose updates have their effect late. */
function lateUpdates(store: Store, onUpdate = (): void => undefined): Store {
  return {
    ...store,
    collection(definition) {
      const collection = store.collection(definition);
      return {
        ...collection,
        async update(...args) {
          await settle();
          const updated = await collection.update(...args);
          onUpdate();
          return updated;
        },
      };
    },
  };
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
    expect([await read(), await balance(), incidents]).toMatchObject([
      { status: 'running' },
      { held: 0 },
      [],
    ]);
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

  it('by the loss of its lease ends after the write that it has begun', async () => {
    let updates = 0;
    let before = 0;
    const store = (own: Store) =>
      lateUpdates(own, () => {
        updates += 1;
      });
    const begin = async (run: RunContext) => {
      before = updates;
      void run.writer.save();
    };
    await interrupt('lease-lost', begin, { store });
    expect(updates - before).toBe(1);
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
      store: (store) => lateUpdates(store),
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

describe('quest that was stopped before its work', () => {
  it('is closed without a run and without a hold', async () => {
    const { run, lease, quests, read, stored, ended, services } = await openQuestRun();
    await stopQuest(quests, QUEST_ID, 'Enough.', 0);
    let ran = 0;
    services.ledger.hold = () => Promise.reject(new Error('not needed'));
    await run(await lease(), async () => {
      ran += 1;
      return DONE;
    });
    expect([ran, stored, ended]).toEqual([0, [await read()], []]);
    expect(await read()).toMatchObject({ status: 'stopped', explanation: 'Enough.' });
    expect(await read()).not.toHaveProperty('liveSince');
  });

  it('is not closed by the job from before a wait', async () => {
    const { run, lease, quests, stored } = await openQuestRun();
    await quests.update(QUEST_ID, { status: 'stopped', resumed: 1 });
    const job = await lease();
    await run(job, crash);
    expect(stored).toEqual([]);
    await run({ ...job, payload: { questId: QUEST_ID, resumed: 1 } }, crash);
    expect(stored).toHaveLength(1);
  });

  it('that is gone needs nothing', async () => {
    const { run, lease, quests, stored } = await openQuestRun();
    await quests.take(QUEST_ID);
    expect(await run(await lease(), crash)).toBeUndefined();
    expect(stored).toEqual([]);
  });
});
