import { describe, expect, it } from 'vitest';
import type { Hold } from '../ports/ledger.ts';
import type { LeasedJob } from '../ports/queue.ts';
import type { QuestRecord } from './records.ts';
import { describeCharges, hasBegun, hasRun } from './recovery.ts';

const ANSWER = { type: 'message' } as const;

describe('record of a quest', () => {
  const hold = { id: 'h', amount: 5 } as unknown as Hold;
  const charge = (amount: number, model?: string) =>
    ({
      ...{ key: `${amount}`, account: 'user:ada', hold, amount, usage: { output: amount } },
      details: { operation: 'x', userId: 'a', requestId: 'r', ...(model !== undefined && { model }) },
    }) as const;
  const quest = (more: Partial<QuestRecord>) => more as QuestRecord;
  const job = (fence: number) => ({ fence }) as LeasedJob;

  it('describes all charges, also those from before a wait, under the model that it had', () => {
    expect(describeCharges(quest({}), [])).toEqual({});
    expect(describeCharges(quest({ promptMeta: { model: 'm' } }), [])).toEqual({});
    expect(describeCharges(quest({}), [charge(2e6)])).toStrictEqual({});
    expect(describeCharges(quest({}), [charge(1e6, 'old'), charge(2e6, 'last')])).toEqual({
      promptMeta: { model: 'last', credits: 3, usage: { inputTokens: 0, outputTokens: 3e6 } },
    });
    const { hold: _, ...free } = charge(1e6, 'm');
    expect(describeCharges(quest({}), [free])).toEqual({
      promptMeta: { model: 'm', usage: { inputTokens: 0, outputTokens: 1e6 } },
    });
    expect(describeCharges(quest({}), [free, charge(2e6, 'm')]).promptMeta).toMatchObject({ credits: 3 });
    const paid = [charge(4e6, 'm')];
    expect(describeCharges(quest({ promptMeta: { model: 'first' }, paid }), [charge(1e6, 'm')])).toEqual({
      promptMeta: { model: 'first', credits: 5, usage: { inputTokens: 0, outputTokens: 5e6 } },
    });
  });

  it('shows whether another worker may have run it', () => {
    expect(hasRun(quest({}), job(1))).toBe(false);
    expect(hasRun(quest({}), job(2))).toBe(true);
    expect(hasRun(quest({ notes: {} }), job(1))).toBe(true);
  });

  it('shows whether a worker left more than a call', () => {
    expect(hasBegun(quest({}))).toBe(false);
    expect(hasBegun(quest({ notes: { steps: [{}] as never } }))).toBe(false);
    expect(hasBegun(quest({ notes: { due: [charge(1)] } }))).toBe(true);
    expect(hasBegun(quest({ notes: { outcome: ANSWER } }))).toBe(true);
    expect(hasBegun(quest({ text: 'x' }))).toBe(true);
    expect(hasBegun(quest({ text: 'x', wait: { calls: [], sealedState: '', lastEvent: 0 } }))).toBe(false);
  });
});
