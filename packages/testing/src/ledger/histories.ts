import type { LedgerEntry } from '@questline/core/ports';
import { expect } from 'vitest';
import { alice, bob, expectBalance, grant, type LedgerCase, mustHold } from './subject.ts';

export const historyCases: readonly LedgerCase[] = [
  {
    name: 'lists every movement as an entry, newest first, adding up to the balance',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      const start = time.now();
      await ledger.grant({ account: alice, amount: 100, key: 'welcome', reason: 'free credits' });
      await ledger.settle(await mustHold(subject, 'call', 60), 25);
      await ledger.release(await mustHold(subject, 'refused call', 60));
      await ledger.grant({ account: alice, amount: -5, key: 'back', reason: 'correction' });
      const entries = await ledger.entries(alice, { limit: 10 });
      expect(entries.map(({ kind, amount, key }) => ({ kind, amount, key }))).toEqual([
        { kind: 'grant', amount: -5, key: 'back' },
        { kind: 'charge', amount: -25, key: 'call' },
        { kind: 'grant', amount: 100, key: 'welcome' },
      ]);
      expect(entries[2]).toMatchObject({ account: alice, reason: 'free credits' });
      expect(new Set(entries.map(({ id }) => id)).size).toBe(3);
      for (const { createdAt } of entries) expect(createdAt).toBeGreaterThanOrEqual(start - time.unit);
      expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(70);
      await expectBalance(subject, 70, 0);
    },
  },
  {
    name: 'rejects a grant to an account that is neither a user nor an organization',
    section: 'behaviour',
    async run({ ledger }) {
      for (const account of ['alice', 'user:', 'key:alice', '']) {
        await expect(async () =>
          ledger.grant({ account, amount: 1, key: 'gift', reason: 'gift' }),
        ).rejects.toThrow(RangeError);
      }
    },
  },
  {
    name: 'pages through entries without gap or repetition',
    section: 'behaviour',
    async run({ ledger }) {
      for (let at = 0; at < 7; at += 1) await grant(ledger, at + 1);
      await grant(ledger, 1000, bob);
      const seen: LedgerEntry[] = [];
      for (let page = await ledger.entries(alice, { limit: 3 }); page.length > 0; ) {
        expect(page.length).toBeLessThanOrEqual(3);
        seen.push(...page);
        const last = page.at(-1);
        if (last === undefined) break;
        page = await ledger.entries(alice, { limit: 3, before: last.id });
      }
      expect(seen.map(({ amount }) => amount)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    },
  },
  {
    name: 'lists the outcome of every paid call as a charge, newest first',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const request = { account: alice, expiresAt: time.now() + 40 * time.unit };
      const details = {
        operation: 'createCompletion',
        model: 'demo',
        keyId: 'key 1',
        userId: 'alice',
        requestId: 'request 1',
      };
      const first = await ledger.hold({ ...request, amount: 20, key: 'first', details });
      if (first.outcome !== 'held') throw new Error('expected the first call to be held');
      const second = await mustHold(subject, 'second', 30);
      await mustHold(subject, 'third', 40);
      await ledger.settle(first.hold, 15, { input: 3, output: 12, cachedInput: 1 });
      await ledger.release(second);
      const charges = await ledger.charges({ account: alice }, 10);
      expect(charges.map(({ status, amount }) => ({ status, amount }))).toEqual([
        { status: 'reserved', amount: 40 },
        { status: 'released', amount: 0 },
        { status: 'settled', amount: 15 },
      ]);
      expect(charges[2]).toMatchObject({ account: alice, ...details });
      expect(charges[2]?.usage).toEqual({ input: 3, output: 12, cachedInput: 1 });
      expect(charges[0]).not.toHaveProperty('usage');
      expect(charges[0]).not.toHaveProperty('model');
      expect((await ledger.charges({ account: alice }, 2)).map(({ status }) => status)).toEqual([
        'reserved',
        'released',
      ]);
    },
  },
  {
    name: 'filters charges and spending by account, key and user together',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      const team = 'organization:team';
      await grant(ledger, 1000, alice);
      await grant(ledger, 1000, team);
      const pay = async (amount: number, terms: Parameters<typeof mustHold>[3]) =>
        ledger.settle(await mustHold(subject, `call ${amount}`, amount, terms), amount);
      await pay(1, { userId: 'alice', keyId: 'key 1' });
      await pay(2, { userId: 'alice', keyId: 'key 2' });
      await pay(4, { userId: 'alice', keyId: 'key 1', account: team });
      await pay(8, { userId: 'bob', keyId: 'key 3', account: team });
      await pay(16, {});
      const amounts = async (filter: Parameters<typeof ledger.charges>[0]) =>
        (await ledger.charges(filter, 10)).map(({ amount }) => amount).sort((a, b) => a - b);
      expect(await amounts({ account: alice })).toEqual([1, 2, 16]);
      expect(await amounts({ keyId: 'key 1' })).toEqual([1, 4]);
      expect(await amounts({ userId: 'alice' })).toEqual([1, 2, 4]);
      expect(await amounts({ account: team, userId: 'alice' })).toEqual([4]);
      expect(await amounts({ account: team, keyId: 'key 2' })).toEqual([]);
      expect(await amounts({ userId: 'unknown' })).toEqual([]);
      expect(await amounts({})).toEqual([1, 2, 4, 8, 16]);
      expect(await ledger.spent({ account: alice }, 0)).toBe(19);
      expect(await ledger.spent({ keyId: 'key 1' }, 0)).toBe(5);
      expect(await ledger.spent({ account: team, userId: 'alice' }, 0)).toBe(4);
      expect(await ledger.spent({ userId: 'unknown' }, 0)).toBe(0);
    },
  },
  {
    name: 'counts settled calls since an instant as spending',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 1000);
      await ledger.settle(await mustHold(subject, 'old', 10), 7);
      await time.advance(time.unit);
      const since = time.now();
      await time.advance(time.unit);
      await ledger.settle(await mustHold(subject, 'new', 10), 9);
      await ledger.release(await mustHold(subject, 'released', 10));
      await mustHold(subject, 'open', 10);
      expect(await ledger.spent({ account: alice }, since)).toBe(9);
      expect(await ledger.spent({ account: alice }, 0)).toBe(16);
    },
  },
  {
    name: 'records a free call once',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      const call = {
        account: alice,
        key: 'free call',
        details: {
          ...{ operation: 'sendChatMessage', model: 'small', userId: 'alice' },
          ...{ keyId: 'key 1', requestId: 'request 1' },
        },
        usage: { input: 5, output: 7 },
      };
      await ledger.record(call);
      await ledger.record(call);
      const charges = await ledger.charges({ account: alice }, 10);
      expect(charges).toHaveLength(1);
      expect(charges[0]).toMatchObject({ status: 'settled', amount: 0, ...call.details, usage: call.usage });
      await expectBalance(subject, 0, 0);
      expect(await ledger.spent({ account: alice }, 0)).toBe(0);
    },
  },
];
