import type { CreditLedger, Hold } from '@questline/core/ports';
import {
  checkConservation,
  createRandom,
  type FakeClock,
  InjectedFault,
  type Random,
  randomFaults,
  withFaults,
} from '@questline/testing';
import { expect } from 'vitest';

/** The observed state of one hold. */
interface Known {
  readonly key: string;
  readonly account: string;
  /** The amount of a settlement: equal for every caller, so that the order does not matter. */
  readonly actual: number;
  readonly hold: Hold;
  isEnded: boolean;
}

export interface MoneyRun {
  readonly operations: number;
  readonly faults: number;
  readonly crashes: number;
  readonly held: number;
  readonly refused: number;
  readonly charged: number;
  /** Inconsistent micro-credits in balances, entries, charges, grants, caps and the records of the run. */
  readonly drift: number;
}

/** Never expires and is never charged above its hold: this account may never fall below zero. */
const STRICT = 'user:strict';
const ACCOUNTS = [STRICT, 'user:lapsing', 'user:short', 'organization:all'] as const;
const CAP = { id: 'cap', limit: 2_000_000 };
const AT_ONCE = 4;
const PATIENT = 15 * 60_000;

/** A port call of a caller: retried when it fails, unless the caller crashes first. */
type Outcome<T> =
  | { readonly isAnswered: true; readonly value: T }
  | { readonly isAnswered: false; readonly isApplied: boolean };

/**
 * Random work on a ledger whose calls fail before, fail after, or take effect late, by callers that retry or
 * crash. The run records what was applied, and compares it at the end.
 */
export async function runMoney(
  sound: CreditLedger,
  clock: FakeClock,
  seed: number,
  operations: number,
): Promise<MoneyRun> {
  const random = createRandom(seed);
  const ledger = withFaults(sound, randomFaults(seed, { before: 0.06, after: 0.06, delay: 0.02 }));
  const grants: { account: string; amount: number }[] = [];
  const open: Known[] = [];
  const settled = new Map<string, Known>();
  const capped = new Set<string>();
  const counts = { faults: 0, crashes: 0, held: 0, refused: 0 };
  let number = 0;

  const call = async <T>(perform: () => Promise<T>): Promise<Outcome<T>> => {
    let isApplied = false;
    for (;;) {
      try {
        return { isAnswered: true, value: await perform() };
      } catch (error) {
        if (!(error instanceof InjectedFault)) throw error;
        counts.faults += 1;
        isApplied ||= error.isApplied;
        if (random.chance(0.3)) {
          counts.crashes += 1;
          return { isAnswered: false, isApplied };
        }
      }
    }
  };

  const grant = async () => {
    const account = random.pick(ACCOUNTS);
    const amount = random.below(50_000) - (account === STRICT ? 0 : 5000);
    number += 1;
    const given = { account, amount, key: `grant ${number}`, reason: 'test' };
    const outcome = await call(() => ledger.grant(given));
    if (outcome.isAnswered || outcome.isApplied) grants.push(given);
  };

  const hold = async () => {
    const account = random.pick(ACCOUNTS);
    const amount = random.below(20_000);
    number += 1;
    const key = `call ${number}`;
    const isCapped = random.chance(0.2);
    if (isCapped) capped.add(key);
    const isLapsing = account !== STRICT && account !== 'user:short' && random.chance(0.4);
    const request = {
      account,
      amount,
      key,
      // The holds of the strict account outlive the run.
      expiresAt: clock.now() + (account === STRICT ? 1000 * PATIENT : isLapsing ? 1000 : PATIENT),
      ...(isCapped && { cap: CAP }),
      details: { operation: 'createCompletion', keyId: `key ${random.below(5)}` },
    };
    const outcome = await call(() => ledger.hold(request));
    // A crashed worker resumes with the same key, and either finds the hold or creates it.
    const answer = outcome.isAnswered ? outcome.value : await sound.hold(request);
    if (answer.outcome !== 'held') {
      counts.refused += 1;
      return;
    }
    counts.held += 1;
    const share = account === STRICT || account === 'user:lapsing' ? 1 : 1.5;
    const actual = random.chance(0.1) ? 0 : random.below(Math.floor(amount * share) + 1);
    open.push({ key, account, actual, hold: answer.hold, isEnded: false });
  };

  const settle = async (known: Known) => {
    const outcome = await call(() => ledger.settle(known.hold, known.actual, { output: known.actual }));
    if (outcome.isAnswered) expect(outcome.value.charged).toBe(known.actual);
    if (outcome.isAnswered || outcome.isApplied) settled.set(known.key, known);
    known.isEnded = outcome.isAnswered && random.chance(0.9);
  };

  const work: readonly (() => Promise<unknown>)[] = [
    grant,
    hold,
    hold,
    hold,
    () => withOpen(random, open, settle),
    () => withOpen(random, open, settle),
    () =>
      withOpen(random, open, async (known) => {
        await call(() => ledger.release(known.hold));
        // A released hold may still be settled later.
        known.isEnded = random.chance(0.5);
      }),
    () =>
      withOpen(random, open, (known) => call(() => ledger.renew(known.hold, known.hold.expiresAt + 1000))),
    () => call(() => ledger.sweep()),
  ];

  for (let done = 0; done < operations; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => random.pick(work)()));
    if (random.chance(0.1)) await clock.advance(random.below(2000));
    const { available } = await sound.balance(STRICT);
    expect(available).toBeGreaterThanOrEqual(0);
    if (open.length > 60) for (const known of open.splice(0, 30)) if (random.chance(0.5)) await settle(known);
  }

  // At the end some callers settle, and the other holds expire.
  for (const known of open) if (random.chance(0.5)) await settle(known);
  await clock.advance(2000 * PATIENT);
  await sound.sweep();

  const report = await checkConservation(sound, ACCOUNTS, grants);
  let drift = report.drift + Math.abs(report.held);
  for (const account of ACCOUNTS) {
    const granted = grants.reduce((sum, each) => sum + (each.account === account ? each.amount : 0), 0);
    let charged = 0;
    for (const known of settled.values()) if (known.account === account) charged += known.actual;
    drift += Math.abs((await sound.balance(account)).posted - (granted - charged));
  }
  let underCap = 0;
  for (const known of settled.values()) if (capped.has(known.key)) underCap += known.actual;
  drift += Math.abs((await sound.capUsed(CAP.id)) - underCap);
  return { operations, ...counts, charged: settled.size, drift };
}

/** Acts on a random open hold, if there is any, and removes it when it has ended. */
async function withOpen(
  random: Random,
  open: Known[],
  act: (known: Known) => Promise<unknown>,
): Promise<void> {
  if (open.length === 0) return;
  const known = random.pick(open);
  await act(known);
  const at = open.indexOf(known);
  if (known.isEnded && at >= 0) open.splice(at, 1);
}
