import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  CREDIT,
  HELD,
  MODEL,
  openQuestRun,
  QUEST_ID,
  type QuestRunOptions,
  REQUEST,
} from '../../test/quest-run.ts';
import { StorageUnavailable } from '../ports/store.ts';
import type { QuestRecord } from './records.ts';
import type { RunContext } from './run-context.ts';

/** 2 tokens of input and 3 of output. */
const COST = 50_000;
const USAGE = { input: 2, output: 3 };

/** A model call with an answer. @returns the step, which is still open. */
async function answer(run: RunContext, text = 'abcdefg') {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.ask();
  call.meter.accept();
  call.meter.record({ type: 'text', text });
  run.writer.append(text);
  return call;
}

async function answerWhole(run: RunContext): Promise<void> {
  const call = await answer(run);
  call.meter.record({ type: 'usage', usage: USAGE });
  call.meter.record({ type: 'finish', reason: 'stop' });
  await run.endStep(call, 'finished');
}

/** A ledger that notes the record of the quest at each of its calls. */
async function openWatched({ ledger = (own) => own, ...options }: QuestRunOptions = {}) {
  const noted: { readonly call: string; readonly key?: string | undefined; readonly quest: QuestRecord }[] =
    [];
  const keys = new Map<string, string>();
  let read = (): Promise<QuestRecord> => Promise.reject(new Error('not open yet'));
  const opened = await openQuestRun({
    ...options,
    ledger: (own) => ({
      ...own,
      async hold(request) {
        noted.push({ call: 'hold', key: request.key, quest: await read() });
        const outcome = await ledger(own).hold(request);
        if (outcome.outcome === 'held') keys.set(outcome.hold.id, request.key);
        return outcome;
      },
      async settle(hold, ...more) {
        noted.push({ call: 'settle', key: keys.get(hold.id), quest: await read() });
        return ledger(own).settle(hold, ...more);
      },
      async release(hold) {
        noted.push({ call: 'release', key: keys.get(hold.id), quest: await read() });
        return ledger(own).release(hold);
      },
    }),
  });
  ({ read } = opened);
  return { ...opened, noted };
}

describe('model call of a quest', () => {
  it('holds its maximum, and its charge is stored in the quest before it is settled', async () => {
    const { start, read, balance, charges, noted, clock } = await openWatched();
    const end = await start(async (run) => {
      expect(run.hasCharges()).toBe(false);
      const call = await answer(run);
      expect(await balance()).toMatchObject({ held: HELD, posted: CREDIT });
      call.meter.record({ type: 'usage', usage: USAGE });
      call.meter.record({ type: 'finish', reason: 'stop' });
      await run.endStep(call, 'finished');
      expect(run.hasCharges()).toBe(true);
      expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - COST });
      return { type: 'message' };
    });
    expect(end).toBeUndefined();
    const due = [{ key: QUEST_ID, amount: COST, usage: USAGE, account: ACCOUNT }];
    expect(noted.map(({ call, key }) => [call, key])).toEqual([
      ['hold', QUEST_ID],
      ['settle', QUEST_ID],
    ]);
    expect(noted[1]?.quest).toMatchObject({ status: 'running', text: 'abcdefg', notes: { due } });
    expect(noted[1]?.quest).toMatchObject({ promptMeta: { model: 'm' } });
    expect(await charges()).toMatchObject([
      { amount: COST, usage: USAGE, operation: 'do-work', requestId: 'r', model: 'm', userId: 'ada' },
    ]);
    expect(await read()).toMatchObject({
      status: 'done',
      promptMeta: { model: 'm', credits: COST / 1e6, usage: { inputTokens: 2, outputTokens: 3 } },
    });
    expect(await read()).not.toHaveProperty('notes');
    expect(clock.pending).toBe(0);
  });

  it('after the first is stored in the quest before its hold is taken', async () => {
    const { start, read, charges, noted } = await openWatched();
    await start(async (run) => {
      await answerWhole(run);
      await answerWhole(run);
      return { type: 'message' };
    });
    expect(noted.map(({ call, key }) => [call, key])).toEqual([
      ['hold', QUEST_ID],
      ['settle', QUEST_ID],
      ['hold', `${QUEST_ID}:1:1`],
      ['settle', `${QUEST_ID}:1:1`],
    ]);
    expect(noted[0]?.quest).not.toHaveProperty('notes');
    const step = { key: `${QUEST_ID}:1:1`, account: ACCOUNT, isIntended: true };
    expect(noted[2]?.quest.notes?.steps).toMatchObject([{ ...step, details: { operation: 'do-work' } }]);
    expect(noted[3]?.quest.notes?.due).toHaveLength(2);
    expect((await charges()).map(({ amount }) => amount)).toEqual([COST, COST]);
    expect(await read()).toMatchObject({
      promptMeta: { credits: (2 * COST) / 1e6, usage: { outputTokens: 6 } },
    });
  });

  it('without output is free, and can be repeated', async () => {
    const { start, balance, charges, noted, read } = await openWatched();
    await start(async (run) => {
      const call = await run.pay(MODEL, REQUEST);
      await run.endStep(call, 'broken');
      await run.endStep(call, 'finished');
      expect([run.hasCharges(), await balance()]).toMatchObject([false, { held: 0 }]);
      expect([run.operation, run.signal.aborted]).toEqual(['do-work', false]);
      const again = await run.pay(MODEL, REQUEST);
      await again.release();
      expect(await balance()).toMatchObject({ held: 0 });
      return { type: 'message' };
    });
    expect(noted.map(({ call }) => call)).toEqual(['hold', 'release', 'hold', 'release']);
    expect(await charges()).toEqual([]);
    expect((await read()).promptMeta).toEqual({ model: 'm' });
    expect(await read()).not.toHaveProperty('toolPayloads');
  });

  it('that is open when the work ends is charged as complete, and as broken when the work fails', async () => {
    for (const isFailed of [false, true]) {
      const { start, charges, balance, read, incidents, noted, runningQuests } = await openWatched({
        ledger: (ledger) => ({
          ...ledger,
          async settle(...args) {
            // It still runs, and can be stopped.
            shown.push(runningQuests.read(await read()));
            return ledger.settle(...args);
          },
        }),
      });
      const shown: unknown[] = [];
      await start(async (run) => {
        await answer(run);
        run.update({ answer: 'A' });
        if (isFailed) throw new Error('no');
        return { type: 'message' };
      });
      expect(shown).toEqual([{ text: 'abcdefg', toolPayloads: [] }]);
      // The next worker ends it as this one would have.
      const outcome = isFailed ? { type: 'error' } : { type: 'message' };
      expect(noted.at(-1)).toMatchObject({
        call: 'settle',
        quest: { text: 'abcdefg', answer: 'A', notes: { outcome, due: [{ key: QUEST_ID }] } },
      });
      expect(await charges()).toMatchObject([{ usage: { input: 2, output: 3 } }]);
      expect([await balance(), incidents.length]).toMatchObject([{ held: 0 }, isFailed ? 1 : 0]);
      expect((await read()).promptMeta).toMatchObject({ credits: COST / 1e6 });
    }
  });

  it('keeps its hold while it runs, however long', async () => {
    const { start, clock, balance, ledger } = await openQuestRun();
    await start(async (run) => {
      const call = await answer(run);
      await clock.advance(3_600_000);
      await ledger.sweep();
      expect(await balance()).toMatchObject({ held: HELD });
      await run.endStep(call, 'finished');
      return { type: 'message' };
    });
    expect([await balance(), clock.pending]).toMatchObject([{ held: 0, posted: CREDIT - COST }, 0]);
  });

  it('shows readers of the quest what was used', async () => {
    const { start, services } = await openQuestRun({ task: { isLive: true } });
    await start(async (run) => {
      await answerWhole(run);
      await answer(run);
      return { type: 'message' };
    });
    const events = await services.eventLog.read(QUEST_ID, 0);
    const used = events?.map(({ event }) => event as { type: string; credits?: number });
    expect(used?.filter(({ type }) => type === 'usage').map(({ credits }) => credits)).toEqual([
      COST / 1e6,
      (2 * COST) / 1e6,
    ]);
  });
});

describe('quest whose charge cannot be settled', () => {
  it.each([true, false])('is repeated, with enforced credits: %s', async (enforceCredits) => {
    const error = new StorageUnavailable('away');
    for (const isOpen of [true, false]) {
      const { start, read, stored } = await openQuestRun({
        enforceCredits,
        ledger: (own) => ({
          ...own,
          settle: () => Promise.reject(error),
          record: () => Promise.reject(error),
        }),
      });
      const ending = start(async (run) => {
        const call = await answer(run);
        if (!isOpen) await run.endStep(call, 'finished');
        return { type: 'message' };
      });
      await expect(ending).rejects.toBe(error);
      expect([(await read()).status, stored]).toEqual(['running', []]);
    }
  });
});

describe('quest without enforced credits', () => {
  it('records its usage, holds nothing and shows no credits', async () => {
    const { start, balance, charges, read, noted } = await openWatched({ enforceCredits: false });
    await start(async (run) => {
      await answerWhole(run);
      await answerWhole(run);
      const free = await run.pay(MODEL, REQUEST);
      expect(free.due('broken').amount).toBe(0);
      free.meter.record({ type: 'usage', usage: USAGE });
      expect(free.due('finished')).toMatchObject({ amount: 0, usage: USAGE });
      await free.release();
      return { type: 'message' };
    });
    expect(noted).toEqual([]);
    expect(await balance()).toMatchObject({ posted: CREDIT, held: 0 });
    expect(await charges()).toMatchObject([
      { amount: 0, usage: USAGE },
      { amount: 0, usage: USAGE },
    ]);
    expect((await read()).promptMeta).toEqual({ model: 'm', usage: { inputTokens: 4, outputTokens: 6 } });
  });
});
