import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  CREDIT,
  crash,
  HELD,
  MODEL,
  openQuestRun,
  QUEST_ID,
  REQUEST,
} from '../../test/quest-run.ts';
import type { CreditLedger, HoldRequest } from '../ports/ledger.ts';
import { StorageUnavailable } from '../ports/store.ts';
import type { RunContext } from './run-context.ts';
import { stopQuest } from './transitions.ts';

const COST = 50_000;

/** A model call, charged for its answer. */
async function answerWhole(run: RunContext): Promise<void> {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
  await run.endStep(call, 'finished');
}

/** A ledger whose hold number `at` is replaced. */
function withHold(
  at: number,
  hold: (take: () => ReturnType<CreditLedger['hold']>) => ReturnType<CreditLedger['hold']>,
) {
  const asked: HoldRequest[] = [];
  const change = (ledger: CreditLedger): CreditLedger => ({
    ...ledger,
    hold(request) {
      asked.push(request);
      const take = () => ledger.hold(request);
      return asked.length === at ? hold(take) : take();
    },
  });
  return { asked, change };
}

describe('hold of a quest', () => {
  it('that is refused fails the quest, and nothing is left of it', async () => {
    const { asked, change } = withHold(0, (take) => take());
    const { start, read, balance } = await openQuestRun({ ledger: change });
    await start(async (run) => {
      await answerWhole(run);
      await run.payPrice(MODEL, CREDIT + 1);
      return { type: 'message' };
    });
    expect(await read()).toMatchObject({ type: 'error', errorCode: 'insufficient_credits', text: 'abcdefg' });
    expect([await balance(), asked.length]).toMatchObject([{ held: 0, posted: CREDIT - COST }, 2]);
  });

  it.each([true, false])(
    'is released at the end when the ledger gave no answer: taken %s',
    async (isTaken) => {
      for (const at of [1, 2]) {
        const { asked, change } = withHold(at, async (take) => {
          if (isTaken) await take();
          throw new Error('no answer');
        });
        const { start, read, balance, charges } = await openQuestRun({ ledger: change });
        await start(async (run) => {
          if (at === 2) await answerWhole(run);
          await run.pay(MODEL, REQUEST);
          return { type: 'message' };
        });
        const key = at === 1 ? QUEST_ID : `${QUEST_ID}:1:1`;
        expect(asked.at(-1)).toMatchObject({
          ...{ key, account: ACCOUNT, amount: 0, expiresAt: 1_000_000 },
          details: { operation: 'do-work', requestId: 'r', userId: 'ada' },
        });
        expect([await balance(), (await charges()).length]).toMatchObject([{ held: 0 }, at - 1]);
        expect(await read()).toMatchObject({ status: 'done', type: 'error' });
      }
    },
  );

  it('that cannot be released is reported, and the quest ends; without a store it is tried again', async () => {
    for (const error of [new Error('odd'), new StorageUnavailable('away')]) {
      const { change } = withHold(1, () => Promise.reject(new Error('no answer')));
      const { start, read, incidents } = await openQuestRun({
        ledger: (ledger) => {
          const changed = change(ledger);
          let count = 0;
          return {
            ...changed,
            hold(request) {
              count += 1;
              return count > 1 ? Promise.reject(error) : changed.hold(request);
            },
          };
        },
      });
      const ending = start(async (run) => {
        await run.pay(MODEL, REQUEST);
        return { type: 'message' };
      });
      if (error instanceof StorageUnavailable) await expect(ending).rejects.toBe(error);
      else await ending;
      const isDone = !(error instanceof StorageUnavailable);
      expect((await read()).status).toBe(isDone ? 'done' : 'running');
      const known = { operation: 'do-work', requestId: 'r', error };
      expect(incidents.filter((incident) => incident.error === error)).toEqual(isDone ? [known] : []);
    }
  });

  it('whose release fails is reported and expires, and the quest goes on', async () => {
    const error = new Error('odd');
    const { start, read, incidents, clock } = await openQuestRun({
      ledger: (ledger) => ({ ...ledger, release: () => Promise.reject(error) }),
    });
    await start(async (run) => {
      const call = await run.pay(MODEL, REQUEST);
      await call.release();
      return { type: 'message' };
    });
    expect((await read()).status).toBe('done');
    expect([incidents, clock.pending]).toEqual([[{ operation: 'do-work', requestId: 'r', error }], 0]);
  });

  it('is not taken for a later call when the quest was stopped meanwhile', async () => {
    const { asked, change } = withHold(0, (take) => take());
    const { start, quests, read, balance } = await openQuestRun({ ledger: change });
    await start(async (run) => {
      await answerWhole(run);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      await run.pay(MODEL, REQUEST);
      return { type: 'message' };
    });
    expect([asked.length, await balance()]).toMatchObject([1, { held: 0, posted: CREDIT - COST }]);
    expect(await read()).toMatchObject({ status: 'stopped', text: 'abcdefg', promptMeta: { credits: 0.05 } });
  });
});

it('leaves its hold to the next worker when it crashes during a call', async () => {
  const { run, lease, clock, balance } = await openQuestRun();
  void run(await lease(), async (context) => {
    await context.pay(MODEL, REQUEST);
    return crash();
  });
  await clock.advance(0);
  expect(await balance()).toMatchObject({ held: HELD });
});
