import { describe, expect, test } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Incident } from '../shared/incident.ts';
import { BUDGETS, type BudgetRecord } from './budget-rules.ts';
import { createBudgets } from './budgets.ts';
import { createHoldHeartbeat } from './hold-heartbeat.ts';
import { type ReservationRequest, reserve } from './reservations.ts';
import { createSettlementRetries } from './settlement-retries.ts';

const onError = () => undefined;

/** No pause is shortened. */
const FULL_PAUSES = { bytes: () => Uint8Array.of(255) };

const payer = { account: 'user:a', userId: 'a' };

const RULE: BudgetRecord = {
  ...{ id: 'rule', name: 'Calls', scope: 'everyone', scopeId: null, subject: 'everyone', userId: null },
  ...{ models: null, window: 'total', timeZone: 'UTC', unit: 'requests', amount: 1, action: 'refuse' },
  ...{ ownKeys: 'ignore', managedBy: 'administrator', signature: 'rule', createdAt: 0, updatedAt: 0 },
};

interface SetUp {
  readonly request?: Partial<ReservationRequest>;
  readonly rules?: readonly BudgetRecord[];
  readonly spoil?: (ledger: CreditLedger) => Partial<CreditLedger>;
}

/** A ledger with 100 micro-credits, and timers that ring at the call of the test. */
async function open({ rules = [], spoil = () => ({}) }: SetUp = {}) {
  const timers: { delay: number; ring: () => void; isOn: boolean }[] = [];
  const clock = {
    now: () => 0,
    timer(delay: number, ring: () => void) {
      const timer = { delay, ring, isOn: true };
      timers.push(timer);
      return () => {
        timer.isOn = false;
      };
    },
  };
  const incidents: Incident[] = [];
  const sound = createMemoryLedger({ clock });
  await sound.grant({ account: payer.account, amount: 100, key: 'start', reason: 'start' });
  const ledger: CreditLedger = { ...sound, ...spoil(sound) };
  const store = createMemoryStore();
  for (const rule of rules) await store.collection(BUDGETS).insert(rule);
  const services = {
    ledger,
    budgets: createBudgets({ store, clock }),
    heartbeat: createHoldHeartbeat({ ledger, clock, onError: (incident) => void incidents.push(incident) }),
    settlementRetries: createSettlementRetries({
      clock,
      ids: FULL_PAUSES,
      onError: (incident) => void incidents.push(incident),
    }),
    clock,
    onError: (incident: Incident) => void incidents.push(incident),
  };
  const hold = (request: Partial<ReservationRequest> = {}) =>
    reserve(services, {
      ...{ key: 'call', payer, amount: 60, operation: 'test', requestId: 'r', metered: true },
      ...request,
    });
  return {
    ...{ sound, hold, incidents, timers },
    running: () => timers.filter(({ isOn }) => isOn).length,
    async ring(timer: (typeof timers)[number] | undefined) {
      if (timer !== undefined) timer.isOn = false;
      timer?.ring();
      await new Promise(setImmediate);
    },
  };
}

async function setUp(metered: boolean, spoil: (ledger: CreditLedger) => Partial<CreditLedger> = () => ({})) {
  const { hold, ...others } = await open({ spoil });
  return { ...others, reserved: await hold({ metered }) };
}

const AWAY = new Error('away');

describe('reservation', () => {
  test('ends once: the first settlement counts, later ends have no effect', async () => {
    const { sound, reserved, running } = await setUp(true);
    expect(await reserved.settle(25, {})).toBe(25);
    expect(running()).toBe(0);
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
        settlementRetries: createSettlementRetries({ clock, ids: FULL_PAUSES, onError }),
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
    expect(await released.reserved.settle(0, { input: 1 })).toBe(0);
    expect(await released.sound.charges({ account: payer.account }, 10)).toEqual([]);
  });

  test('returns no amount when the ledger is unavailable, and retries with growing pauses up to five minutes', async () => {
    let tries = 0;
    const { reserved, timers, incidents, ring, running } = await setUp(true, () => ({
      settle() {
        tries += 1;
        return Promise.reject(AWAY);
      },
    }));
    const before = timers.length;
    expect(await reserved.settle(25, {})).toBeUndefined();
    for (let at = before; at < before + 9; at += 1) await ring(timers[at]);
    const pauses = timers.slice(before, before + 9).map(({ delay }) => delay);
    expect(pauses).toEqual([200, 1000, 5000, 15_000, 60_000, 120_000, 300_000, 300_000, 300_000]);
    expect(tries).toBe(10);
    // Later failures are reported once an hour.
    expect(incidents).toEqual(Array(8).fill({ operation: 'test', requestId: 'r', error: AWAY }));
    expect(running()).toBeGreaterThan(0);
  });

  test('renews its hold until a retry of the settlement succeeds', async () => {
    let isAway = true;
    const { sound, reserved, timers, ring, running } = await setUp(true, (ledger) => ({
      settle: (...settlement) => (isAway ? Promise.reject(AWAY) : ledger.settle(...settlement)),
    }));
    const before = timers.length;
    await reserved.settle(25, {});
    expect(running()).toBe(before + 1);
    isAway = false;
    await ring(timers[before]);
    expect(running()).toBe(0);
    expect(await sound.balance(payer.account)).toMatchObject({ posted: 75, held: 0 });
  });

  test('rejects a failed settlement that a job repeats, and retries nothing', async () => {
    for (const metered of [true, false]) {
      const failing = () => Promise.reject(AWAY);
      const { hold, incidents, running } = await open({
        spoil: () => ({ settle: failing, record: failing, release: failing }),
      });
      const reserved = await hold({ metered, isRepeated: true });
      await expect(reserved.settle(25, {})).rejects.toBe(AWAY);
      expect(running()).toBe(0);
      expect(incidents).toEqual([]);
    }
  });

  test('is released when the ledger has released it, and a release that fails is retried', async () => {
    let isAway = true;
    const { sound, reserved, incidents, timers, ring } = await setUp(true, (ledger) => ({
      release: (hold) => (isAway ? Promise.reject(AWAY) : ledger.release(hold)),
    }));
    const before = timers.length;
    await reserved.release();
    expect(incidents).toHaveLength(1);
    expect(await sound.balance(payer.account)).toMatchObject({ held: 60 });
    isAway = false;
    await ring(timers[before]);
    expect(await sound.balance(payer.account)).toMatchObject({ held: 0 });
  });

  test('resolves a release when the ledger has ended the hold', async () => {
    let end = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { reserved } = await setUp(true, () => ({ release: () => gate }));
    let isReleased = false;
    const released = reserved.release().then(() => {
      isReleased = true;
    });
    await new Promise(setImmediate);
    expect(isReleased).toBe(false);
    end();
    await released;
  });

  test('is kept without renewal for a repetition under the same key', async () => {
    for (const isRepeated of [true, false]) {
      const { hold, sound, running } = await open();
      const reserved = await hold({ isRepeated });
      expect(running()).toBe(1);
      reserved.keep();
      expect(running()).toBe(0);
      expect(await sound.balance(payer.account)).toMatchObject({ held: 60 });
    }
  });

  test('of a job renews its hold every five minutes for fifteen, and reports a renewal that fails', async () => {
    const renewals: number[] = [];
    const { hold, timers, ring, incidents } = await open({
      spoil: () => ({
        renew(_hold, expiresAt) {
          renewals.push(expiresAt);
          return renewals.length > 1 ? Promise.reject(AWAY) : Promise.resolve(true);
        },
      }),
    });
    await hold({ isRepeated: true });
    await ring(timers[0]);
    await ring(timers[1]);
    expect(timers.map(({ delay }) => delay)).toEqual(Array(3).fill(300_000));
    expect(renewals).toEqual([900_000, 900_000]);
    expect(incidents).toEqual([{ operation: 'test', requestId: 'r', error: AWAY }]);
  });

  test('has the amount that it holds, and its charge names the payer and the call', async () => {
    const { hold, sound } = await open();
    const reserved = await hold({ payer: { ...payer, keyId: 'k' }, model: 'm' });
    expect(reserved).toMatchObject({ metered: true, amount: 60 });
    await reserved.settle(25, { input: 1 });
    const bare = await hold({ key: 'bare', metered: false });
    expect(bare).toMatchObject({ metered: false, amount: 0 });
    expect(await bare.settle(25, { input: 2 })).toBe(0);
    bare.keep();
    const charges = await sound.charges({ account: payer.account }, 10);
    const details = { operation: 'test', userId: 'a', requestId: 'r' };
    expect(charges).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ amount: 25, usage: { input: 1 }, ...details, model: 'm', keyId: 'k' }),
        expect.objectContaining({ amount: 0, usage: { input: 2 }, ...details }),
      ]),
    );
    for (const charge of charges) {
      if (charge.amount === 0) expect(Object.keys(charge)).not.toEqual(expect.arrayContaining(['model']));
      if (charge.amount === 0) expect(Object.keys(charge)).not.toEqual(expect.arrayContaining(['keyId']));
    }
  });

  test('holds and charges nothing without metering, also when a budget counts the call', async () => {
    const { hold, sound } = await open({ rules: [RULE] });
    const reserved = await hold({ metered: false, amount: 1000 });
    expect(reserved).toMatchObject({ metered: false, amount: 0 });
    expect(await reserved.settle(25, {})).toBe(0);
    expect(await sound.balance(payer.account)).toMatchObject({ posted: 100, held: 0 });
    await expect(hold({ key: 'second', metered: false })).rejects.toMatchObject({ code: 'budget_exceeded' });
  });

  test('counts a call with an own provider key, the model and its tokens as the budget says', async () => {
    const { hold } = await open({
      rules: [
        RULE,
        { ...RULE, id: 'tokens', signature: 'tokens', unit: 'tokens', amount: 10, models: ['large'] },
      ],
    });
    await hold({ key: 'own', isOwnKey: true, amount: 1 });
    await expect(hold({ key: 'long', model: 'large', tokens: 11, amount: 1 })).rejects.toMatchObject({
      code: 'budget_exceeded',
    });
    await hold({ key: 'first', amount: 1 });
    await expect(hold({ key: 'second', amount: 1 })).rejects.toMatchObject({ code: 'budget_exceeded' });
  });

  test('a call without tokens fits a budget of none', async () => {
    const { hold } = await open({ rules: [{ ...RULE, unit: 'tokens', amount: 0 }] });
    await hold();
  });

  test('counts against the spend cap of its key, but not without metering', async () => {
    const { hold } = await open();
    const capped = { ...payer, keyId: 'k', spendCap: { amount: 10, period: 'total' } } as const;
    await hold({ payer: capped, metered: false });
    await expect(hold({ key: 'second', payer: capped })).rejects.toMatchObject({
      code: 'spend_cap_exceeded',
    });
  });

  test('asks the ledger for what the call needs, and no more', async () => {
    const requests: unknown[] = [];
    const { hold } = await open({
      rules: [{ ...RULE, amount: 9 }],
      spoil: (ledger) => ({
        hold(request) {
          requests.push(request);
          return ledger.hold(request);
        },
      }),
    });
    const capped = { ...payer, spendCap: { amount: 70, period: 'total' } } as const;
    await hold({ key: 'own', isRepeated: true, isOwnKey: true });
    await hold({ key: 'counted', payer: capped, amount: 1 });
    await hold({ key: 'free', payer: capped, metered: false });
    const details = { operation: 'test', userId: 'a', requestId: 'r' };
    const common = { account: payer.account, details };
    const caps = [{ id: 'budget:rule:total', unit: 'requests', limit: 9, amount: 1 }];
    expect(requests).toStrictEqual([
      { ...common, key: 'own', amount: 60, expiresAt: 900_000 },
      {
        ...common,
        key: 'counted',
        amount: 1,
        expiresAt: 25_000,
        cap: { id: 'user:a:total', limit: 70 },
        caps,
      },
      { ...common, key: 'free', amount: 0, expiresAt: 25_000, caps, ignoresBalance: true },
    ]);
  });

  test('counts its credits against a budget of credits, unless it is not metered', async () => {
    const { hold } = await open({ rules: [{ ...RULE, unit: 'credits', amount: 50 }] });
    await expect(hold()).rejects.toMatchObject({ code: 'budget_exceeded' });
    await hold({ key: 'smaller', amount: 50 });
    await hold({ key: 'free', metered: false });
  });

  test('records each call without metering', async () => {
    const { hold, sound } = await open();
    for (const key of ['one', 'two']) await (await hold({ key, metered: false })).settle(0, { input: 1 });
    expect(await sound.charges({ account: payer.account }, 10)).toHaveLength(2);
  });

  test('needs no ledger with caps for a call that no budget counts', async () => {
    const { hold } = await open({ spoil: () => ({ capUsage: undefined as never }) });
    expect(await hold()).toMatchObject({ amount: 60 });
  });

  test('is refused when a budget counts the call and the ledger has no caps', async () => {
    const { hold } = await open({ rules: [RULE], spoil: () => ({ capUsage: undefined as never }) });
    await expect(hold()).rejects.toThrow('the ledger has no capUsage');
  });
});
