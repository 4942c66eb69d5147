import type { ArchivedCharge, CreditLedger } from '@questline/core/ports';
import { expect } from 'vitest';
import { alice, expectBalance, grant, holdRequest, type LedgerCase, mustHold } from './subject.ts';

const HOUR_MS = 3_600_000;

/** Moves all charges that can be moved. @returns what the archive of the host has got. */
export async function archiveAll(ledger: CreditLedger, before: number, limit = 3): Promise<ArchivedCharge[]> {
  const lines: ArchivedCharge[] = [];
  for (;;) {
    const moved = await ledger.archiveCharges?.({ before, limit }, async (charges) => {
      lines.push(...charges);
    });
    if (moved === undefined || moved < limit) return lines;
  }
}

const about = {
  operation: 'sendChatMessage',
  model: 'demo',
  keyId: 'key 1',
  userId: 'alice',
  requestId: 'r',
};

/** The cases of the archive. */
export const archiveCases: readonly LedgerCase[] = [
  {
    name: 'passes old settled and released charges to the archive with all fields, and keeps open ones',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const request = holdRequest(subject, 'call', 20);
      const outcome = await ledger.hold({ ...request, details: about });
      if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
      await ledger.settle(outcome.hold, 15, { input: 3, seconds: 0.5 });
      await ledger.release(await mustHold(subject, 'released', 10));
      const open = await mustHold(subject, 'open', 30);
      await ledger.record({ account: alice, key: 'free', details: about });
      await time.advance(time.unit);
      const before = time.now();
      await ledger.settle(await mustHold(subject, 'young', 10), 9);
      expect(await ledger.countArchivable?.(before)).toBe(3);
      const listed = (await ledger.charges({ account: alice }, 10)).map(({ id }) => id);
      const lines = await archiveAll(ledger, before, 2);
      const kept = await ledger.charges({ account: alice }, 10);

      const sorted = lines.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      expect(sorted).toMatchObject([
        { kind: 'hold', key: 'call', status: 'settled', amount: 15, account: alice, ...about },
        { kind: 'record', key: 'free', status: 'settled', amount: 0, account: alice, ...about },
        { kind: 'hold', key: 'released', status: 'released', amount: 0, operation: 'createCompletion' },
      ]);
      expect(sorted[0]?.usage).toEqual({ input: 3, seconds: 0.5 });
      expect(sorted[0]?.settledAt).toBeGreaterThanOrEqual(sorted[0]?.createdAt ?? Number.NaN);
      expect(sorted[2]).not.toHaveProperty('settledAt');
      const times = lines.map(({ createdAt }) => createdAt);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(kept.map(({ status }) => status).toSorted()).toEqual(['reserved', 'settled']);
      expect([...lines, ...kept].map(({ id }) => id).toSorted()).toEqual(listed.toSorted());
      expect(await ledger.countArchivable?.(before)).toBe(0);
      expect(await ledger.settle(open, 4)).toEqual({ charged: 4, first: true });
      await expectBalance(subject, 100 - 15 - 9 - 4, 0);
    },
  },
  {
    name: 'charges once when a call is repeated under an archived key',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const hold = await mustHold(subject, 'call', 20, { keyId: 'key 1' });
      await ledger.settle(hold, 15);
      await ledger.record({ account: alice, key: 'free', details: about, usage: { input: 7 } });
      await time.advance(time.unit);
      expect(await archiveAll(ledger, time.now())).toHaveLength(2);

      const again = await mustHold(subject, 'call', 50, { keyId: 'key 1' });
      expect(again).toMatchObject({ id: hold.id, account: alice, amount: 20 });
      expect(await ledger.settle(again, 18)).toEqual({ charged: 15, first: false });
      expect(await ledger.settle(hold, 18)).toEqual({ charged: 15, first: false });
      await ledger.release(again);
      expect(await ledger.renew(again, time.now() + time.unit)).toBe(false);
      expect(await ledger.renewAll?.([again], time.now() + time.unit)).toBe(ledger.renewAll && 0);
      await ledger.record({ account: alice, key: 'free', details: about, usage: { input: 7 } });
      await expectBalance(subject, 85, 0);
      expect(await ledger.charges({ account: alice }, 10)).toEqual([]);
      // A key of a hold is not one of a recorded call.
      await ledger.record({ account: alice, key: 'call', details: about });
      expect(await ledger.charges({ account: alice }, 10)).toHaveLength(1);
      const sums = await ledger.sumCharges?.({
        filter: {},
        from: 0,
        to: time.now() + HOUR_MS,
        groupBy: [],
        limit: 1,
      });
      if (sums !== undefined) expect(sums).toMatchObject([{ requests: 3, amount: 15, usage: { input: 7 } }]);
    },
  },
  {
    name: 'charges a late settlement of an archived released hold once, in full, with its caps',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const cap = { id: 'cap', limit: 1000 };
      const caps = [{ id: 'tokens', unit: 'tokens', limit: 1000, amount: 40 }] as const;
      const input = { cap, userId: 'alice', keyId: 'key 1', ...(ledger.capUsage && { caps }) };
      const hold = await mustHold(subject, 'call', 20, input);
      await ledger.release(hold);
      await time.advance(time.unit);
      const before = time.now();
      const [released] = await archiveAll(ledger, before);

      expect(await ledger.settle(hold, 130, { output: 90 })).toEqual({ charged: 130, first: true });
      expect(await ledger.settle(hold, 7)).toEqual({ charged: 130, first: false });
      await expectBalance(subject, -30, 0);
      expect(await ledger.capUsed('cap')).toBe(130);
      if (ledger.capUsage) expect(await ledger.capUsage(['tokens'])).toEqual([{ spent: 90, reserved: 0 }]);
      expect(await ledger.spent({ keyId: 'key 1' }, 0)).toBe(130);
      const [charge] = await ledger.charges({ userId: 'alice' }, 10);
      expect(charge).toMatchObject({ id: released?.id, status: 'settled', amount: 130, keyId: 'key 1' });
      expect(charge?.createdAt).toBe(released?.createdAt);
      expect(await archiveAll(ledger, before)).toMatchObject([{ id: released?.id, amount: 130 }]);
      expect(await ledger.settle(hold, 7)).toEqual({ charged: 130, first: false });
      await expectBalance(subject, -30, 0);
      const sums = await ledger.sumCharges?.({
        filter: { userId: 'alice' },
        ...{ from: 0, to: time.now() + HOUR_MS, groupBy: ['key'], limit: 5 },
      });
      if (sums === undefined) return;
      expect(sums).toEqual([{ group: { key: 'key 1' }, requests: 1, amount: 130, usage: { output: 90 } }]);
    },
  },
  {
    name: 'keeps charges that the archive rejects, and passes them again with their ids',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      await ledger.settle(await mustHold(subject, 'call', 20), 15);
      await time.advance(time.unit);
      const page = { before: time.now(), limit: 10 };
      const seen: string[] = [];
      const isFull = new Error('the archive is full');
      await expect(async () =>
        ledger.archiveCharges?.(page, async ([charge]) => {
          seen.push(charge?.id ?? '');
          throw isFull;
        }),
      ).rejects.toBe(isFull);
      expect((await ledger.charges({ account: alice }, 10)).map(({ id }) => id)).toEqual(seen);
      expect((await archiveAll(ledger, page.before)).map(({ id }) => id)).toEqual(seen);
      expect(await ledger.archiveCharges?.(page, () => Promise.reject(isFull))).toBe(0);
      await expectBalance(subject, 85, 0);
    },
  },
  {
    name: 'leaves a charge that is settled while the archive gets it',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 100);
      const hold = await mustHold(subject, 'call', 20);
      await ledger.release(hold);
      await time.advance(time.unit);
      const page = { before: time.now(), limit: 10 };
      const moved = await ledger.archiveCharges?.(page, async () => {
        expect(await ledger.settle(hold, 15, { input: 1 })).toEqual({ charged: 15, first: true });
      });
      expect(moved).toBe(0);
      expect(await archiveAll(ledger, page.before)).toMatchObject([{ status: 'settled', amount: 15 }]);
      expect(await ledger.settle(hold, 9)).toEqual({ charged: 15, first: false });
      await expectBalance(subject, 85, 0);
    },
  },
];
