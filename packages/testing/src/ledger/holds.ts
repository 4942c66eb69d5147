import { expect } from 'vitest';
import { alice, bob, expectBalance, grant, holdRequest, type LedgerCase, mustHold } from './subject.ts';

const LARGE = 9_000_000_000_000_000;

export const holdCases: readonly LedgerCase[] = [
  {
    name: 'returns zero for an unknown account',
    section: 'behaviour',
    async run(subject) {
      await expectBalance(subject, 0, 0, 'user:unknown');
      expect(await subject.ledger.entries('user:unknown', { limit: 10 })).toEqual([]);
    },
  },
  {
    name: 'adds grants and counts the same key once',
    section: 'behaviour',
    async run(subject) {
      const welcome = { account: alice, amount: 100, key: 'welcome', reason: 'free credits' };
      expect(await subject.ledger.grant(welcome)).toBe(true);
      expect(await subject.ledger.grant(welcome)).toBe(false);
      expect(await subject.ledger.grant({ ...welcome, amount: 7 })).toBe(false);
      expect(await subject.ledger.grant({ ...welcome, key: 'bought', amount: 50 })).toBe(true);
      await expectBalance(subject, 150, 0);
    },
  },
  {
    name: 'treats the same grant key on another account as another grant',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100, alice, 'welcome');
      await grant(subject.ledger, 100, bob, 'welcome');
      await expectBalance(subject, 100, 0, bob);
    },
  },
  {
    name: 'withdraws a negative grant, also below zero',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      await grant(subject.ledger, -130);
      await expectBalance(subject, -30, 0);
    },
  },
  {
    name: 'holds from the available balance and keeps the posted one',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 30);
      expect(hold).toMatchObject({ account: alice, amount: 30 });
      await expectBalance(subject, 100, 30);
    },
  },
  {
    name: 'allows a hold of the whole available balance and not more',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      await mustHold(subject, 'first', 99);
      const refused = await subject.ledger.hold(holdRequest(subject, 'too much', 2));
      expect(refused).toEqual({ outcome: 'insufficient_credits', available: 1, required: 2 });
      await expectBalance(subject, 100, 99);
      await mustHold(subject, 'the rest', 1);
      await expectBalance(subject, 100, 100);
    },
  },
  {
    name: 'allows only a hold of zero without credit',
    section: 'behaviour',
    async run(subject) {
      const refused = await subject.ledger.hold(holdRequest(subject, 'poor', 1));
      expect(refused).toEqual({ outcome: 'insufficient_credits', available: 0, required: 1 });
      await mustHold(subject, 'free', 0);
      await expectBalance(subject, 0, 0);
    },
  },
  {
    name: 'rejects even a hold of zero below zero',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, -5);
      const refused = await subject.ledger.hold(holdRequest(subject, 'indebted', 0));
      expect(refused).toEqual({ outcome: 'insufficient_credits', available: -5, required: 0 });
    },
  },
  {
    name: 'returns the same hold for the same key',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const first = await mustHold(subject, 'call', 60);
      const again = await mustHold(subject, 'call', 60);
      expect(again.id).toBe(first.id);
      await expectBalance(subject, 100, 60);
    },
  },
  {
    name: 'returns the same hold for the same key after the hold has ended',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const settled = await mustHold(subject, 'settled', 60);
      await subject.ledger.settle(settled, 50);
      expect((await mustHold(subject, 'settled', 60)).id).toBe(settled.id);
      const released = await mustHold(subject, 'released', 40);
      await subject.ledger.release(released);
      expect((await mustHold(subject, 'released', 40)).id).toBe(released.id);
      await expectBalance(subject, 50, 0);
    },
  },
  {
    name: 'does not remember a rejected hold',
    section: 'behaviour',
    async run(subject) {
      const refused = await subject.ledger.hold(holdRequest(subject, 'call', 10));
      expect(refused.outcome).toBe('insufficient_credits');
      await grant(subject.ledger, 10);
      await mustHold(subject, 'call', 10);
      await expectBalance(subject, 10, 10);
    },
  },
  {
    name: 'keeps accounts independent',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100, alice);
      await grant(subject.ledger, 5, bob);
      await mustHold(subject, 'of alice', 80);
      const refused = await subject.ledger.hold(holdRequest(subject, 'of bob', 6, { account: bob }));
      expect(refused).toEqual({ outcome: 'insufficient_credits', available: 5, required: 6 });
      await expectBalance(subject, 5, 0, bob);
    },
  },
  {
    name: 'keeps large sums exact',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, LARGE);
      const hold = await mustHold(subject, 'large', LARGE - 1);
      await expectBalance(subject, LARGE, LARGE - 1);
      await subject.ledger.settle(hold, LARGE - 3);
      await expectBalance(subject, 3, 0);
      expect(await subject.ledger.spent({ account: alice }, 0)).toBe(LARGE - 3);
    },
  },
  {
    name: 'rejects an amount that is not a whole number and changes nothing',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      await grant(ledger, 100);
      const hold = await mustHold(subject, 'call', 10);
      for (const amount of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
        const odd = `odd ${amount}`;
        await expect(ledger.grant({ account: alice, amount, key: odd, reason: 'odd' })).rejects.toThrow();
        await expect(ledger.hold(holdRequest(subject, odd, amount))).rejects.toThrow();
        await expect(ledger.settle(hold, amount)).rejects.toThrow();
      }
      await expect(ledger.hold(holdRequest(subject, 'negative', -1))).rejects.toThrow();
      await expect(ledger.settle(hold, -1)).rejects.toThrow();
      await expectBalance(subject, 100, 10);
      expect(await ledger.settle(hold, 10)).toEqual({ charged: 10, first: true });
    },
  },
];
