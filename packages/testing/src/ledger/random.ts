import { createMemoryLedger } from '@questline/core/memory';
import type { CapUnit, CreditLedger, Hold, HoldCap } from '@questline/core/ports';
import fc from 'fast-check';
import { expect } from 'vitest';
import { checkConservation } from '../conservation.ts';
import { getRuns } from '../suite.ts';
import { holdRequest, type LedgerCase, type LedgerSubject, LONG } from './subject.ts';

type Step =
  | { readonly do: 'grant' | 'hold'; readonly account: number; readonly key: number; readonly amount: number }
  | { readonly do: 'settle'; readonly key: number; readonly amount: number }
  | { readonly do: 'release' | 'renew'; readonly key: number; readonly amount?: number }
  | { readonly do: 'sweep' | 'advance' };

const key = fc.nat({ max: 11 });
const account = fc.nat({ max: 1 });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('grant' as const), account, key, amount: fc.integer({ min: -20, max: 60 }) }),
  fc.record({ do: fc.constant('hold' as const), account, key, amount: fc.nat({ max: 40 }) }),
  fc.record({ do: fc.constant('hold' as const), account, key, amount: fc.nat({ max: 40 }) }),
  fc.record({ do: fc.constant('settle' as const), key, amount: fc.nat({ max: 60 }) }),
  fc.record({ do: fc.constant('release' as const), key }),
  fc.record({ do: fc.constant('renew' as const), key }),
  fc.record({ do: fc.constantFrom('sweep' as const, 'advance' as const) }),
);

/** One side of the comparison: a ledger and its holds by key. */
export interface Side {
  readonly ledger: CreditLedger;
  readonly holds: Map<number, Hold>;
}

/** The ledger under test, and the reference in memory on the same clock. */
export function createSides({ time, ledger }: LedgerSubject): {
  readonly tested: Side;
  readonly reference: Side;
} {
  const clock = { now: () => time.now(), timer: () => () => undefined };
  return {
    tested: { ledger, holds: new Map() },
    reference: { ledger: createMemoryLedger({ clock }), holds: new Map() },
  };
}

export const randomCases: readonly LedgerCase[] = [
  {
    name: 'behaves like the reference for any sequence of calls',
    section: 'random',
    async run(subject, random) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
          run += 1;
          await compare(subject, steps, run);
        }),
        getRuns(random),
      );
    },
  },
];

async function compare(subject: LedgerSubject, steps: readonly Step[], run: number): Promise<void> {
  const { time } = subject;
  const { tested, reference } = createSides(subject);
  const hasCaps = tested.ledger.capUsage !== undefined;
  const accounts = [`user:run-${run}-a`, `user:run-${run}-b`];
  const cap = { id: `cap ${run}`, limit: 150 };
  const grants = new Map<string, { account: string; amount: number }>();
  const units: readonly CapUnit[] = ['credits', 'tokens', 'requests', 'concurrent'];
  const limits = { credits: 90, tokens: 120, requests: 5, concurrent: 3 };
  const capIds = units.map((unit) => `${unit} ${run}`);
  const toCaps = (key: number, amount: number): readonly HoldCap[] =>
    units.slice(key % units.length).map((unit) => ({
      id: `${unit} ${run}`,
      unit,
      limit: limits[unit],
      amount: unit === 'credits' || unit === 'tokens' ? amount : 1,
    }));
  // Both sides must use the same instant.
  const expiries = { short: time.now() + time.unit, long: time.now() + LONG * time.unit };

  const perform = async ({ ledger, holds }: Side, now: Step): Promise<unknown> => {
    switch (now.do) {
      case 'grant': {
        const name = accounts[now.account] ?? '';
        const grant = { account: name, amount: now.amount, key: `${run} grant ${now.key}`, reason: 'test' };
        const isMade = await ledger.grant(grant);
        if (isMade) grants.set(`${name} ${now.key}`, grant);
        return isMade;
      }
      case 'hold': {
        const request = holdRequest(subject, `${run} hold ${now.key}`, now.amount, {
          account: accounts[now.key % 2] ?? '',
          ...(now.key % 3 === 0 && { cap }),
          ...(hasCaps && now.key % 5 < 3 && { caps: toCaps(now.key, now.amount) }),
        });
        const expiresAt = time.isExact && now.key % 4 === 1 ? expiries.short : expiries.long;
        const answer = await ledger.hold({ ...request, expiresAt });
        if (answer.outcome !== 'held') return answer;
        holds.set(now.key, answer.hold);
        return answer.hold.amount;
      }
      case 'settle': {
        const hold = holds.get(now.key);
        return hold && ledger.settle(hold, now.amount, now.key === 1 ? undefined : { output: now.amount });
      }
      case 'release': {
        const hold = holds.get(now.key);
        return hold && ledger.release(hold);
      }
      case 'renew': {
        const hold = holds.get(now.key);
        return hold && ledger.renew(hold, expiries.long);
      }
      case 'sweep':
        return ledger.sweep();
      case 'advance':
        return undefined;
    }
  };

  const walk = async (): Promise<void> => {
    for (const now of steps) {
      if (now.do === 'advance' && time.isExact) await time.advance(time.unit / 3);
      expect(await perform(tested, now)).toEqual(await perform(reference, now));
      for (const name of accounts) {
        expect(await tested.ledger.balance(name)).toEqual(await reference.ledger.balance(name));
      }
      expect(await tested.ledger.capUsed(cap.id)).toBe(await reference.ledger.capUsed(cap.id));
      if (hasCaps)
        expect(await tested.ledger.capUsage?.(capIds)).toEqual(await reference.ledger.capUsage?.(capIds));
    }
    for (const name of accounts) {
      const outline = async ({ ledger }: Side) =>
        (await ledger.charges({ account: name }, 100)).map(({ status, amount }) => ({ status, amount }));
      await tested.ledger.sweep();
      await reference.ledger.sweep();
      expect(await outline(tested)).toEqual(await outline(reference));
    }
    expect((await checkConservation(tested.ledger, accounts, [...grants.values()])).drift).toBe(0);
  };

  try {
    await walk();
  } finally {
    // Close open holds, which would expire in sweeps of the next run.
    for (const hold of tested.holds.values()) await tested.ledger.release(hold);
    await tested.ledger.sweep();
  }
}
