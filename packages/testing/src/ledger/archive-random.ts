import type { CreditLedger, HoldCap, UsageDimension } from '@questline/core/ports';
import fc from 'fast-check';
import { expect } from 'vitest';
import { checkConservation } from '../conservation.ts';
import { getRuns } from '../suite.ts';
import { createSides, type Side } from './random.ts';
import type { LedgerCase, LedgerSubject } from './subject.ts';

const HOUR_MS = 3_600_000;
const KEYS = 12;

type Step =
  | { readonly do: 'hold' | 'record'; readonly key: number }
  | { readonly do: 'settle'; readonly key: number; readonly amount: number }
  | { readonly do: 'release'; readonly key: number }
  | { readonly do: 'archive'; readonly limit: number; readonly hours: number }
  | { readonly do: 'advance' };

const key = fc.nat({ max: KEYS - 1 });
const hold = fc.record({ do: fc.constantFrom('hold' as const, 'record' as const), key });
const settle = fc.record({ do: fc.constant('settle' as const), key, amount: fc.nat({ max: 60 }) });

const step: fc.Arbitrary<Step> = fc.oneof(
  hold,
  hold,
  settle,
  settle,
  fc.record({ do: fc.constant('release' as const), key }),
  fc.record({
    do: fc.constant('archive' as const),
    limit: fc.integer({ min: 1, max: 5 }),
    hours: fc.nat({ max: 2 }),
  }),
  fc.record({ do: fc.constant('advance' as const) }),
);

export const archiveRandomCases: readonly LedgerCase[] = [
  {
    name: 'answers like a ledger without an archive for any sequence of calls and archived charges',
    section: 'random',
    async run(subject, random) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), async (steps) => {
          run += 1;
          await compare(subject, steps, run);
        }),
        getRuns(random),
      );
    },
  },
];

/** Runs the steps on the ledger and on one whose charges stay, and compares all that they return. */
async function compare(subject: LedgerSubject, steps: readonly Step[], run: number): Promise<void> {
  const { time } = subject;
  const { tested, reference } = createSides(subject);
  const accounts = [`user:archive-${run}`, `organization:archive-${run}`];
  const users = [`user ${run}`, `other ${run}`];
  const keys = [`key ${run}`, undefined];
  const capIds = [`credits ${run}`, `tokens ${run}`, `requests ${run}`];
  const cap = { id: `cap ${run}`, limit: 100_000 };
  const hasCaps = tested.ledger.capUsage !== undefined;
  const grants = accounts.map((account) => ({
    account,
    amount: 100_000,
    key: `grant ${run}`,
    reason: 'test',
  }));
  for (const one of grants) for (const { ledger } of [tested, reference]) await ledger.grant(one);
  // Both sides must use the same instant.
  const expiresAt = time.now() + (time.isExact ? HOUR_MS : 40 * time.unit);

  const toDetails = (number: number) => {
    const keyId = keys[number % 2];
    return {
      operation: number % 3 === 0 ? 'chat' : 'image',
      userId: users[number % 3 === 1 ? 1 : 0] ?? '',
      ...(number % 4 > 0 && { model: `model ${number % 4}` }),
      ...(keyId !== undefined && { keyId }),
    };
  };
  const toCall = (number: number) => ({
    account: accounts[number % 5 === 0 ? 1 : 0] ?? '',
    key: `${run} call ${number}`,
    details: toDetails(number),
  });
  const toCaps = (): readonly HoldCap[] =>
    (['credits', 'tokens', 'requests'] as const).map((unit, at) => ({
      ...{ id: capIds[at] ?? '', unit, limit: 100_000, amount: unit === 'requests' ? 1 : 20 },
    }));

  const perform = async ({ ledger, holds }: Side, now: Step): Promise<unknown> => {
    switch (now.do) {
      case 'hold': {
        const more = {
          ...(now.key % 2 === 0 && { cap }),
          ...(hasCaps && now.key % 3 < 2 && { caps: toCaps() }),
        };
        const outcome = await ledger.hold({ ...toCall(now.key), amount: 20, expiresAt, ...more });
        if (outcome.outcome !== 'held') return outcome;
        holds.set(now.key, outcome.hold);
        return outcome.hold.amount;
      }
      case 'record':
        return ledger.record({ ...toCall(now.key), usage: { input: now.key, seconds: 0.25 } });
      case 'settle': {
        const one = holds.get(now.key);
        const usage = now.key % 4 === 3 ? undefined : { output: now.amount, seconds: 0.5 };
        return one && ledger.settle(one, now.amount, usage);
      }
      case 'release': {
        const one = holds.get(now.key);
        return one && ledger.release(one);
      }
      default:
        return undefined;
    }
  };

  const expectEqual = async (): Promise<void> => {
    const [left, right] = [tested, reference].map(({ ledger }) => look(ledger, time.now()));
    expect(await left).toEqual(await right);
  };
  const look = async (ledger: CreditLedger, now: number) => {
    const hour = now - (now % HOUR_MS);
    const [account = '', organization = ''] = accounts;
    const [userId = '', other = ''] = users;
    const [keyId = ''] = keys;
    const filters = [{ account }, { account: organization, userId }, { userId: other }, { keyId }];
    const groups: readonly (readonly UsageDimension[])[] = [
      ['day', 'model'],
      ['operation', 'key'],
      ['user', 'organization'],
      [],
    ];
    const sums = filters.map((filter, at) => {
      const from = at % 2 === 0 ? 0 : hour - 2 * HOUR_MS;
      return ledger.sumCharges?.({ filter, from, to: hour + HOUR_MS, groupBy: groups[at] ?? [], limit: 100 });
    });
    const spent = [
      ledger.spent({ account }, 0),
      ledger.spent({ userId }, hour - HOUR_MS),
      ledger.spent({ keyId }, 0),
    ];
    return {
      balances: await Promise.all(accounts.map((one) => ledger.balance(one))),
      sums: await Promise.all(sums),
      spent: await Promise.all(spent),
      capUsed: await ledger.capUsed(cap.id),
      caps: hasCaps ? await ledger.capUsage?.(capIds) : [],
    };
  };
  const exportAll = async ({ ledger }: Side) => {
    const pages = accounts.map((one) => ledger.exportEntries?.({ account: one, after: 0, limit: 1000 }));
    return (await Promise.all(pages)).map((entries) =>
      entries?.map(({ kind, amount, reason, key: of }) => [kind, amount, reason, of]),
    );
  };

  try {
    for (const now of steps) {
      if (now.do === 'advance' && time.isExact) await time.advance(HOUR_MS / 3);
      if (now.do === 'archive') {
        await Promise.all([tested, reference].map(({ ledger }) => ledger.sweep()));
        const page = { before: time.now() - now.hours * HOUR_MS + 1, limit: now.limit };
        await tested.ledger.archiveCharges?.(page, async () => {});
        await expectEqual();
      } else expect(await perform(tested, now)).toEqual(await perform(reference, now));
    }
    await expectEqual();
    if (tested.ledger.exportEntries) expect(await exportAll(tested)).toEqual(await exportAll(reference));
    expect((await checkConservation(tested.ledger, accounts, grants)).drift).toBe(0);
  } finally {
    // Close open holds, which would expire in sweeps of the next run.
    for (const one of tested.holds.values()) await tested.ledger.release(one);
    await tested.ledger.sweep();
  }
}
