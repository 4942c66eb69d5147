import type { CreditLedger } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { archiveAll } from './archive.ts';
import {
  alice,
  allLedgers,
  expectBalance,
  grant,
  holdRequest,
  type LedgerCase,
  mustHold,
} from './subject.ts';

const HOUR_MS = 3_600_000;

/** The races of the archive with calls. */
export const archiveRaceCases: readonly LedgerCase[] = [
  {
    name: 'charges each of 30 released holds once in parallel late settlements while charges are archived',
    section: 'race',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 1000);
      const holds = await inParallel(30, [ledger], async (_, at) => mustHold(subject, `call ${at}`, 10));
      for (const hold of holds) await ledger.release(hold);
      await time.advance(time.unit);
      const before = time.now();
      const ledgers = allLedgers(subject);
      const archiving = Promise.all(
        ledgers.map(async (peer) => {
          for (let at = 0; at < 20; at += 1)
            await peer.archiveCharges?.({ before, limit: 5 }, async () => {});
        }),
      );
      const settlements = await inParallel(90, ledgers, async (peer, at) => {
        const hold = holds[at % 30];
        if (hold === undefined) throw new Error('no hold');
        return peer.settle(hold, 7, { output: 1 });
      });
      await archiving;
      expect(settlements.filter(({ first }) => first)).toHaveLength(30);
      expect(settlements.every(({ charged }) => charged === 7)).toBe(true);
      await expectBalance(subject, 1000 - 30 * 7, 0);
      await archiveAll(ledger, before);
      expect(await ledger.spent({ account: alice }, 0)).toBe(210);
      const sums = await ledger.sumCharges?.({
        filter: {},
        from: 0,
        to: time.now() + HOUR_MS,
        groupBy: [],
        limit: 1,
      });
      if (sums !== undefined)
        expect(sums).toMatchObject([{ requests: 30, amount: 210, usage: { output: 30 } }]);
    },
  },
  {
    name: 'charges and records each key once in parallel repetitions while charges are archived',
    section: 'race',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 1000);
      const ledgers = allLedgers(subject);
      const call = async (peer: CreditLedger, key: string): Promise<number> => {
        await peer.record({ account: alice, key, details: { operation: 'sendChatMessage' } });
        const outcome = await peer.hold(holdRequest(subject, key, 5));
        if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
        expect(outcome.hold.amount).toBe(5);
        return (await peer.settle(outcome.hold, 3)).charged;
      };
      const first = await inParallel(20, ledgers, async (peer, at) => call(peer, `call ${at}`));
      await time.advance(time.unit);
      const before = time.now() + HOUR_MS;
      const archiving = archiveAll(ledger, before, 2);
      const again = await inParallel(120, ledgers, async (peer, at) => call(peer, `call ${at % 20}`));
      await archiving;
      await archiveAll(ledger, before);
      const later = await inParallel(40, ledgers, async (peer, at) => call(peer, `call ${at % 20}`));
      await archiveAll(ledger, before);
      expect(new Set([...first, ...again, ...later])).toEqual(new Set([3]));
      expect(await ledger.charges({ account: alice }, 100)).toEqual([]);
      await expectBalance(subject, 1000 - 20 * 3, 0);
      const sums = await ledger.sumCharges?.({ filter: {}, from: 0, to: before, groupBy: [], limit: 1 });
      if (sums !== undefined) expect(sums).toMatchObject([{ requests: 40, amount: 60 }]);
    },
  },
];
