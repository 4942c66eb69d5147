import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { auditGrants } from './audit-grants.ts';
import { AUDIT_LOG, GRANT_INTENTS } from './audit-records.ts';

const MINUTE_MS = 60_000;
const GRANT = { account: 'user:ada', amount: 2_500_000, key: 'k', reason: 'a gift' };

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const ledger = createMemoryLedger({ clock });
  const open = (changes: Partial<CreditLedger> = {}, where: Store = store) =>
    auditGrants({ store: where, ledger: { ...ledger, ...changes }, clock });
  const intents = store.collection(GRANT_INTENTS);
  const log = store.collection(AUDIT_LOG);
  const listKeys = async () =>
    (await log.find({})).map(({ changes }) => changes.find(({ field }) => field === 'key')?.after).sort();
  /** Grants by a process that ends at a point of its work. */
  const crash = async (point: 'before' | 'after', grant = GRANT) => {
    const ending = open({
      async grant(...given) {
        if (point === 'after') await ledger.grant(...given);
        throw new Error('crashed');
      },
    });
    await expect(ending.grant(grant)).rejects.toThrow('crashed');
  };
  return { clock, store, ledger, open, intents, log, listKeys, crash };
}

describe('a grant', () => {
  it('has one entry with its credits, its reason and its key', async () => {
    const { clock, ledger, open, intents, log } = setUp();
    const granting = open().actAs({ type: 'user', userId: 'root' });
    expect(await granting.grant(GRANT)).toBe(true);
    expect(await ledger.balance(GRANT.account)).toMatchObject({ posted: 2_500_000 });
    const entries = await log.find({});
    expect(entries).toMatchObject([
      {
        ...{ action: 'credits.granted', actorType: 'user', actorId: 'root', createdAt: clock.now() },
        ...{ targetType: 'account', targetId: 'user:ada', targetOwner: 'ada' },
        changes: [
          { field: 'credits', after: 2.5 },
          { field: 'reason', after: 'a gift' },
          { field: 'key', after: 'k' },
        ],
      },
    ]);
    expect(entries[0]?.organizationId).toBeUndefined();
    expect(await intents.count({})).toBe(0);
  });

  it('to an organization is seen by its administrators', async () => {
    const { open, log } = setUp();
    await open().grant({ ...GRANT, account: 'organization:o' });
    const [entry] = await log.find({});
    expect(entry).toMatchObject({ targetId: 'organization:o', organizationId: 'o', actorType: 'service' });
    expect(entry?.targetOwner).toBeUndefined();
  });

  it('of a key that was granted before has no second entry', async () => {
    const { open, intents, listKeys } = setUp();
    const granting = open();
    await granting.grant(GRANT);
    expect(await granting.grant(GRANT)).toBe(false);
    expect([await listKeys(), await intents.count({})]).toEqual([['k'], 0]);
    await granting.grant({ ...GRANT, account: 'user:bob' });
    await granting.grant({ ...GRANT, key: 'other' });
    expect(await listKeys()).toEqual(['k', 'k', 'other']);
  });

  it('of a registration has no entry', async () => {
    const { store, ledger, open, log } = setUp();
    const away = { ...store, collection: () => Promise.reject(new Error('away')) as never };
    expect(await open({}, away).grant({ ...GRANT, key: 'registration' })).toBe(true);
    expect(await ledger.balance(GRANT.account)).toMatchObject({ posted: 2_500_000 });
    expect(await log.count({})).toBe(0);
  });

  it('that the ledger refuses leaves nothing', async () => {
    const { open, intents, log } = setUp();
    await expect(open().grant({ ...GRANT, account: 'ada' })).rejects.toThrow(RangeError);
    expect([await intents.count({}), await log.count({})]).toEqual([0, 0]);
  });

  it('that fails otherwise may have happened, so its intent stays', async () => {
    const { clock, open, intents, log, crash } = setUp();
    await crash('after');
    expect(await intents.find({})).toMatchObject([
      { ...GRANT, actor: { type: 'service' }, createdAt: clock.now(), checkAt: clock.now() + 10 * MINUTE_MS },
    ]);
    expect(await log.count({})).toBe(0);
    // Refused or granted before: that says nothing of the first attempt.
    const refusing = open({ grant: () => Promise.reject(new RangeError('refused')) });
    await expect(refusing.grant(GRANT)).rejects.toThrow('refused');
    expect(await open().grant(GRANT)).toBe(false);
    expect(await intents.count({})).toBe(1);
  });

  it('that is repeated after a crash before it has one entry', async () => {
    const { open, intents, listKeys, crash } = setUp();
    await crash('before');
    expect(await open().grant(GRANT)).toBe(true);
    expect([await listKeys(), await intents.count({})]).toEqual([['k'], 0]);
  });

  it('is not made if its intent cannot be stored', async () => {
    const { store, ledger, open } = setUp();
    const records = { ...store.collection(GRANT_INTENTS), insert: () => Promise.reject(new Error('away')) };
    await expect(open({}, { ...store, collection: () => records as never }).grant(GRANT)).rejects.toThrow(
      'away',
    );
    expect(await ledger.balance(GRANT.account)).toMatchObject({ posted: 0 });
  });

  it('reports an intent or an entry that it could not write', async () => {
    const { store, ledger, open } = setUp();
    const records = { ...store.collection(GRANT_INTENTS), take: () => Promise.reject(new Error('away')) };
    const away: Store = { ...store, collection: () => records as never };
    await expect(open({}, away).grant({ ...GRANT, account: 'ada' })).rejects.toThrow('away');
    await ledger.grant(GRANT);
    await expect(open({}, away).grant(GRANT)).rejects.toThrow('away');
    const closed: Store = { ...store, transaction: () => Promise.reject(new Error('closed')) };
    await expect(open({}, closed).grant({ ...GRANT, key: 'other' })).rejects.toThrow('closed');
  });

  it.each(['insert', 'take'] as const)('keeps the intent if the transaction fails (%s)', async (name) => {
    const { store, open, intents, log } = setUp();
    const away: Store = {
      ...store,
      transaction: (work, options) =>
        store.transaction((inner) => {
          const failing = { ...inner.collection(AUDIT_LOG), [name]: () => Promise.reject(new Error('away')) };
          return work({ ...inner, collection: () => failing as never });
        }, options),
    };
    await expect(open({}, away).grant(GRANT)).rejects.toThrow('away');
    expect([await intents.count({}), await log.count({})]).toEqual([1, 0]);
  });

  it('passes options on', async () => {
    const { open } = setUp();
    const options = { signal: AbortSignal.abort(new Error('stopped')) };
    const given: unknown[] = [];
    const granting = open({
      async grant(_grant, passed) {
        given.push(passed);
        return true;
      },
    });
    await granting.grant(GRANT, options);
    await granting.grant({ ...GRANT, key: 'registration' }, options);
    expect(given).toEqual([options, options]);
  });
});

it('passes all other calls to the ledger', async () => {
  const { open, ledger } = setUp();
  const calls: string[] = [];
  const names = [
    ...['balance', 'hold', 'renew', 'settle', 'toSettlement', 'release', 'record', 'entries', 'charges'],
    ...['spent', 'capUsed', 'sweep', 'renewAll', 'sumCharges', 'exportEntries', 'capUsage'],
  ];
  const spies = names.map((name) => {
    const spy = (...given: unknown[]): unknown => {
      calls.push(name);
      return given;
    };
    return [name, spy] as const;
  });
  const audited = open(Object.fromEntries(spies)) as unknown as Record<
    string,
    (...given: unknown[]) => unknown
  >;
  for (const name of names) expect(audited[name]?.(1, 2, 3, 4)).toEqual([1, 2, 3, 4]);
  expect(calls).toEqual(names);
  const { toSettlement: _, ...plain } = ledger;
  const without = auditGrants({ store: createMemoryStore(), ledger: plain, clock: createFakeClock() });
  expect(without.toSettlement?.({} as never, 1)).toBeUndefined();
});
