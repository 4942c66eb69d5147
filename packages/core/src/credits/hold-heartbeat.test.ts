import { expect, test } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Incident } from '../shared/incident.ts';
import { createBudgets } from './budgets.ts';
import { createHoldHeartbeat } from './hold-heartbeat.ts';
import { type ReservationRequest, reserve } from './reservations.ts';
import { createSettlementRetries } from './settlement-retries.ts';

const account = 'user:a';
const SECOND = 1000;

async function setUp(spoil: (ledger: CreditLedger) => Partial<CreditLedger> = () => ({})) {
  let now = 0;
  const timers = new Map<() => void, number>();
  const clock = {
    now: () => now,
    timer(delay: number, ring: () => void) {
      const once = () => ring();
      timers.set(once, now + delay);
      return () => void timers.delete(once);
    },
  };
  const sound = createMemoryLedger({ clock });
  await sound.grant({ account, amount: 100, key: 'start', reason: 'start' });
  const beats: number[] = [];
  const counted: CreditLedger = {
    ...sound,
    async renewAll(holds, expiresAt) {
      beats.push(holds.length);
      return (await sound.renewAll?.(holds, expiresAt)) ?? 0;
    },
  };
  const incidents: Incident[] = [];
  const ledger = { ...counted, ...spoil(counted) };
  const onError = (incident: Incident) => void incidents.push(incident);
  const createProcess = () => ({
    ...{ ledger, clock, onError, budgets: createBudgets({ store: createMemoryStore(), clock }) },
    heartbeat: createHoldHeartbeat({ ledger, clock, onError }),
    settlementRetries: createSettlementRetries({ clock, ids: { bytes: () => Uint8Array.of(255) }, onError }),
  });
  const services = createProcess();
  return {
    ...{ sound, beats, incidents, timers },
    hold: (key: string, amount: number, more: Partial<ReservationRequest> = {}) =>
      reserve(services, {
        ...{ key, payer: { account, userId: 'a' }, amount, operation: 'test', requestId: 'r', metered: true },
        ...more,
      }),
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        now += SECOND;
        for (const [ring, at] of [...timers]) {
          if (at > now) continue;
          timers.delete(ring);
          ring();
        }
        await new Promise(setImmediate);
      }
    },
    /** Time passes, and the process does nothing. */
    stall(seconds: number) {
      now += seconds * SECOND;
    },
  };
}

test('renews all holds of a process in one step per beat, from the second beat on', async () => {
  const { sound, beats, hold, pass } = await setUp();
  const calls = [await hold('one', 10), await hold('two', 20), await hold('three', 30)];
  await pass(4);
  expect(beats).toEqual([]);
  await pass(120);
  expect(new Set(beats)).toEqual(new Set([3]));
  expect((await sound.balance(account)).held).toBe(60);
  for (const call of calls) await call.settle(1, {});
  expect(await sound.balance(account)).toMatchObject({ posted: 97, held: 0 });
});

test('writes nothing for calls that end before a beat, and keeps no timer', async () => {
  const { beats, timers, hold, pass } = await setUp();
  for (let number = 0; number < 5; number += 1) {
    const call = await hold(`call ${number}`, 10);
    await pass(4);
    await call.settle(1, {});
  }
  expect(timers.size).toBe(0);
  expect(beats).toEqual([]);
});

test('renews a hold from its second beat on, and only while its call runs', async () => {
  const { beats, timers, hold, pass } = await setUp();
  const first = await hold('first', 10);
  await pass(3);
  const second = await hold('second', 10);
  await pass(1);
  await first.settle(1, {});
  await pass(1);
  expect(beats).toEqual([]);
  await pass(5);
  expect(beats).toEqual([1]);
  await second.settle(1, {});
  expect(timers.size).toBe(0);
  await hold('third', 10);
  await pass(5);
  expect(beats).toEqual([1, 1]);
  await hold('fourth', 10);
  await pass(5);
  expect(beats).toEqual([1, 1, 2]);
});

test('renews at most 500 holds in one step', async () => {
  const { beats, hold, pass } = await setUp();
  for (let number = 0; number < 501; number += 1) await hold(`call ${number}`, 0);
  await pass(5);
  expect(beats).toEqual([500, 1]);
});

test('frees the holds of a dead process within 30 seconds', async () => {
  const { sound, hold, pass, stall } = await setUp();
  await hold('call', 90);
  await pass(300);
  expect((await sound.balance(account)).held).toBe(90);
  stall(30);
  expect(await sound.balance(account)).toMatchObject({ posted: 100, held: 0 });
});

test('keeps the holds while beats fail for 10 seconds', async () => {
  let isAway = false;
  const { sound, incidents, hold, pass } = await setUp((ledger) => ({
    renewAll: async (holds, expiresAt) => {
      if (isAway) throw new Error('away');
      return (await ledger.renewAll?.(holds, expiresAt)) ?? 0;
    },
  }));
  await hold('call', 90);
  await pass(60);
  isAway = true;
  await pass(10);
  const incident = { operation: 'hold-heartbeat', requestId: '', error: new Error('away') };
  expect(incidents).toEqual([incident, incident]);
  isAway = false;
  await pass(60);
  expect((await sound.balance(account)).held).toBe(90);
});

test('charges the call of a process that stalled longer than the lease, once', async () => {
  const { sound, hold, pass, stall } = await setUp();
  const stalled = await hold('stalled', 60);
  stall(40);
  const other = await hold('other', 100);
  await pass(20);
  expect(await stalled.settle(25, {})).toBe(25);
  expect(await stalled.settle(25, {})).toBe(25);
  await other.release();
  expect(await sound.balance(account)).toMatchObject({ posted: 75, held: 0 });
});

test('keeps a hold that a job finds again after the end of the process', async () => {
  const { sound, hold, stall } = await setUp();
  await hold('job', 60, { isRepeated: true });
  stall(600);
  expect((await sound.balance(account)).held).toBe(60);
});

test('leases longer in a ledger that renews one by one', async () => {
  const { sound, hold, stall } = await setUp(() => ({ renewAll: undefined }) as never);
  await hold('call', 60);
  stall(600);
  expect((await sound.balance(account)).held).toBe(60);
});

test('keeps the credit of a call held until a settlement that failed has been repeated', async () => {
  let isAway = true;
  const { sound, hold, pass } = await setUp((ledger) => ({
    settle: async (...call) => {
      if (isAway) throw new Error('away');
      return ledger.settle(...call);
    },
  }));
  const call = await hold('call', 90);
  expect(await call.settle(80, {})).toBeUndefined();
  // The retries are 200 ms, 1 s, 5 s, 15 s, 60 s and 120 s apart.
  await pass(90);
  expect(await sound.balance(account)).toMatchObject({ posted: 100, available: 10 });
  await expect(hold('other', 20)).rejects.toMatchObject({ code: 'insufficient_credits' });
  isAway = false;
  await pass(130);
  expect(await sound.balance(account)).toMatchObject({ posted: 20, held: 0 });
});
