import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Collection, CollectionDefinition, StoredRecord } from '../ports/store.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import type { EngineWrite } from '../ports/write-all.ts';
import { createChargeEvents } from './charges.ts';
import type { EventType } from './event.ts';
import { createOutbox } from './outbox.ts';
import { type ChargeIntent, EVENT_OUTBOX, LOW_CREDITS, type OutboxRecord } from './records.ts';

const WRITE: EngineWrite = { do: 'engine', engine: {}, work: {}, applied: () => undefined };
const ACCOUNT = 'user:u';
const HOLD = { id: 'h', account: ACCOUNT, amount: 10, expiresAt: 1e9 };
const GRACE_MS = 1000;
const DAY_MS = 86_400_000;
const DETAILS = { operation: 'test' };

interface Options {
  readonly heard?: readonly EventType[];
  /** Whether events of budgets have a receiver. */
  readonly hearsBudgets?: boolean;
  readonly isBuiltIn?: boolean;
  /** Whether the balance cannot be read. */
  readonly isBlind?: boolean;
  readonly onSettle?: CreditLedger['settle'];
}

/** The ledger of charge events on one with 1,000 micro-credits, below 100 of which the credit is low. */
async function open({
  heard = ['charge.settled'],
  hearsBudgets = false,
  isBuiltIn = false,
  isBlind = false,
  onSettle,
}: Options = {}) {
  const clock = createFakeClock();
  const memory = createMemoryLedger({ clock });
  await memory.grant({ account: ACCOUNT, amount: 1000, key: 'start', reason: 'start' });
  const store = createMemoryStore();
  const records = store.collection(EVENT_OUTBOX);
  const lows = store.collection(LOW_CREDITS);
  const seen = {
    announced: [] as string[],
    checked: [] as string[],
    caps: [] as (readonly string[])[],
    incidents: [] as unknown[],
  };
  /** What fails. */
  const failing = new Set<'insert' | 'take' | 'caps' | 'record'>();
  const fail = (what: Parameters<typeof failing.has>[0]): void => {
    if (failing.has(what)) throw new Error(`${what} is away`);
  };
  let isLooked = false;
  const onError = ({ error }: { readonly error: unknown }) => void seen.incidents.push(String(error));
  const outbox = createOutbox({
    queue: {
      async enqueue({ key = '' }: { readonly key?: string }) {
        const record = await records.get(key.slice('event:'.length));
        seen.announced.push(record?.event?.type ?? 'nothing');
      },
    } as never,
    ...{ clock, graceMs: GRACE_MS, onError },
    receivers: {
      async refresh() {
        await turn();
        isLooked = true;
      },
      isActive: () => true,
      wants: (type) => heard.includes(type) && (isLooked || type !== 'credits.low'),
    },
  });
  const { ledger, recover } = createChargeEvents({
    ...{ clock, outbox, onError, creditsLowAt: 100 },
    store: {
      ...store,
      collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> {
        const collection = store.collection(definition);
        return wrapCollection(collection, {
          insert: async (...args) => (fail('insert'), collection.insert(...args)),
          async take(...args) {
            await turn();
            fail('take');
            return collection.take(...args);
          },
        });
      },
    },
    ledger: {
      ...memory,
      ...(isBuiltIn && { toSettlement: () => WRITE }),
      async balance(account) {
        seen.checked.push(account);
        if (isBlind) throw new Error('balance is away');
        return memory.balance(account);
      },
      settle: onSettle ?? memory.settle,
      record: async (...args) => (fail('record'), memory.record(...args)),
    },
    budgetEvents: {
      async check(capIds) {
        seen.caps.push(capIds);
        fail('caps');
      },
      isHeard: async () => hearsBudgets,
      onHold: (_caps, outcome) => outcome,
    },
  });
  let calls = 0;
  /** Settles a call that costs this much. */
  const spend = async (amount: number, capIds?: readonly string[]): Promise<void> => {
    calls += 1;
    const held = await memory.hold({
      ...{ account: ACCOUNT, amount, key: `call ${calls}`, expiresAt: clock.now() + 1e9, details: DETAILS },
    });
    if (held.outcome !== 'held') throw new Error(held.outcome);
    await ledger.settle({ ...held.hold, ...(capIds && { capIds }) }, amount, { input: 7 }, DETAILS);
    for (let wait = 0; wait < 4; wait += 1) await turn();
  };
  const types = async () => (await records.find({})).map(({ event }) => event?.type);
  return { clock, memory, ledger, recover, records, lows, seen, failing, spend, types };
}

describe('settlement as a part of a step', () => {
  it.each<[string, readonly EventType[], readonly string[] | undefined, boolean]>([
    ['events of charges have no receiver', ['credits.low'], undefined, true],
    ['events of charges have a receiver', ['charge.settled'], undefined, false],
    ['the hold has caps, whose thresholds are checked after it', [], ['cap'], false],
  ])('is possible or not: %s', async (_, heard, capIds, isPart) => {
    const { ledger } = await open({ heard, isBuiltIn: true });
    const write = ledger.toSettlement?.({ ...HOLD, ...(capIds && { capIds }) }, 5, {});
    expect(write !== undefined).toBe(isPart);
  });

  it('looks at the credit afterwards, unless it charged nothing', async () => {
    const { ledger, seen, clock } = await open({ heard: ['credits.low'], isBuiltIn: true });
    const settled = ledger.toSettlement?.(HOLD, 5, {});
    expect(seen.checked).toEqual([]);
    settled?.applied();
    await clock.advance(0);
    expect(seen.checked).toEqual([ACCOUNT]);
    ledger.toSettlement?.(HOLD, 0, {})?.applied();
    await clock.advance(0);
    expect(seen.checked).toHaveLength(1);
  });
});

describe('event of a charge', () => {
  it('replaces the intent, which is stored before the settlement', async () => {
    const intents: unknown[] = [];
    const app = await open({
      async onSettle(hold, amount, ...rest) {
        intents.push(await app.records.find({}));
        return app.memory.settle(hold, amount, ...rest);
      },
    });
    await app.spend(7);
    const [record] = await app.records.find({});
    const now = app.clock.now();
    const times = { checkAt: now + GRACE_MS, createdAt: now };
    const settlement = { hold: expect.objectContaining({ amount: 7 }), amount: 7 };
    expect(intents).toEqual([
      [
        {
          ...{ id: record?.id, ...times },
          charge: {
            ...{ key: expect.any(String), account: ACCOUNT, details: DETAILS },
            usage: { input: 7 },
            settlement,
          },
        },
      ],
    ]);
    expect(record).toEqual({
      ...{ id: record?.id, ...times, charge: undefined },
      event: {
        ...{ id: `evt_${record?.id}`, type: 'charge.settled', createdAt: now },
        data: expect.objectContaining({
          ...DETAILS,
          userId: 'u',
          usage: { input: 7 },
          amount: 7,
          credits: 7e-6,
        }),
      },
    });
    expect([app.seen.announced, app.seen.incidents]).toEqual([['charge.settled'], []]);
  });

  it('is looked at by the sweep a while after the settlement, also if that took long', async () => {
    const app = await open({
      async onSettle(...args) {
        await app.clock.advance(500);
        return app.memory.settle(...args);
      },
    });
    await app.spend(7);
    expect(await app.records.find({})).toMatchObject([{ checkAt: app.clock.now() + GRACE_MS }]);
  });

  it('is written without an intent, if the store was away before the settlement', async () => {
    const app = await open({
      async onSettle(...args) {
        app.failing.clear();
        return app.memory.settle(...args);
      },
    });
    app.failing.add('insert');
    await app.spend(7, ['cap']);
    expect(app.seen.incidents).toEqual(['Error: insert is away']);
    expect([await app.types(), app.seen.announced, app.seen.caps]).toEqual([
      ['charge.settled'],
      ['charge.settled'],
      [['cap']],
    ]);
  });

  it('is not announced while the store is away', async () => {
    const { failing, spend, seen } = await open();
    failing.add('insert');
    await spend(7);
    expect([seen.announced, seen.incidents.length]).toEqual([[], 2]);
  });

  it('waits for the sums of budgets, unless it has no intent that repeats them', async () => {
    const app = await open();
    app.failing.add('caps');
    await app.spend(7, ['cap']);
    expect(await app.records.find({})).toMatchObject([{ charge: { account: ACCOUNT } }]);
    const unintended = await open({
      async onSettle(...args) {
        unintended.failing.delete('insert');
        return unintended.memory.settle(...args);
      },
    });
    unintended.failing.add('caps').add('insert');
    await unintended.spend(7, ['cap']);
    expect([app.seen.announced, unintended.seen.announced]).toEqual([[], ['charge.settled']]);
    expect([app.seen.incidents.length, unintended.seen.incidents.length]).toEqual([1, 2]);
  });

  it.each([
    [true, ['cap'], true],
    [false, ['cap'], false],
    [true, undefined, false],
  ])(
    'has an intent for sums of budgets only: heard %s, caps %j',
    async (hearsBudgets, capIds, isIntended) => {
      const intents: number[] = [];
      const app = await open({
        ...{ heard: [], hearsBudgets },
        async onSettle(...args) {
          intents.push(await app.records.count({}));
          return app.memory.settle(...args);
        },
      });
      await app.spend(7, capIds);
      expect([intents, app.seen.caps]).toEqual(isIntended ? [[1], [capIds]] : [[0], []]);
      expect([await app.records.count({}), app.seen.announced]).toEqual([0, []]);
    },
  );
});

describe('recorded usage', () => {
  const USED = { account: ACCOUNT, key: 'k', details: DETAILS };

  it('has an event without an amount', async () => {
    const { ledger, clock, memory, records, seen } = await open();
    await ledger.record({ ...USED, usage: { input: 3 } });
    await clock.advance(0);
    const [record] = await records.find({});
    expect(record?.event).toMatchObject({
      id: `evt_${record?.id}`,
      data: { id: 'k', usage: { input: 3 }, amount: 0, credits: 0 },
    });
    expect([seen.announced, seen.checked]).toEqual([['charge.settled'], []]);
    expect(await memory.charges({ account: ACCOUNT }, 10)).toMatchObject([{ usage: { input: 3 } }]);
  });

  it.each([[{ input: 3 }], [undefined]])('is passed on without a receiver: %j', async (usage) => {
    const { ledger, memory, records } = await open({ heard: [] });
    await ledger.record({ ...USED, ...(usage && { usage }) });
    const [charge] = await memory.charges({ account: ACCOUNT }, 10);
    expect(charge?.usage).toEqual(usage);
    expect(await records.count({})).toBe(0);
  });

  it('is not complete before the ledger has it', async () => {
    const { ledger, records, failing, clock } = await open();
    failing.add('record');
    await expect(ledger.record(USED)).rejects.toThrow('record is away');
    await clock.advance(0);
    expect(await records.find({})).toMatchObject([{ charge: { key: 'k' } }]);
  });
});

describe('recovery of an intent', () => {
  const charge: ChargeIntent = { key: 'k', account: ACCOUNT, details: DETAILS, usage: { input: 3 } };
  const toIntent = (now: number): OutboxRecord => ({ id: 'a', charge, checkAt: now, createdAt: now });

  it('records usage and writes its event, before it ends', async () => {
    const { recover, records, memory, clock, seen } = await open();
    await records.insert(toIntent(clock.now()));
    await recover(toIntent(clock.now()));
    expect(await records.find({})).toMatchObject([{ event: { data: { amount: 0, usage: { input: 3 } } } }]);
    expect(await memory.charges({ account: ACCOUNT }, 10)).toMatchObject([{ usage: { input: 3 } }]);
    expect(seen.checked).toEqual([]);
    await recover({ ...toIntent(0), charge: undefined });
  });

  it('settles a charge and writes its event, before it ends', async () => {
    const { recover, records, memory, clock } = await open();
    const held = await memory.hold({
      ...{ account: ACCOUNT, amount: 9, key: 'x', expiresAt: clock.now() + 1e9, details: DETAILS },
    });
    if (held.outcome !== 'held') throw new Error(held.outcome);
    const intent = { ...toIntent(0), charge: { ...charge, settlement: { hold: held.hold, amount: 9 } } };
    await records.insert(intent);
    await recover(intent);
    expect(await records.find({})).toMatchObject([{ event: { data: { amount: 9, usage: { input: 3 } } } }]);
    expect((await memory.balance(ACCOUNT)).available).toBe(991);
  });

  it('fails if the store cannot delete it, so that it is repeated', async () => {
    const { recover, records, failing } = await open({ heard: [], hearsBudgets: true });
    await records.insert(toIntent(0));
    failing.add('take');
    const recent = { ...toIntent(0), createdAt: Number.POSITIVE_INFINITY };
    await expect(recover(recent)).rejects.toThrow('take is away');
    failing.clear();
    await recover(recent);
    expect(await records.count({})).toBe(0);
  });

  it.each([
    [DAY_MS, 1],
    [DAY_MS + 1, 0],
  ])('is given up after more than 24 hours: %i ms, %i left', async (age, left) => {
    const { recover, records, failing, clock } = await open();
    const intent = toIntent(clock.now() - age);
    await records.insert(intent);
    failing.add('record');
    await expect(recover(intent)).rejects.toThrow('record is away');
    expect(await records.count({})).toBe(left);
    if (left === 0) return;
    failing.add('take');
    await clock.advance(1);
    await expect(recover(intent)).rejects.toThrow('take is away');
  });
});

describe('low credit', () => {
  it('is reported below the limit, once until it is higher again', async () => {
    const { spend, memory, lows, types } = await open({ heard: ['credits.low'] });
    await spend(900);
    expect(await types()).toEqual([]);
    await spend(1);
    await spend(1);
    expect(await types()).toEqual(['credits.low']);
    await memory.grant({ account: ACCOUNT, amount: 500, key: 'elsewhere', reason: 'x' });
    await spend(1);
    expect(await lows.count({})).toBe(0);
    await spend(498);
    expect(await types()).toEqual(['credits.low', 'credits.low']);
  });

  it('is not forgotten while the store is away', async () => {
    const { spend, memory, failing, seen } = await open({ heard: ['credits.low'] });
    await spend(950);
    await memory.grant({ account: ACCOUNT, amount: 500, key: 'elsewhere', reason: 'x' });
    failing.add('take');
    await spend(1);
    expect(seen.incidents).toEqual(['Error: take is away']);
  });

  it('is not looked at after a charge of nothing, and without a receiver', async () => {
    const both = await open({ heard: ['credits.low', 'charge.settled'] });
    const low = await open({ heard: ['credits.low'] });
    const none = await open({ heard: [] });
    for (const { spend } of [both, low]) await spend(0);
    await none.spend(5);
    expect([both, low, none].map(({ seen }) => seen.checked)).toEqual([[], [], []]);
    for (const { spend } of [both, low]) await spend(1);
    expect([both, low].map(({ seen }) => seen.checked)).toEqual([[ACCOUNT], [ACCOUNT]]);
  });

  it('keeps the event of a charge waiting while it cannot be looked at', async () => {
    const { spend, types, seen } = await open({ heard: ['credits.low', 'charge.settled'], isBlind: true });
    await spend(901);
    expect([await types(), seen.announced, seen.incidents]).toEqual([
      [undefined],
      [],
      ['Error: balance is away'],
    ]);
  });

  it.each([
    ['a new grant', { amount: 1, key: 'new' }, 0],
    ['a correction to the debit', { amount: -1, key: 'new' }, 1],
    ['a grant of nothing', { amount: 0, key: 'new' }, 1],
    ['a repeated grant', { amount: 1000, key: 'start' }, 1],
  ])('may be reported again after %s: %j', async (_, grant, left) => {
    const { spend, ledger, lows } = await open({ heard: ['credits.low'] });
    await spend(950);
    await ledger.grant({ account: ACCOUNT, reason: 'start', ...grant });
    expect(await lows.count({})).toBe(left);
  });

  it('does not make a grant fail', async () => {
    const { spend, ledger, failing, seen } = await open({ heard: ['credits.low'] });
    await spend(950);
    failing.add('take');
    expect(await ledger.grant({ account: ACCOUNT, amount: 1, key: 'new', reason: 'x' })).toBe(true);
    expect(seen.incidents).toEqual(['Error: take is away']);
  });
});

it('passes on the optional calls of its ledger', async () => {
  const { ledger, memory } = await open();
  const optional = [
    'renewAll',
    'sumCharges',
    'capUsage',
    'exportEntries',
    'archiveCharges',
    'countArchivable',
  ] as const;
  const offered = optional.filter((name) => memory[name] !== undefined);
  expect(optional.filter((name) => ledger[name] !== undefined)).toEqual(offered);
  expect(offered).not.toEqual([]);
});
