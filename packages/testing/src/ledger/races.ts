import type { Hold, HoldOutcome } from '@questline/core/ports';
import { expect } from 'vitest';
import { checkConservation } from '../conservation.ts';
import { inParallel } from '../parallel.ts';
import {
  alice,
  allLedgers,
  bob,
  expectBalance,
  grant,
  holdRequest,
  type LedgerCase,
  mustHold,
} from './subject.ts';

const ROUNDS = 3;

const heldIn = (answers: readonly HoldOutcome[]) =>
  answers.filter(({ outcome }) => outcome === 'held').length;

export const raceCases: readonly LedgerCase[] = [
  {
    name: 'grants exactly 10 of 200 parallel holds on credit for 10',
    section: 'race',
    async run(subject) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const account = `user:round-${round}`;
        await grant(subject.ledger, 10 * 7 + 6, account);
        const answers = await inParallel(200, allLedgers(subject), (ledger, at) =>
          ledger.hold(holdRequest(subject, `round ${round} call ${at}`, 7, { account })),
        );
        expect(heldIn(answers)).toBe(10);
        await expectBalance(subject, 76, 70, account);
      }
    },
  },
  {
    name: 'grants exactly 10 of 200 parallel holds under a cap for 10',
    section: 'race',
    async run(subject) {
      await grant(subject.ledger, 1_000_000);
      const cap = { id: 'narrow', limit: 70 };
      const answers = await inParallel(200, allLedgers(subject), (ledger, at) =>
        ledger.hold(holdRequest(subject, `call ${at}`, 7, { cap })),
      );
      expect(heldIn(answers)).toBe(10);
      expect(await subject.ledger.capUsed(cap.id)).toBe(70);
      await expectBalance(subject, 1_000_000, 70);
    },
  },
  {
    name: 'holds once in 50 parallel holds of one key',
    section: 'race',
    async run(subject) {
      await grant(subject.ledger, 100);
      const answers = await inParallel(50, allLedgers(subject), (ledger) =>
        ledger.hold(holdRequest(subject, 'one call', 60)),
      );
      const ids = answers.map((answer) => (answer.outcome === 'held' ? answer.hold.id : answer.outcome));
      expect(new Set(ids).size).toBe(1);
      await expectBalance(subject, 100, 60);
    },
  },
  {
    name: 'charges once in 50 parallel settlements of one hold',
    section: 'race',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const hold = await mustHold(subject, 'call', 60);
      const settlements = await inParallel(50, allLedgers(subject), (ledger, at) =>
        ledger.settle(hold, at + 1),
      );
      const first = settlements.filter((settlement) => settlement.first);
      expect(first).toHaveLength(1);
      const charged = first[0]?.charged ?? 0;
      expect(new Set(settlements.map((settlement) => settlement.charged))).toEqual(new Set([charged]));
      await expectBalance(subject, 1000 - charged, 0);
      expect(await subject.ledger.entries(alice, { limit: 100 })).toHaveLength(2);
    },
  },
  {
    name: 'charges one of several parallel settlements for different amounts and returns it to every caller',
    section: 'race',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const hold = await mustHold(subject, 'call', 500);
      const answers = await inParallel(30, allLedgers(subject), (ledger, at) =>
        ledger.settle(hold, 100 + at),
      );
      const [first, ...others] = answers.filter((answer) => answer.first);
      expect(others).toEqual([]);
      const charged = first?.charged ?? 0;
      expect(charged).toBeGreaterThanOrEqual(100);
      expect(new Set(answers.map((answer) => answer.charged))).toEqual(new Set([charged]));
      await expectBalance(subject, 1000 - charged, 0);
    },
  },
  {
    name: 'charges once and leaves nothing held when settlement, release and renewal run in parallel',
    section: 'race',
    async run(subject) {
      const { time } = subject;
      await grant(subject.ledger, 10_000);
      const cap = { id: 'cap', limit: 10_000 };
      for (let round = 0; round < 10; round += 1) {
        const hold = await mustHold(subject, `call ${round}`, 60, { cap });
        await inParallel(12, allLedgers(subject), async (ledger, at): Promise<unknown> => {
          if (at % 3 === 0) return ledger.settle(hold, 25);
          if (at % 3 === 1) return ledger.release(hold);
          return ledger.renew(hold, time.now() + 41 * time.unit);
        });
        await expectBalance(subject, 10_000 - 25 * (round + 1), 0);
      }
      expect(await subject.ledger.capUsed(cap.id)).toBe(250);
    },
  },
  {
    name: 'makes one of 50 parallel grants of one key',
    section: 'race',
    async run(subject) {
      const made = await inParallel(50, allLedgers(subject), (ledger) =>
        ledger.grant({ account: alice, amount: 100, key: 'welcome', reason: 'free credits' }),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      await expectBalance(subject, 100, 0);
    },
  },
  {
    name: 'never overspends and loses nothing with parallel workers on few accounts',
    section: 'race',
    async run(subject) {
      const accounts = [alice, bob, 'organization:team'];
      const credit = 500;
      for (const account of accounts) await grant(subject.ledger, credit, account);
      await inParallel(60, allLedgers(subject), async (ledger, at) => {
        for (let turn = 0; turn < 4; turn += 1) {
          const account = accounts[(at + turn) % accounts.length] ?? alice;
          const answer = await ledger.hold(
            holdRequest(subject, `worker ${at} turn ${turn}`, 20, { account }),
          );
          if (answer.outcome !== 'held') continue;
          if (turn % 2 === 0) await ledger.settle(answer.hold, 20 - (at % 20));
          else await ledger.release(answer.hold);
          const { available } = await ledger.balance(account);
          expect(available).toBeGreaterThanOrEqual(0);
        }
      });
      const report = await checkConservation(
        subject.ledger,
        accounts,
        accounts.map((account) => ({ account, amount: credit })),
      );
      expect(report.drift).toBe(0);
      expect(report.held).toBe(0);
    },
  },
  {
    name: 'neither frees nor charges twice when late settlements arrive during a sweep',
    section: 'race',
    async run(subject) {
      const { time } = subject;
      await grant(subject.ledger, 1000);
      const holds: Hold[] = [];
      for (let at = 0; at < 10; at += 1) holds.push(await mustHold(subject, `call ${at}`, 50, { units: 1 }));
      await time.advance(1.5 * time.unit);
      const ledgers = allLedgers(subject);
      const counts = await inParallel(20, ledgers, async (ledger, at) => {
        const hold = holds[at];
        if (hold === undefined) return ledger.sweep();
        if (at % 2 === 0) await ledger.settle(hold, 30);
        return 0;
      });
      const swept = counts.reduce((sum, count) => sum + count, 0);
      expect(swept).toBeLessThanOrEqual(10);
      expect(swept + (await subject.ledger.sweep())).toBeGreaterThanOrEqual(5);
      await expectBalance(subject, 1000 - 5 * 30, 0);
    },
  },
];
