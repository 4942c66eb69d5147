import { COLLECTIONS } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import type { StoredRecord } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { POSTGRES, POSTGRES_URL, SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { readAccount, readExport, shareMoves } from '../support/moves.ts';
import { MAKERS } from '../support/owned-resources.ts';

describe.skipIf(POSTGRES_URL === undefined)('an owner that moves between SQLite and PostgreSQL', () => {
  const open = shareMoves([SQLITE_MEMORY, SQLITE_MEMORY, POSTGRES, POSTGRES]);

  it('has the same records, account, limits, events and work in each of them', async () => {
    const app = await open();
    const { account, clock, services, user } = app;
    const { ledger, queue } = services;
    for (const make of new Set(Object.values(MAKERS))) await make(app, user);
    const details = { operation: 'chat', model: 'm', keyId: 'k', userId: user.id, requestId: 'r' };
    const request = { account, amount: 500, expiresAt: clock.now() + 1000, details };
    const cap = { id: `user:${user.id}:total`, unit: 'credits', amount: 500, limit: 1000 } as const;
    const hold = async (key: string) => {
      const held = await ledger.hold({ ...request, key, caps: [cap] });
      if (held.outcome !== 'held') throw new Error(held.outcome);
      return held.hold;
    };
    await ledger.settle(await hold('settled'), 300, { input: 7 });
    const late = await hold('late');
    await ledger.release(late);
    const ports = app.openPeer();
    const [quest] = await ports.store.collection(QUESTS).find({ ownerId: user.id }, { limit: 1 });
    const stream = quest?.id ?? '';
    for (const after of [0, 1]) {
      const events = [{ text: `${after} \u2028 "é" \\u0000` }];
      await ports.eventLog.append(stream, { attempt: 1, after, events, keepMs: 1e9 });
    }
    const windows = [{ name: 'day', limit: 5, lengthMs: 1e9 }];
    const limit = `user:${user.id}:standard`;
    await ports.limiter.take(limit, windows, clock.now());
    const payload = { text: 'é "\n', size: 9_007_199_254_740_991, list: [1.5, null, true] };
    await queue.enqueue({ kind: 'test', key: 'job', owner: user.id, payload });
    const read = async () => {
      const records: StoredRecord[] = [];
      for (const definition of COLLECTIONS) {
        records.push(...(await ports.store.collection<StoredRecord>(definition as never).find({})));
      }
      return {
        records,
        account: await readAccount(ports, account),
        caps: await ledger.capUsage?.([cap.id]),
        exported: await readExport(ports, 0, account),
        events: await ports.eventLog.read(stream, 0),
        limits: await ports.limiter.peek(limit, windows, clock.now()),
        jobs: await queue.counts(),
      };
    };
    const before = await read();
    expect(before.events).toHaveLength(2);
    for (const to of ['b', 'c', 'a', 'b'] as const) {
      expect(await app.move(to)).toMatchObject({ outcome: 'moved' });
      expect(await read(), to).toEqual(before);
      expect((await app.single[to].ledger.balance(account)).posted).toBe(before.account.balance.posted);
      expect(await hold('late')).toEqual(late);
      expect(await ledger.grant({ account, amount: 7, key: 'start', reason: 'again' })).toBe(false);
    }
    expect(await ledger.settle(late, 50)).toEqual({ charged: 50, first: true });
    expect(await ledger.capUsage?.([cap.id])).toEqual([{ spent: 350, reserved: 0 }]);
    const charge = (await ledger.charges({ account }, 10)).find(({ id }) => id === late.id);
    expect(charge).toMatchObject({ ...details, status: 'settled', amount: 50 });
    const jobs = await queue.lease({ kinds: ['test'], limit: 9, leaseMs: 1000 });
    expect(jobs).toMatchObject([{ owner: user.id, payload }]);
  });

  it('has all of its entries in exports, also those that no export has read before', async () => {
    const app = await open({ choose: () => 'b' });
    const grant = (key: string) =>
      app.services.ledger.grant({ account: app.account, amount: 5, key, reason: 'test' });
    for (const to of ['c', 'a', 'b'] as const) {
      await grant(`before ${to}`);
      expect(await app.move(to)).toMatchObject({ outcome: 'moved' });
    }
    const exported = await readExport(app.openPeer(), 0, app.account);
    expect(exported.map(({ key }) => key)).toEqual(['start', 'before c', 'before a', 'before b']);
  });
});
