import { expect } from 'vitest';
import { expectBalance, grant, holdRequest, type LedgerCase, mustHold } from './subject.ts';

const cap = { id: 'key:1:2026-06', limit: 100 };

export const capCases: readonly LedgerCase[] = [
  {
    name: 'counts held and charged amounts against a cap',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      await grant(ledger, 1000);
      expect(await ledger.capUsed(cap.id)).toBe(0);
      const hold = await mustHold(subject, 'first', 70, { cap });
      expect(await ledger.capUsed(cap.id)).toBe(70);
      await ledger.settle(hold, 45);
      expect(await ledger.capUsed(cap.id)).toBe(45);
      await mustHold(subject, 'second', 55, { cap });
      const refused = await ledger.hold(holdRequest(subject, 'third', 1, { cap }));
      expect(refused).toEqual({ outcome: 'spend_cap_exceeded', used: 100, limit: 100, required: 1 });
      expect(await ledger.capUsed(cap.id)).toBe(100);
      await expectBalance(subject, 955, 55);
    },
  },
  {
    name: 'leaves a cap unchanged by a rejected hold',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      await grant(ledger, 50);
      const poor = await ledger.hold(holdRequest(subject, 'poor', 60, { cap }));
      expect(poor.outcome).toBe('insufficient_credits');
      expect(await ledger.capUsed(cap.id)).toBe(0);
      const small = { id: 'small', limit: 5 };
      const over = await ledger.hold(holdRequest(subject, 'over', 6, { cap: small }));
      expect(over).toEqual({ outcome: 'spend_cap_exceeded', used: 0, limit: 5, required: 6 });
      expect(await ledger.capUsed(small.id)).toBe(0);
      await expectBalance(subject, 50, 0);
    },
  },
  {
    name: 'returns the amount to the cap on release',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const hold = await mustHold(subject, 'call', 100, { cap });
      await subject.ledger.release(hold);
      await subject.ledger.release(hold);
      expect(await subject.ledger.capUsed(cap.id)).toBe(0);
      await mustHold(subject, 'next', 100, { cap });
    },
  },
  {
    name: 'counts a late settlement against the cap but not an expired hold',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 1000);
      const hold = await mustHold(subject, 'lapsing', 100, { cap, units: 1 });
      await time.advance(1.5 * time.unit);
      expect(await ledger.capUsed(cap.id)).toBe(0);
      await ledger.sweep();
      expect(await ledger.capUsed(cap.id)).toBe(0);
      await mustHold(subject, 'next', 80, { cap });
      await ledger.settle(hold, 30);
      await ledger.settle(hold, 30);
      expect(await ledger.capUsed(cap.id)).toBe(110);
    },
  },
  {
    name: 'lets a shortfall exceed the cap',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      await grant(ledger, 1000);
      const hold = await mustHold(subject, 'call', 100, { cap });
      await ledger.settle(hold, 130);
      expect(await ledger.capUsed(cap.id)).toBe(130);
      const refused = await ledger.hold(holdRequest(subject, 'next', 0, { cap }));
      expect(refused).toEqual({ outcome: 'spend_cap_exceeded', used: 130, limit: 100, required: 0 });
    },
  },
  {
    name: 'keeps caps independent, and counts a hold without a cap against none',
    section: 'behaviour',
    async run(subject) {
      const { ledger } = subject;
      await grant(ledger, 1000);
      await mustHold(subject, 'this month', 100, { cap });
      await mustHold(subject, 'next month', 90, { cap: { ...cap, id: 'key:1:2026-07' } });
      await mustHold(subject, 'no cap', 500);
      expect(await ledger.capUsed(cap.id)).toBe(100);
      expect(await ledger.capUsed('key:1:2026-07')).toBe(90);
    },
  },
  {
    name: 'accepts a changed cap limit between holds',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      await mustHold(subject, 'first', 100, { cap });
      await mustHold(subject, 'raised', 50, { cap: { ...cap, limit: 150 } });
      const refused = await subject.ledger.hold(holdRequest(subject, 'lowered', 1, { cap }));
      expect(refused).toEqual({ outcome: 'spend_cap_exceeded', used: 150, limit: 100, required: 1 });
    },
  },
  {
    name: 'counts the same hold key once against the cap',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      await mustHold(subject, 'call', 60, { cap });
      await mustHold(subject, 'call', 60, { cap });
      expect(await subject.ledger.capUsed(cap.id)).toBe(60);
    },
  },
];
