import { describe, expect, it } from 'vitest';
import { ACCOUNT, CREDIT, crash, HELD, MODEL, openCrashed, QUEST_ID, REQUEST } from '../../test/quest-run.ts';
import type { HoldRequest } from '../ports/ledger.ts';
import { StorageUnavailable } from '../ports/store.ts';
import type { RunContext } from './run-context.ts';
import { QUEST_TEXTS } from './text-pieces.ts';
import { stopQuest } from './transitions.ts';

const COST = 50_000;
const ANSWER = { type: 'message' } as const;

/** A call with 7 characters, which count as 3 tokens. */
async function speak(run: RunContext) {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
  return call;
}

describe('quest of a crashed worker', () => {
  it('runs again when it had no output, with holds of its own', async () => {
    const { recover, balance, charges, ran, read } = await openCrashed(async (run) => {
      await run.pay(MODEL, REQUEST);
    });
    await recover(async (run) => {
      // The hold of the first worker is free again.
      expect(await balance()).toMatchObject({ held: 0 });
      const call = await speak(run);
      expect(await balance()).toMatchObject({ held: HELD });
      expect((await read()).notes?.steps).toMatchObject([{ key: `${QUEST_ID}:2:0`, isIntended: true }]);
      await run.endStep(call, 'finished');
      return ANSWER;
    });
    expect([ran.length, await charges()]).toMatchObject([1, [{ amount: COST }]]);
    expect(await balance()).toMatchObject({ posted: CREDIT - COST, held: 0 });
    expect(await read()).toMatchObject({ status: 'done', text: 'abcdefg', fence: 2 });
  });

  it('is charged for the output that is stored, which is the answer', async () => {
    const { recover, balance, charges, ran, read, stored, store } = await openCrashed(async (run, clock) => {
      await speak(run);
      await run.writer.save();
      run.writer.append('hijklmn');
      await clock.advance(5000);
    });
    const texts = store.collection(QUEST_TEXTS);
    expect(await texts.count({})).toBe(1);
    await recover();
    expect([ran, await texts.count({})]).toEqual([[], 0]);
    expect(await charges()).toMatchObject([{ amount: COST, usage: { input: 2, output: 3 } }]);
    expect(await balance()).toMatchObject({ posted: CREDIT - COST, held: 0 });
    expect(await read()).toMatchObject({
      ...{ status: 'done', type: 'message', text: 'abcdefghijklmn' },
      promptMeta: { model: 'm', credits: COST / 1e6 },
    });
    expect(await read()).not.toHaveProperty('notes');
    expect(stored).toEqual([await read()]);
  });

  it('is charged once for a charge that is stored, settled or not', async () => {
    for (const isSettled of [true, false]) {
      const { recover, balance, charges, ran, read } = await openCrashed(
        async (run) => {
          const call = await speak(run);
          await run.endStep(call, 'finished');
        },
        {
          ledger: (ledger) => {
            let settlements = 0;
            return {
              ...ledger,
              settle(...args) {
                settlements += 1;
                return isSettled || settlements > 1
                  ? ledger.settle(...args)
                  : Promise.resolve({ charged: COST } as never);
              },
            };
          },
        },
      );
      await recover();
      expect([ran, (await charges()).map(({ amount }) => amount)]).toEqual([[], [COST]]);
      expect(await balance()).toMatchObject({ posted: CREDIT - COST, held: 0 });
      expect(await read()).toMatchObject({ status: 'done', text: 'abcdefg', promptMeta: { credits: 0.05 } });
    }
  });

  it('without enforced credits keeps its usage', async () => {
    const { recover, read, charges } = await openCrashed(
      async (run) => run.endStep(await speak(run), 'finished'),
      { enforceCredits: false },
    );
    await recover();
    expect(await charges()).toMatchObject([{ amount: 0, usage: { output: 3 } }]);
    const promptMeta = { model: 'm', usage: { inputTokens: 2, outputTokens: 3 } };
    expect((await read()).promptMeta).toEqual(promptMeta);
    const open = await openCrashed(
      async (run) => {
        await speak(run);
        await run.writer.save();
      },
      { enforceCredits: false },
    );
    await open.recover();
    expect((await open.read()).promptMeta).toEqual(promptMeta);
  });

  it('is recovered again when its holds cannot be released', async () => {
    const error = new StorageUnavailable('away');
    for (const isTaken of [true, false]) {
      let isAway = false;
      const { recover, read } = await openCrashed(
        async (run) => {
          await run.endStep(await speak(run), 'finished');
          await run.pay(MODEL, REQUEST);
          if (isTaken) await run.writer.save();
          isAway = true;
        },
        {
          ledger: (ledger) => ({
            ...ledger,
            release: (hold) => (isAway ? Promise.reject(error) : ledger.release(hold)),
          }),
        },
      );
      await expect(recover()).rejects.toBe(error);
      expect((await read()).status).toBe('running');
    }
  });

  it('blocks the first hold, which may come late, under its own account', async () => {
    const asked: HoldRequest[] = [];
    const { recover } = await openCrashed(async () => undefined, {
      ledger: (ledger) => ({
        ...ledger,
        hold(request) {
          asked.push(request);
          return ledger.hold(request);
        },
      }),
    });
    await recover();
    expect(asked).toMatchObject([
      {
        ...{ key: QUEST_ID, account: ACCOUNT, amount: 0 },
        details: { operation: 'do-work', requestId: 'r', userId: 'ada' },
      },
    ]);
  });

  it('releases the hold of a later call without output', async () => {
    const { recover, balance, charges, read } = await openCrashed(async (run) => {
      await run.endStep(await speak(run), 'finished');
      await run.pay(MODEL, REQUEST);
      await run.writer.save();
    });
    expect(await balance()).toMatchObject({ held: HELD });
    await recover();
    expect([await balance(), (await charges()).length]).toMatchObject([{ held: 0 }, 1]);
    expect((await read()).status).toBe('done');
  });

  it('releases the hold that it had announced, and no other', async () => {
    const { recover, balance, ledger, read } = await openCrashed(async (run) => {
      await run.endStep(await speak(run), 'finished');
      await run.pay(MODEL, REQUEST);
    });
    const other = await ledger.hold({
      ...{ account: ACCOUNT, amount: 5, key: 'other', expiresAt: 1e15 },
      details: { operation: 'x', userId: 'ada', requestId: 'x' },
    });
    expect(other.outcome).toBe('held');
    expect((await read()).notes?.steps).toMatchObject([{ isIntended: true }]);
    await recover();
    expect(await balance()).toMatchObject({ held: 5 });
  });

  it('that has decided its end ends so', async () => {
    const { recover, read } = await openCrashed(async (run) => {
      await run.writer.save({ notes: { outcome: { type: 'error', explanation: 'Too long.' } } });
    });
    await recover();
    expect(await read()).toMatchObject({ status: 'done', type: 'error', explanation: 'Too long.' });
  });

  it('fails after two workers without output, without a third run', async () => {
    const { recover, run, takeOver, read, ran, balance, clock } = await openCrashed(async (context) => {
      await context.pay(MODEL, REQUEST);
    });
    void run(await takeOver(), crash);
    await clock.advance(0);
    await recover();
    expect([ran, await balance()]).toMatchObject([[], { held: 0, posted: CREDIT }]);
    expect(await read()).toMatchObject({
      ...{ status: 'done', type: 'error', fence: 3 },
      explanation: expect.stringContaining('was interrupted'),
    });
    expect(await read()).not.toHaveProperty('promptMeta');
  });

  it('ends as its kind says, with what its kind restores', async () => {
    const { recover, read } = await openCrashed(
      async (run) => run.writer.save({ text: 'x' }).then(() => {}),
      {
        task: {
          unfinished: { type: 'error', explanation: 'Interrupted.' },
          restore: async () => ({ text: 'restored', output: '{}' }),
        },
      },
    );
    await recover();
    expect(await read()).toMatchObject({ type: 'error', explanation: 'Interrupted.', text: 'restored' });
  });

  it('keeps a result that it has, without a restoration', async () => {
    const { recover, read, quests } = await openCrashed(async () => undefined, {
      task: { restore: async () => ({ text: 'restored' }) },
    });
    await quests.update(QUEST_ID, { output: 'whole', text: 'mine' });
    await recover();
    expect(await read()).toMatchObject({ type: 'message', output: 'whole', text: 'mine' });
  });

  it('gives its readers what was stored', async () => {
    for (const isLive of [true, false]) {
      const { recover, services } = await openCrashed(
        async (run) => {
          await speak(run);
          await run.writer.save();
        },
        { task: { isLive } },
      );
      await recover();
      const events = await services.eventLog.read(QUEST_ID, 0);
      expect(events?.at(-1)?.event).toEqual(isLive ? { type: 'reset-step', text: 'abcdefg' } : undefined);
    }
  });

  it('that was stopped is closed with what was stored, and charged once', async () => {
    const { recover, quests, read, charges, balance, stored, ran, store } = await openCrashed(
      async (run, clock) => {
        await speak(run);
        await run.writer.save();
        run.writer.append('h');
        await clock.advance(5000);
      },
    );
    await stopQuest(quests, QUEST_ID, 'Enough.', 0);
    await recover();
    expect([ran, await charges()]).toMatchObject([[], [{ amount: COST }]]);
    expect(await balance()).toMatchObject({ held: 0 });
    expect(await read()).toMatchObject({
      status: 'stopped',
      text: 'abcdefgh',
      promptMeta: { credits: 0.05 },
    });
    expect([stored, await store.collection(QUEST_TEXTS).count({})]).toEqual([[await read()], 0]);
    expect(await read()).not.toHaveProperty('liveSince');
  });

  it('is closed when it is stopped while it is recovered, also after a wait', async () => {
    for (const resumed of [0, 1]) {
      const { recover, quests, read, stored, takeOver, run } = await openCrashed(
        async (context) => void (await context.writer.save({ text: 'x' })),
        { task: { restore: async () => stopQuest(quests, QUEST_ID, 'Enough.', 0).then(() => ({})) } },
      );
      if (resumed === 0) await recover();
      else {
        await quests.update(QUEST_ID, { resumed, fence: 1_000_001, jobId: 'earlier' });
        const job = await takeOver();
        await run({ ...job, payload: { questId: QUEST_ID, resumed } }, crash);
      }
      expect([(await read()).status, stored.length]).toEqual(['stopped', 1]);
      expect(await read()).not.toHaveProperty('liveSince');
    }
  });

  it('is left to a newer worker that has taken it over meanwhile', async () => {
    const { recover, quests, read, stored } = await openCrashed(
      async (run) => {
        await speak(run);
        await run.writer.save();
      },
      {
        task: { restore: async () => quests.update(QUEST_ID, { fence: 9 }).then(() => ({})) },
      },
    );
    await recover();
    expect([(await read()).status, stored]).toEqual(['running', []]);
  });
});
