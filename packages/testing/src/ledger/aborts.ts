import { expect } from 'vitest';
import { aborting } from '../parallel.ts';
import { alice, expectBalance, grant, holdRequest, type LedgerCase } from './subject.ts';

const WHEN = ['before', 'during'] as const;

export const abortCases: readonly LedgerCase[] = WHEN.flatMap((when): LedgerCase[] => [
  {
    name: `makes a hold whole or not at all when it is aborted ${when} the call`,
    section: 'abort',
    async run(subject) {
      await grant(subject.ledger, 100);
      const cap = { id: 'cap', limit: 100 };
      const request = holdRequest(subject, 'call', 60, { cap });
      const attempt = await aborting(when, (signal) => subject.ledger.hold(request, { signal }));
      const { held } = await subject.ledger.balance(alice);
      expect([0, 60]).toContain(held);
      if (attempt.isDone) expect(held).toBe(60);
      expect(await subject.ledger.capUsed(cap.id)).toBe(held);
      expect(await subject.ledger.charges({ account: alice }, 10)).toHaveLength(held / 60);
      // A caller that does not know the outcome repeats the call.
      expect((await subject.ledger.hold(request)).outcome).toBe('held');
      await expectBalance(subject, 100, 60);
      expect(await subject.ledger.capUsed(cap.id)).toBe(60);
    },
  },
  {
    name: `makes a grant once when it is aborted ${when} the call and repeated`,
    section: 'abort',
    async run(subject) {
      const welcome = { account: alice, amount: 100, key: 'welcome', reason: 'free credits' };
      const attempt = await aborting(when, (signal) => subject.ledger.grant(welcome, { signal }));
      const { posted } = await subject.ledger.balance(alice);
      expect([0, 100]).toContain(posted);
      expect(await subject.ledger.entries(alice, { limit: 10 })).toHaveLength(posted / 100);
      if (attempt.isDone) expect(posted).toBe(100);
      expect(await subject.ledger.grant(welcome)).toBe(posted === 0);
      await expectBalance(subject, 100, 0);
      expect(await subject.ledger.entries(alice, { limit: 10 })).toHaveLength(1);
    },
  },
  {
    name: `keeps the balance right when a sweep is aborted ${when} the call`,
    section: 'abort',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      for (const key of ['first', 'second']) await ledger.hold(holdRequest(subject, key, 20, { units: 1 }));
      await time.advance(1.5 * time.unit);
      await aborting(when, (signal) => ledger.sweep({ signal }));
      await ledger.sweep();
      await expectBalance(subject, 100, 0);
    },
  },
]);
