import { expect } from 'vitest';
import { alice, bob, expectBalance, grant, holdRequest, type LedgerCase, LONG, mustHold } from './subject.ts';

export const lapseCases: readonly LedgerCase[] = [
  {
    name: 'stops counting an expired hold without a sweep',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      await mustHold(subject, 'lapsing', 70, { units: 1 });
      await mustHold(subject, 'lasting', 30);
      await subject.time.advance(1.5 * subject.time.unit);
      await expectBalance(subject, 100, 30);
      await mustHold(subject, 'next', 70);
      await expectBalance(subject, 100, 100);
    },
  },
  {
    name: 'counts a hold until the millisecond of its expiry',
    section: 'behaviour',
    needsExactTime: true,
    async run(subject) {
      await grant(subject.ledger, 100);
      await mustHold(subject, 'lapsing', 70, { units: 1 });
      await subject.time.advance(subject.time.unit - 1);
      await expectBalance(subject, 100, 70);
      const early = await subject.ledger.hold(holdRequest(subject, 'early', 31));
      expect(early).toEqual({ outcome: 'insufficient_credits', available: 30, required: 31 });
      await subject.time.advance(1);
      await expectBalance(subject, 100, 0);
      await mustHold(subject, 'late', 100);
    },
  },
  {
    name: 'charges a late settlement once',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'lapsing', 100, { units: 1 });
      await subject.time.advance(1.5 * subject.time.unit);
      await mustHold(subject, 'next', 100);
      expect(await subject.ledger.settle(hold, 40)).toEqual({ charged: 40, first: true });
      expect(await subject.ledger.settle(hold, 40)).toEqual({ charged: 40, first: false });
      await expectBalance(subject, 60, 100);
    },
  },
  {
    name: 'frees nothing twice on a late release',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'lapsing', 60, { units: 1 });
      await mustHold(subject, 'lasting', 40);
      await subject.time.advance(1.5 * subject.time.unit);
      await subject.ledger.release(hold);
      await expectBalance(subject, 100, 40);
    },
  },
  {
    name: 'keeps a renewed hold',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      // Held for 4 units and renewed at once, so that it cannot lapse where time really passes.
      const hold = await mustHold(subject, 'call', 60, { units: 4 });
      expect(await ledger.renew(hold, time.now() + LONG * time.unit)).toBe(true);
      await time.advance(5 * time.unit);
      await expectBalance(subject, 100, 60);
      await ledger.sweep();
      await expectBalance(subject, 100, 60);
      expect(await ledger.settle(hold, 10)).toEqual({ charged: 10, first: true });
    },
  },
  {
    name: 'expires a renewed hold at its new time',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      expect(await ledger.renew(hold, time.now() + time.unit)).toBe(true);
      await time.advance(1.5 * time.unit);
      await expectBalance(subject, 100, 0);
    },
  },
  {
    name: 'renews only open holds',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const settled = await mustHold(subject, 'settled', 10);
      const released = await mustHold(subject, 'released', 10);
      const lapsed = await mustHold(subject, 'lapsed', 10, { units: 1 });
      await ledger.settle(settled, 10);
      await ledger.release(released);
      await time.advance(1.5 * time.unit);
      for (const hold of [settled, released, lapsed]) {
        expect(await ledger.renew(hold, time.now() + LONG * time.unit)).toBe(false);
      }
      await expectBalance(subject, 90, 0);
    },
  },
  {
    name: 'renews several holds in one step, and only open ones',
    section: 'behaviour',
    excuse: ({ ledger }) => (ledger.renewAll ? undefined : 'the ledger renews holds one by one'),
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      await grant(ledger, 100, bob);
      const settled = await mustHold(subject, 'settled', 10);
      const released = await mustHold(subject, 'released', 10);
      const lapsed = await mustHold(subject, 'lapsed', 10, { units: 1 });
      await ledger.settle(settled, 10);
      await ledger.release(released);
      await time.advance(1.5 * time.unit);
      const first = await mustHold(subject, 'first', 20, { units: 4 });
      const second = await mustHold(subject, 'second', 30, { units: 4, account: bob });
      await mustHold(subject, 'of another process', 40, { units: 4 });
      const expiresAt = time.now() + LONG * time.unit;
      const all = [settled, first, released, second, lapsed];
      expect(await ledger.renewAll?.(all, expiresAt)).toBe(2);
      expect(await ledger.renewAll?.([], expiresAt)).toBe(0);
      await time.advance(5 * time.unit);
      await ledger.sweep();
      await expectBalance(subject, 90, 20);
      expect(await ledger.balance(bob)).toMatchObject({ posted: 100, held: 30 });
      expect(await ledger.settle(first, 5)).toEqual({ charged: 5, first: true });
      expect(await ledger.settle(lapsed, 7)).toEqual({ charged: 7, first: true });
      expect(await ledger.settle(released, 0)).toMatchObject({ charged: 0 });
      await expectBalance(subject, 78, 0);
    },
  },
  {
    name: 'releases expired holds once in a sweep, and nothing else',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      await mustHold(subject, 'first lapsing', 10, { units: 1 });
      await mustHold(subject, 'second lapsing', 20, { units: 1 });
      await mustHold(subject, 'lasting', 30);
      await time.advance(1.5 * time.unit);
      await expectBalance(subject, 100, 30);
      expect(await ledger.sweep()).toBe(2);
      expect(await ledger.sweep()).toBe(0);
      await expectBalance(subject, 100, 30);
      const statuses = (await ledger.charges({ account: alice }, 10)).map(({ status }) => status);
      expect(statuses).toEqual(['reserved', 'released', 'released']);
    },
  },
  {
    name: 'settles a swept hold once',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const hold = await mustHold(subject, 'lapsing', 60, { units: 1 });
      await time.advance(1.5 * time.unit);
      await ledger.sweep();
      expect(await ledger.settle(hold, 25)).toEqual({ charged: 25, first: true });
      expect(await ledger.settle(hold, 25)).toEqual({ charged: 25, first: false });
      await ledger.sweep();
      await expectBalance(subject, 75, 0);
    },
  },
  {
    name: 'does not sweep a hold that was settled late',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const hold = await mustHold(subject, 'lapsing', 60, { units: 1 });
      await time.advance(1.5 * time.unit);
      await ledger.settle(hold, 25);
      expect(await ledger.sweep()).toBe(0);
      await expectBalance(subject, 75, 0);
    },
  },
];
