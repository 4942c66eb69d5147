import { describe, expect, test } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import { createBudgets } from './budgets.ts';
import { createHoldHeartbeat } from './hold-heartbeat.ts';
import { reserve } from './reservations.ts';

const onError = () => undefined;

const payer = { account: 'user:a', userId: 'a' };

async function setUp(metered: boolean, spoil: (ledger: CreditLedger) => Partial<CreditLedger> = () => ({})) {
  const pauses: number[] = [];
  const timers: (() => void)[] = [];
  const clock = {
    now: () => 0,
    timer(delay: number, ring: () => void) {
      pauses.push(delay);
      timers.push(ring);
      return () => undefined;
    },
  };
  const sound = createMemoryLedger({ clock });
  await sound.grant({ account: payer.account, amount: 100, key: 'start', reason: 'start' });
  const ledger = { ...sound, ...spoil(sound) };
  const budgets = createBudgets({ store: createMemoryStore(), clock });
  const services = {
    ledger,
    budgets,
    heartbeat: createHoldHeartbeat({ ledger, clock, onError }),
    clock,
    onError,
  };
  const request = { key: 'call', payer, amount: 60, operation: 'test', requestId: 'r', metered };
  return { sound, pauses, timers, reserved: await reserve(services, request) };
}

describe('reservation', () => {
  test('ends once: the first settlement counts, later ends have no effect', async () => {
    const { sound, reserved } = await setUp(true);
    expect(await reserved.settle(25, {})).toBe(25);
    expect(await reserved.settle(40, {})).toBe(25);
    await reserved.release();
    expect(await sound.balance(payer.account)).toMatchObject({ posted: 75, held: 0 });
  });

  test.each([true, false])(
    'refuses a model that a list leaves out, and holds nothing, metered: %s',
    async (metered) => {
      const clock = { now: () => 0, timer: () => () => undefined };
      const ledger = createMemoryLedger({ clock });
      await ledger.grant({ account: payer.account, amount: 100, key: 'start', reason: 'start' });
      const budgets = createBudgets({ store: createMemoryStore(), clock });
      const lists = [
        { source: 'plan', models: ['small', 'large'] },
        { source: 'key', models: ['small'] },
      ] as const;
      const call = { key: 'call', payer: { ...payer, modelLists: lists }, amount: 60, metered };
      const services = {
        ledger,
        budgets,
        heartbeat: createHoldHeartbeat({ ledger, clock, onError }),
        clock,
        onError,
      };
      await expect(
        reserve(services, { ...call, operation: 'test', requestId: 'r', model: 'large' }),
      ).rejects.toMatchObject({ status: 422, code: 'model_not_allowed' });
      expect(await ledger.charges({}, 10)).toEqual([]);
      await reserve(services, { ...call, operation: 'test', requestId: 'r', model: 'small' });
    },
  );

  test('charges nothing after its release', async () => {
    const { sound, reserved } = await setUp(true);
    await reserved.release();
    expect(await reserved.settle(25, {})).toBe(0);
    expect(await sound.balance(payer.account)).toMatchObject({ posted: 100, held: 0 });
  });

  test('records usage once without metering, and none after its release', async () => {
    const settled = await setUp(false);
    for (const _ of [1, 2]) await settled.reserved.settle(0, { input: 1 });
    expect(await settled.sound.charges({ account: payer.account }, 10)).toHaveLength(1);
    const released = await setUp(false);
    await released.reserved.release();
    await released.reserved.settle(0, { input: 1 });
    expect(await released.sound.charges({ account: payer.account }, 10)).toEqual([]);
  });

  test('returns no amount when the ledger is unavailable, and retries seven times with growing delays', async () => {
    let tries = 0;
    const { reserved, pauses, timers } = await setUp(true, () => ({
      settle() {
        tries += 1;
        return Promise.reject(new Error('away'));
      },
    }));
    const before = pauses.length;
    expect(await reserved.settle(25, {})).toBeUndefined();
    for (let at = before; at < timers.length; at += 1) {
      timers[at]?.();
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    }
    expect(pauses.slice(before)).toEqual([200, 1000, 5000, 15_000, 60_000, 120_000, 300_000]);
    expect(tries).toBe(8);
  });
});
