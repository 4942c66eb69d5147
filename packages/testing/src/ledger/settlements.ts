import type { Usage } from '@questline/core/ports';
import { expect } from 'vitest';
import { alice, bob, expectBalance, grant, type LedgerCase, mustHold } from './subject.ts';

export const settlementCases: readonly LedgerCase[] = [
  {
    name: 'charges the used amount on settlement and returns the rest',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      expect(await subject.ledger.settle(hold, 25)).toEqual({ charged: 25, first: true });
      await expectBalance(subject, 75, 0);
    },
  },
  {
    name: 'charges a shortfall in full, also below zero',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      expect(await subject.ledger.settle(hold, 130)).toEqual({ charged: 130, first: true });
      await expectBalance(subject, -30, 0);
    },
  },
  {
    name: 'ends the hold on a settlement of zero',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      expect(await subject.ledger.settle(hold, 0)).toEqual({ charged: 0, first: true });
      expect(await subject.ledger.settle(hold, 9)).toEqual({ charged: 0, first: false });
      await expectBalance(subject, 100, 0);
      expect(await subject.ledger.entries(alice, { limit: 10 })).toHaveLength(1);
    },
  },
  {
    name: 'returns the first charge on repeated settlements and changes nothing',
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
    name: 'keeps other holds when one is settled',
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
    name: 'frees a hold once however often it is released',
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
    name: 'ignores a release after the settlement',
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
    name: 'charges once when a settlement follows the release',
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
    name: 'uses its own amount of a hold, not that of the caller',
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
    name: 'rejects the settlement, the release and the renewal of an unknown hold',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      await grant(ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      const unknown = { ...hold, id: 'f'.repeat(24) };
      await expect(ledger.settle(unknown, 25)).rejects.toThrow();
      await expect(ledger.release(unknown)).rejects.toThrow();
      await expect(ledger.renew(unknown, hold.expiresAt)).rejects.toThrow();
      await expectBalance(subject, 100, 60);
    },
  },
  {
    name: 'charges once when a call is repeated under the key of a settled hold',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const hold = await mustHold(subject, 'call', 60);
      await subject.ledger.settle(hold, 25);
      const again = await mustHold(subject, 'call', 60);
      expect(again.id).toBe(hold.id);
      await expectBalance(subject, 75, 0);
      expect(await subject.ledger.settle(again, 40)).toEqual({ charged: 25, first: false });
      await expectBalance(subject, 75, 0);
    },
  },
  {
    name: 'keeps every usage class as counted, including fractions of seconds',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 100);
      const usages: Usage[] = [
        { input: 10, output: 0, reasoning: 30_000 },
        { input: 0, output: 1, cachedInput: 7, cacheWrite: 3 },
        { seconds: 6959.25 },
        { images: 2, characters: 12, bytes: 34 },
      ];
      for (const [at, usage] of usages.entries()) {
        await subject.ledger.settle(await mustHold(subject, `call ${at}`, 5), 5, usage);
      }
      const charges = await subject.ledger.charges({ account: alice }, 10);
      expect(charges.map(({ usage }) => usage).reverse()).toEqual(usages);
    },
  },
];
