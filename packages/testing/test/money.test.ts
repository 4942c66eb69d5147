import { createMemoryLedger } from '@questline/core/memory';
import type { CreditLedger } from '@questline/core/ports';
import { createFakeClock, inParallel, randomFaults, withFaults } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { type MoneyRun, runMoney } from './money-run.ts';

const SEEDS = Array.from({ length: 20 }, (_, at) => at + 1);
const OPERATIONS = 10_000;

function setUp() {
  const clock = createFakeClock();
  return { clock, ledger: createMemoryLedger({ clock, retain: OPERATIONS }) };
}

describe('money in memory', () => {
  it(`is conserved over ${SEEDS.length} seeds of ${OPERATIONS} operations with faults and crashes`, async () => {
    const runs: MoneyRun[] = [];
    for (const seed of SEEDS) {
      const { clock, ledger } = setUp();
      const run = await runMoney(ledger, clock, seed, OPERATIONS);
      runs.push(run);
      expect(run, `seed ${seed}`).toMatchObject({ drift: 0 });
    }
    const sum = (field: keyof MoneyRun) => runs.reduce((total, run) => total + run[field], 0);
    console.log(
      `${runs.length} seeds x ${OPERATIONS} operations: ${sum('faults')} faults, ${sum('crashes')} crashes, ` +
        `${sum('held')} held, ${sum('refused')} refused, ${sum('charged')} charged, drift ${sum('drift')}`,
    );
  });

  it('is reported as lost where it is lost', async () => {
    for (const [name, spoil] of Object.entries(leaks)) {
      const { clock, ledger } = setUp();
      const run = runMoney({ ...ledger, ...spoil(ledger) }, clock, 1, 1000);
      // Either the assertions of the run detect it at once, or the sums at the end.
      const drift = await run.then(
        (report) => report.drift,
        (error: unknown) => (error instanceof Error && error.name === 'AssertionError' ? 'noticed' : error),
      );
      expect(drift === 'noticed' || Number(drift) > 0, `${name}: ${drift}`).toBe(true);
    }
  });

  it('is never overspent by 200 parallel holds on credit for 10 in 100 rounds', async () => {
    let exact = 0;
    for (let round = 0; round < 100; round += 1) {
      const { clock, ledger: sound } = setUp();
      const ledger = withFaults(sound, randomFaults(round, { delay: 0.3 }));
      await sound.grant({ account: 'user:a', amount: 76, key: 'credit', reason: 'test' });
      const answers = await inParallel(200, [ledger], (each, at) =>
        each.hold({
          account: 'user:a',
          amount: 7,
          // Some callers hold twice with the same key.
          key: `call ${at % 150}`,
          expiresAt: clock.now() + 60_000,
          details: { operation: 'createCompletion' },
        }),
      );
      const ids = new Set(answers.flatMap((answer) => (answer.outcome === 'held' ? [answer.hold.id] : [])));
      expect(await sound.balance('user:a')).toEqual({ posted: 76, held: 70, available: 6 });
      if (ids.size === 10) exact += 1;
    }
    console.log(`${exact} of 100 rounds exact`);
    expect(exact).toBe(100);
  });
});

/** Ways to lose or create money that the run must detect. */
const leaks: Record<string, (sound: CreditLedger) => Partial<CreditLedger>> = {
  'settles again after a lost answer': (sound) => ({
    async settle(hold, actual, usage) {
      const settlement = await sound.settle(hold, actual, usage);
      if (settlement.first) return settlement;
      const again = { account: hold.account, amount: -actual, key: `again ${Math.random()}`, reason: '' };
      await sound.grant(again);
      return settlement;
    },
  }),
  'grants again after a lost answer': (sound) => {
    let calls = 0;
    return {
      grant(grant) {
        calls += 1;
        return sound.grant({ ...grant, key: `${grant.key} ${calls}` });
      },
    };
  },
  'charges nothing late': (sound) => ({
    async settle(hold, actual, usage) {
      const isOpen = await sound.renew(hold, hold.expiresAt);
      return isOpen ? sound.settle(hold, actual, usage) : { charged: actual, first: false };
    },
  }),
  'holds more than there is': (sound) => ({
    async hold(request) {
      const answer = await sound.hold(request);
      if (answer.outcome !== 'insufficient_credits') return answer;
      return sound.hold({ ...request, amount: Math.max(0, answer.available) });
    },
  }),
};
