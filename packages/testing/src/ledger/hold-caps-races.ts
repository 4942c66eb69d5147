import type { CapUnit, HoldCap } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { alice, allLedgers, bob, grant, holdRequest, type LedgerCase } from './subject.ts';

const ACCOUNTS = [alice, bob, 'organization:team'];

function toCap(unit: CapUnit, amount: number, limit: number): HoldCap {
  return { id: unit, unit, amount, limit };
}

export const holdCapRaceCases: readonly LedgerCase[] = [
  {
    name: 'grants exactly what the tightest of three stacked caps allows to 200 parallel holds',
    section: 'race',
    async run(subject) {
      const caps = [toCap('credits', 7, 700), toCap('tokens', 30, 330), toCap('requests', 1, 100)];
      for (const account of ACCOUNTS) await grant(subject.ledger, 100_000, account);
      const answers = await inParallel(200, allLedgers(subject), (ledger, at) => {
        const account = ACCOUNTS[at % ACCOUNTS.length] ?? alice;
        return ledger.hold(holdRequest(subject, `call ${at}`, 7, { account, caps }));
      });
      expect(answers.filter(({ outcome }) => outcome === 'held')).toHaveLength(11);
      for (const answer of answers) {
        if (answer.outcome !== 'held')
          expect(answer).toMatchObject({ outcome: 'cap_exceeded', capId: 'tokens' });
      }
      expect(await subject.ledger.capUsage?.(caps.map(({ id }) => id))).toEqual(
        [77, 330, 11].map((reserved) => ({ spent: 0, reserved })),
      );
    },
  },
  {
    name: 'adds up every cap when holds with caps in any order are settled and released in parallel',
    section: 'race',
    async run(subject) {
      const all = [
        toCap('credits', 20, 5000),
        toCap('tokens', 9, 5000),
        toCap('requests', 1, 5000),
        toCap('concurrent', 1, 9),
      ];
      for (const account of ACCOUNTS) await grant(subject.ledger, 100_000, account);
      let open = 0;
      let most = 0;
      const settled = await inParallel(60, allLedgers(subject), async (ledger, at) => {
        let count = 0;
        for (let turn = 0; turn < 4; turn += 1) {
          const account = ACCOUNTS[(at + turn) % ACCOUNTS.length] ?? alice;
          const caps = at % 2 === 0 ? all : all.toReversed();
          const key = `worker ${at} turn ${turn}`;
          const answer = await ledger.hold(holdRequest(subject, key, 20, { account, caps }));
          if (answer.outcome !== 'held') continue;
          open += 1;
          most = Math.max(most, open);
          const isSettled = (at + turn) % 3 > 0;
          open -= 1;
          if (isSettled) await ledger.settle(answer.hold, 15, { input: 5 });
          else await ledger.release(answer.hold);
          if (isSettled) count += 1;
        }
        return count;
      });
      const count = settled.reduce((sum, one) => sum + one, 0);
      expect(count).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(9);
      expect(await subject.ledger.capUsage?.(all.map(({ id }) => id))).toEqual(
        [15 * count, 5 * count, count, 0].map((spent) => ({ spent, reserved: 0 })),
      );
    },
  },
];
