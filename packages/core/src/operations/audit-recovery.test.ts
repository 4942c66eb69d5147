import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { auditGrants, recoverGrants } from './audit-grants.ts';
import { AUDIT_LOG, GRANT_INTENTS } from './audit-records.ts';

const MINUTE_MS = 60_000;
const GRANT = { account: 'user:ada', amount: 2_500_000, key: 'k', reason: 'a gift' };

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const ledger = createMemoryLedger({ clock });
  const intents = store.collection(GRANT_INTENTS);
  const log = store.collection(AUDIT_LOG);
  const recover = (changes: Partial<CreditLedger> = {}) =>
    recoverGrants({ store, ledger: { ...ledger, ...changes }, clock });
  const listKeys = async () =>
    (await log.find({})).map(({ changes }) => changes.find(({ field }) => field === 'key')?.after);
  /** Grants by a process that ends at a point of its work. */
  const crash = async (point: 'before' | 'after', grant = GRANT) => {
    const grantAndEnd: CreditLedger['grant'] = async (...given) => {
      if (point === 'after') await ledger.grant(...given);
      throw new Error('crashed');
    };
    const ending = auditGrants({ store, ledger: { ...ledger, grant: grantAndEnd }, clock });
    await expect(ending.grant(grant)).rejects.toThrow('crashed');
  };
  return { clock, store, ledger, intents, log, recover, listKeys, crash };
}

it('writes the entry of a grant whose process crashed after it, once', async () => {
  const { clock, intents, log, recover, crash } = setUp();
  const grantedAt = clock.now();
  await crash('after');
  await clock.advance(10 * MINUTE_MS - 1);
  await recover();
  expect([await intents.count({}), await log.count({})]).toEqual([1, 0]);
  await clock.advance(1);
  await Promise.all([recover(), recover()]);
  expect(await intents.count({})).toBe(0);
  expect(await log.find({})).toMatchObject([{ createdAt: grantedAt, actorType: 'service' }]);
  await recover();
  expect(await log.count({})).toBe(1);
});

it('forgets a grant that was never made', async () => {
  const { clock, ledger, intents, log, recover, crash } = setUp();
  await crash('before');
  await ledger.grant({ ...GRANT, key: 'other' });
  await clock.advance(10 * MINUTE_MS);
  await recover();
  expect([await intents.count({}), await log.count({})]).toEqual([0, 0]);
});

it('forgets a grant of an account without entries', async () => {
  const { clock, intents, recover, crash } = setUp();
  await crash('before');
  await clock.advance(10 * MINUTE_MS);
  await recover();
  expect(await intents.count({})).toBe(0);
});

it('does not take a charge for the grant', async () => {
  const { clock, ledger, intents, log, recover, crash } = setUp();
  await crash('before');
  await ledger.grant({ ...GRANT, key: 'other' });
  const wanted = { account: GRANT.account, amount: 1, key: 'k', expiresAt: clock.now() + 1000 };
  const held = await ledger.hold({ ...wanted, details: { operation: 'x' } });
  if (held.outcome === 'held') await ledger.settle(held.hold, 1);
  expect(
    (await ledger.entries(GRANT.account, { limit: 10 })).map(({ kind, key }) => [kind, key]),
  ).toContainEqual(['charge', 'k']);
  await clock.advance(10 * MINUTE_MS);
  await recover();
  expect([await intents.count({}), await log.count({})]).toEqual([0, 0]);
});

it('finds a grant behind many later entries, and looks no further than the time of the intent', async () => {
  const { clock, ledger, listKeys, recover, crash } = setUp();
  for (let at = 0; at < 250; at += 1) await ledger.grant({ ...GRANT, key: `old ${at}` });
  await clock.advance(MINUTE_MS + 1);
  await crash('before', { ...GRANT, key: 'never' });
  await crash('after');
  for (let at = 0; at < 450; at += 1) await ledger.grant({ ...GRANT, key: `new ${at}` });
  await clock.advance(10 * MINUTE_MS);
  const sizes: number[] = [];
  await recover({
    async entries(...given) {
      const page = await ledger.entries(...given);
      sizes.push(page.length);
      return page;
    },
  });
  expect(await listKeys()).toEqual(['k']);
  // Three pages for each intent: 451 newer entries and 149 older ones.
  expect(sizes).toEqual([200, 200, 200, 200, 200, 200]);
});

it('finds a grant that a ledger with a slow clock dates up to a minute before the intent', async () => {
  const { clock, ledger, log, recover, crash } = setUp();
  await crash('before');
  const createdAt = clock.now() - MINUTE_MS;
  const toEntry = (id: string, key: string, at: number) => ({
    ...({ id, account: GRANT.account, kind: 'grant', amount: 1, key, reason: '', createdAt: at } as const),
  });
  await clock.advance(10 * MINUTE_MS);
  await recover({
    async entries(_account, { before }) {
      if (before === undefined) return [toEntry('b', 'other', createdAt)];
      return before === 'b' ? [toEntry('a', 'k', createdAt - 1)] : [];
    },
  });
  expect(await log.find({})).toMatchObject([{ createdAt: createdAt - 1 }]);
  expect(await ledger.balance(GRANT.account)).toMatchObject({ posted: 0 });
});

it('begins with the oldest of many intents', async () => {
  const { clock, intents, recover, crash } = setUp();
  for (let at = 0; at < 201; at += 1) {
    await crash('before', { ...GRANT, key: `${at}` });
    await clock.advance(1);
  }
  await clock.advance(10 * MINUTE_MS);
  await recover();
  expect((await intents.find({})).map(({ key }) => key)).toEqual(['200']);
});

it('reports a store that fails', async () => {
  const { clock, store, ledger, crash } = setUp();
  await crash('before');
  await clock.advance(10 * MINUTE_MS);
  const real = store.collection(GRANT_INTENTS);
  const records = { ...real, take: () => Promise.reject(new Error('away')) };
  const away: Store = { ...store, collection: () => records as never };
  await expect(recoverGrants({ store: away, ledger, clock })).rejects.toThrow('away');
  await ledger.grant(GRANT);
  const closed: Store = { ...store, transaction: () => Promise.reject(new Error('closed')) };
  await expect(recoverGrants({ store: closed, ledger, clock })).rejects.toThrow('closed');
});
