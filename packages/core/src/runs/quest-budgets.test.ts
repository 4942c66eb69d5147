import { describe, expect, it } from 'vitest';
import { TOKENS } from '../../test/paid-calls.ts';
import { CREDIT, MODEL, openQuestRun, REQUEST } from '../../test/quest-run.ts';
import { BUDGETS } from '../credits/budget-rules.ts';
import { REJECTED_USAGE } from '../models/usage-records.ts';
import type { RunContext } from './run-context.ts';

const DONE = { type: 'message' } as const;

async function speak(run: RunContext, entry = MODEL) {
  const call = await run.pay(entry, REQUEST);
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
  return call;
}

/** A quest under a budget of tokens. */
async function openBudgeted(amount: number, enforceCredits: boolean) {
  const opened = await openQuestRun({ enforceCredits });
  await opened.store.collection(BUDGETS).insert({ ...TOKENS, amount });
  return opened;
}

describe('budget of tokens', () => {
  it.each([true, false])(
    'counts the maximum of a call while it runs, with enforced credits: %s',
    async (enforced) => {
      // 2 tokens of input and 100 of output.
      for (const [amount, isPaid] of [
        [102, true],
        [101, false],
      ] as const) {
        const { start, read } = await openBudgeted(amount, enforced);
        await start(async (run) => {
          await run.endStep(await speak(run), 'finished');
          return DONE;
        });
        expect(await read()).toMatchObject(
          isPaid ? { type: 'message' } : { type: 'error', errorCode: 'budget_exceeded' },
        );
      }
    },
  );

  it('does not count calls with a key of the user, where it ignores them', async () => {
    const { start, read } = await openBudgeted(101, true);
    await start(async (run) => {
      await run.endStep(await speak(run, { ...MODEL, ownKey: true }), 'finished');
      return DONE;
    });
    expect(await read()).toMatchObject({ type: 'message' });
  });

  it('counts no tokens of work with a price', async () => {
    const { start, read } = await openBudgeted(1, true);
    await start(async (run) => {
      for (let count = 0; count < 3; count += 1) (await run.payPrice(MODEL, 20)).made(5, { images: 1 });
      return DONE;
    });
    expect(await read()).toMatchObject({ type: 'message' });
  });

  it('makes holds that cost nothing where credits are not enforced', async () => {
    const { start, read, balance, charges } = await openBudgeted(1000, false);
    await start(async (run) => {
      const call = await speak(run);
      expect(call.note()).toMatchObject({ isFree: true, hold: { amount: 0 } });
      await run.endStep(call, 'finished');
      const work = await run.payPrice(MODEL, 20);
      work.made(10, { images: 2 });
      await run.endStep(work, 'finished');
      return DONE;
    });
    expect((await balance()).posted).toBe(CREDIT);
    expect((await charges()).map(({ amount, usage }) => [amount, usage])).toEqual([
      [0, { images: 2 }],
      [0, { input: 2, output: 3 }],
    ]);
    expect((await read()).promptMeta).not.toHaveProperty('credits');
  });
});

describe('work with a price', () => {
  it('that finishes without a result is a charge of nothing', async () => {
    const { start, charges, balance } = await openQuestRun();
    await start(async (run) => {
      const work = await run.payPrice(MODEL, 20);
      await run.endStep(work, 'finished');
      const more = await run.payPrice(MODEL, 20);
      more.made(5, { images: 1 });
      await run.endStep(more, 'broken');
      return DONE;
    });
    expect((await charges()).map(({ amount, usage }) => [amount, usage])).toEqual([
      [5, { images: 1 }],
      [0, {}],
    ]);
    expect(await balance()).toMatchObject({ posted: CREDIT - 5, held: 0 });
  });
});

describe('model call', () => {
  it('counts what it has said in its record, for the worker that takes over', async () => {
    const { start, read } = await openQuestRun();
    await start(async (run) => {
      const call = await run.pay(MODEL, REQUEST);
      expect(call.note().call).toMatchObject({ spoken: 0, maxTokens: 100 });
      call.meter.record({ type: 'text', text: 'abc' });
      expect(call.note().call).toMatchObject({ spoken: 3 });
      expect(await call.left()).toBeUndefined();
      call.control.stop(new Error('stopped'));
      expect(call.control.signal.aborted).toBe(true);
      return DONE;
    });
    expect((await read()).type).toBe('message');
  });

  it('has a report of its usage that is not believed recorded', async () => {
    const { start, store, charges, clock } = await openQuestRun();
    await start(async (run) => {
      const call = await speak(run);
      call.meter.record({ type: 'usage', usage: { input: 1, output: 1_000_000 } });
      call.meter.record({ type: 'finish', reason: 'stop' });
      await run.endStep(call, 'finished');
      return DONE;
    });
    expect(await charges()).toMatchObject([{ usage: { input: 2, output: 3 } }]);
    await clock.advance(0);
    expect(await store.collection(REJECTED_USAGE).find({})).toMatchObject([{ model: 'm', count: 1 }]);
  });
});
