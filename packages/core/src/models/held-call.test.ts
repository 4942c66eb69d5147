import { describe, expect, it } from 'vitest';
import { openAccount, PAID_REQUEST, PRICED, TOKENS } from '../../test/paid-calls.ts';
import { openPaidCall } from './paid-call.ts';

const COST = { amount: 25, usage: { input: 1 } };

describe('hold of a call', () => {
  it('has the facts of its request', async () => {
    const { services, holds } = await openAccount();
    const held = await openPaidCall(services, PAID_REQUEST);
    expect([held.metered, held.amount]).toEqual([true, 60]);
    expect(holds).toMatchObject([
      { key: 'call', amount: 60, details: { model: 'm', operation: 'ask', requestId: 'r-1' } },
    ]);
  });

  it('is refused for a model without a price, only where credits are enforced', async () => {
    const { services, holds } = await openAccount();
    const entry = { ...PRICED, prices: undefined };
    await expect(openPaidCall(services, { ...PAID_REQUEST, entry })).rejects.toMatchObject({
      status: 422,
      code: 'model_unavailable',
    });
    const free = await openPaidCall(services, { ...PAID_REQUEST, entry, isMetered: false });
    expect([free.metered, free.amount, holds]).toEqual([false, 0, []]);
  });

  it.each([
    ['tokens', { tokens: 7 }, 7],
    ['no tokens by default', {}, 0],
  ])('counts for a budget with %s', async (_, more, amount) => {
    const { services, holds } = await openAccount({ rules: [TOKENS] });
    await openPaidCall(services, { ...PAID_REQUEST, ...more });
    expect(holds[0]?.caps).toMatchObject([{ amount }]);
  });

  it('counts for no budget with a key of the user', async () => {
    const { services, holds } = await openAccount({ rules: [TOKENS] });
    await openPaidCall(services, { ...PAID_REQUEST, entry: { ...PRICED, ownKey: true } });
    expect(holds[0]).not.toHaveProperty('caps');
  });

  it('is settled in the background after a failure, unless a job repeats the call', async () => {
    const settle = () => Promise.reject(new Error('away'));
    const { services, incidents } = await openAccount({ ledger: { settle } });
    const held = await openPaidCall(services, PAID_REQUEST);
    expect(await held.settle(COST)).toBeUndefined();
    const repeated = await openPaidCall(services, {
      ...PAID_REQUEST,
      amount: 1,
      key: 'job',
      isRepeated: true,
    });
    await expect(repeated.settle(COST)).rejects.toThrow('away');
    expect(incidents).toHaveLength(1);
  });

  it('reports a rejected usage report once', async () => {
    const { services, incidents } = await openAccount();
    const held = await openPaidCall(services, PAID_REQUEST);
    const cost = { ...COST, rejected: { input: 9 } };
    expect(await held.settle(cost)).toBe(25);
    expect(incidents).toHaveLength(1);
    expect(await held.settle(cost)).toBe(25);
    expect(incidents).toMatchObject([
      {
        operation: 'ask',
        requestId: 'r-1',
        error: { provider: 'vendor', model: 'm', reported: { input: 9 } },
      },
    ]);
  });
});
