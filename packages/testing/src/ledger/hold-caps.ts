import type { CapUnit, HoldCap } from '@questline/core/ports';
import { expect } from 'vitest';
import {
  bob,
  expectBalance,
  grant,
  holdRequest,
  type LedgerCase,
  type LedgerSubject,
  mustHold,
} from './subject.ts';

/** Returns a cap with the id of its unit. */
function cap(unit: CapUnit, amount: number, limit = 1000, id: string = unit): HoldCap {
  return { id, unit, amount, limit };
}

const UNITS = ['credits', 'tokens', 'requests', 'concurrent'] as const;
/** One cap of each unit. */
const EACH = [cap('credits', 70), cap('tokens', 500), cap('requests', 1), cap('concurrent', 1)];

/** Asserts the spent and reserved amounts of caps by id. */
async function expectCaps(
  { ledger }: Pick<LedgerSubject, 'ledger'>,
  expected: Readonly<Record<string, readonly [spent: number, reserved: number]>>,
): Promise<void> {
  const usages = await ledger.capUsage?.(Object.keys(expected));
  expect(usages).toEqual(Object.values(expected).map(([spent, reserved]) => ({ spent, reserved })));
}

const NOTHING = { credits: [0, 0], tokens: [0, 0], requests: [0, 0], concurrent: [0, 0] } as const;
const RESERVED = { credits: [0, 70], tokens: [0, 500], requests: [0, 1], concurrent: [0, 1] } as const;

export const holdCapCases: readonly LedgerCase[] = [
  {
    name: 'reserves the amount of each cap, and replaces it by the actual one on settlement',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      await expectCaps(subject, NOTHING);
      const hold = await mustHold(subject, 'call', 70, { caps: EACH });
      await expectCaps(subject, RESERVED);
      const usage = { input: 100, output: 20, cachedInput: 3, cacheWrite: 4, reasoning: 5, images: 9 };
      await subject.ledger.settle(hold, 45, usage);
      await subject.ledger.settle(hold, 46, usage);
      const settled = { credits: [45, 0], tokens: [132, 0], requests: [1, 0], concurrent: [0, 0] } as const;
      await expectCaps(subject, settled);
      await subject.ledger.release(hold);
      await expectCaps(subject, settled);
      await expectBalance(subject, 955, 0);
    },
  },
  {
    name: 'counts the reserved tokens of a settlement without usage',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const hold = await mustHold(subject, 'call', 70, { caps: EACH });
      await subject.ledger.settle(hold, 45);
      await expectCaps(subject, { ...NOTHING, credits: [45, 0], tokens: [500, 0], requests: [1, 0] });
    },
  },
  {
    name: 'returns every unit on release',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const hold = await mustHold(subject, 'call', 70, { caps: EACH });
      await subject.ledger.release(hold);
      await subject.ledger.release(hold);
      await expectCaps(subject, NOTHING);
      await mustHold(subject, 'next', 70, { caps: UNITS.map((unit) => cap(unit, 1, 1)) });
    },
  },
  {
    name: 'gives the place of an ended hold to the next one under a concurrent cap',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const caps = [cap('concurrent', 1, 1)];
      for (const at of [1, 2, 3]) {
        const hold = await mustHold(subject, `call ${at}`, 10, { caps });
        const refused = await subject.ledger.hold(holdRequest(subject, `other ${at}`, 10, { caps }));
        expect(refused).toEqual({
          outcome: 'cap_exceeded',
          capId: 'concurrent',
          spent: 0,
          reserved: 1,
          limit: 1,
          required: 1,
        });
        await subject.ledger.settle(hold, 10, { input: 1 });
      }
      await expectBalance(subject, 970, 0);
    },
  },
  ...[0, 1, 2].map(
    (at): LedgerCase => ({
      name: `refuses by the cap at position ${at + 1} of 3, and counts against none`,
      section: 'behaviour',
      async run(subject) {
        await grant(subject.ledger, 1000);
        const caps = (['requests', 'tokens', 'credits'] as const).map((unit, place) =>
          cap(unit, 10, place === at ? 9 : 1000),
        );
        const spendCap = { id: 'key:1', limit: 100 };
        const refused = await subject.ledger.hold(holdRequest(subject, 'call', 10, { cap: spendCap, caps }));
        const { id: capId = '', limit = 0 } = caps[at] ?? {};
        expect(refused).toEqual({
          outcome: 'cap_exceeded',
          capId,
          spent: 0,
          reserved: 0,
          limit,
          required: 10,
        });
        await expectCaps(subject, { requests: [0, 0], tokens: [0, 0], credits: [0, 0] });
        expect(await subject.ledger.capUsed('key:1')).toBe(0);
        await expectBalance(subject, 1000, 0);
        expect(await subject.ledger.charges({}, 10)).toEqual([]);
      },
    }),
  ),
  {
    name: 'counts against no cap what the balance or the spend cap refuses',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 50);
      const poor = await subject.ledger.hold(holdRequest(subject, 'poor', 60, { caps: EACH }));
      expect(poor).toEqual({ outcome: 'insufficient_credits', available: 50, required: 60 });
      const spendCap = { id: 'small', limit: 5 };
      const over = await subject.ledger.hold(holdRequest(subject, 'over', 6, { cap: spendCap, caps: EACH }));
      expect(over).toEqual({ outcome: 'spend_cap_exceeded', used: 0, limit: 5, required: 6 });
      await expectCaps(subject, NOTHING);
    },
  },
  {
    name: 'counts a spend cap beside further caps',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const spendCap = { id: 'key:1', limit: 100 };
      const hold = await mustHold(subject, 'call', 70, { cap: spendCap, caps: EACH });
      expect(await subject.ledger.capUsed('key:1')).toBe(70);
      await expectCaps(subject, RESERVED);
      await subject.ledger.settle(hold, 45, {});
      expect(await subject.ledger.capUsed('key:1')).toBe(45);
    },
  },
  {
    name: 'counts the same hold key once against its caps, and answers it although they are full',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const caps = UNITS.map((unit) => cap(unit, 1, 1));
      const first = await mustHold(subject, 'call', 70, { caps });
      const again = await mustHold(subject, 'call', 70, { caps });
      expect(again.id).toBe(first.id);
      const reserved = [0, 1] as const;
      await expectCaps(subject, {
        credits: reserved,
        tokens: reserved,
        requests: reserved,
        concurrent: reserved,
      });
    },
  },
  {
    name: 'stops counting an expired hold against its caps without a sweep, and counts its late settlement',
    section: 'behaviour',
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 1000);
      const caps = UNITS.map((unit) => cap(unit, 1, 1));
      const hold = await mustHold(subject, 'lapsing', 10, { caps, units: 1 });
      await time.advance(1.5 * time.unit);
      await expectCaps(subject, NOTHING);
      const next = await mustHold(subject, 'next', 10, { caps });
      await ledger.sweep();
      await ledger.release(next);
      await ledger.settle(hold, 30, { output: 7 });
      await ledger.settle(hold, 30, { output: 7 });
      await expectCaps(subject, { credits: [30, 0], tokens: [7, 0], requests: [1, 0], concurrent: [0, 0] });
    },
  },
  {
    name: 'counts the settlement of a released hold against its caps',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const hold = await mustHold(subject, 'call', 70, { caps: EACH });
      await subject.ledger.release(hold);
      await subject.ledger.sweep();
      await subject.ledger.settle(hold, 45, { output: 7 });
      await expectCaps(subject, { credits: [45, 0], tokens: [7, 0], requests: [1, 0], concurrent: [0, 0] });
    },
  },
  {
    name: 'shares a cap between accounts',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      await grant(subject.ledger, 1000, bob);
      const caps = [cap('requests', 1, 2)];
      await mustHold(subject, 'first', 10, { caps });
      await mustHold(subject, 'second', 10, { caps, account: bob });
      const refused = await subject.ledger.hold(holdRequest(subject, 'third', 10, { caps, account: bob }));
      expect(refused.outcome).toBe('cap_exceeded');
    },
  },
  {
    name: 'holds 0 on an account without credit if the balance is ignored, and still obeys the caps',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, -5);
      const refused = await subject.ledger.hold(holdRequest(subject, 'poor', 0));
      expect(refused.outcome).toBe('insufficient_credits');
      const input = { caps: [cap('requests', 1, 1)], ignoresBalance: true } as const;
      const hold = await mustHold(subject, 'free', 0, input);
      const over = await subject.ledger.hold(holdRequest(subject, 'more', 0, input));
      expect(over.outcome).toBe('cap_exceeded');
      await subject.ledger.settle(hold, 0, { input: 3 });
      await expectCaps(subject, { requests: [1, 0] });
      await expectBalance(subject, -5, 0);
    },
  },
  {
    name: 'has counted nothing against an unknown cap',
    section: 'behaviour',
    async run({ ledger }) {
      expect(await ledger.capUsage?.(['unknown'])).toEqual([{ spent: 0, reserved: 0 }]);
    },
  },
  {
    name: 'rejects caps with equal ids and amounts that are not whole numbers',
    section: 'behaviour',
    async run(subject) {
      await grant(subject.ledger, 1000);
      const twice = holdRequest(subject, 'twice', 1, {
        caps: [cap('requests', 1), cap('tokens', 1, 9, 'requests')],
      });
      await expect(subject.ledger.hold(twice)).rejects.toThrow(RangeError);
      for (const amount of [-1, 0.5, Number.NaN, 2 ** 53]) {
        const request = holdRequest(subject, `amount ${amount}`, 1, { caps: [cap('tokens', amount)] });
        await expect(subject.ledger.hold(request)).rejects.toThrow(RangeError);
      }
      await expectBalance(subject, 1000, 0);
    },
  },
];
