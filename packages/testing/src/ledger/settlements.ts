import { expect } from 'vitest';
import { alice, bob, expectBalance, grant, type LedgerCase, mustHold } from './subject.ts';

export const settlementCases: readonly LedgerCase[] = [
  {
    name: 'settling charges what was used and returns the excess',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      expect(await subject.ledger.settle(hold, 25)).toEqual({ charged: 25, first: true });
      await expectBalance(subject, 75, 0);
    },
  },
  {
    name: 'a shortfall is charged in full, below zero too',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      expect(await subject.ledger.settle(hold, 130)).toEqual({ charged: 130, first: true });
      await expectBalance(subject, -30, 0);
    },
  },
  {
    name: 'settling for nothing ends the hold',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      expect(await subject.ledger.settle(hold, 0)).toEqual({ charged: 0, first: true });
      expect(await subject.ledger.settle(hold, 9)).toEqual({ charged: 0, first: false });
      await expectBalance(subject, 100, 0);
    },
  },
  {
    name: 'settling again changes nothing and answers the first charge',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      await subject.ledger.settle(hold, 25);
      expect(await subject.ledger.settle(hold, 25)).toEqual({ charged: 25, first: false });
      expect(await subject.ledger.settle(hold, 60)).toEqual({ charged: 25, first: false });
      await expectBalance(subject, 75, 0);
    },
  },
  {
    name: 'settling one hold leaves the others',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const first = await mustHold(subject, 'first', 30);
      const second = await mustHold(subject, 'second', 40);
      await subject.ledger.settle(first, 10);
      await expectBalance(subject, 90, 40);
      await subject.ledger.release(second);
      await expectBalance(subject, 90, 0);
    },
  },
  {
    name: 'a release frees the hold, however often',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const other = await mustHold(subject, 'other', 40);
      const hold = await mustHold(subject, 'call', 60);
      await subject.ledger.release(hold);
      await subject.ledger.release(hold);
      await expectBalance(subject, 100, 40);
      await subject.ledger.release(other);
      await expectBalance(subject, 100, 0);
    },
  },
  {
    name: 'a release after the settlement does nothing',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      await subject.ledger.settle(hold, 25);
      await subject.ledger.release(hold);
      await expectBalance(subject, 75, 0);
      expect((await subject.ledger.charges({ account: alice }, 10))[0]).toMatchObject({
        status: 'settled',
        amount: 25,
      });
    },
  },
  {
    name: 'a settlement after the release still charges, once',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      await subject.ledger.release(hold);
      expect(await subject.ledger.settle(hold, 25)).toEqual({ charged: 25, first: true });
      expect(await subject.ledger.settle(hold, 25)).toEqual({ charged: 25, first: false });
      await expectBalance(subject, 75, 0);
    },
  },
  {
    name: 'what a hold is worth is for the ledger to know, not for the caller',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      await grant(subject.ledger, 100, bob);
      const hold = await mustHold(subject, 'call', 60);
      await subject.ledger.settle({ ...hold, amount: 1, account: bob }, 25);
      await expectBalance(subject, 75, 0);
      await expectBalance(subject, 100, 0, bob);
    },
  },
  {
    name: 'a hold nobody made cannot be settled',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      await expect(subject.ledger.settle({ ...hold, id: 'f'.repeat(24) }, 25)).rejects.toThrow();
      await expectBalance(subject, 100, 60);
    },
  },
];
