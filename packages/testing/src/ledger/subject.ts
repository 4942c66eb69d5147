import type { CreditLedger, Hold, HoldRequest, SpendCap } from '@questline/core';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

export interface LedgerSubject extends Subject {
  readonly ledger: CreditLedger;
  /** More of the same over the same engine, as other processes would have it. The races are spread over all. */
  readonly peers?: readonly CreditLedger[];
}

export type LedgerCase = Case<LedgerSubject>;

export const alice = 'user:alice';
export const bob = 'user:bob';

/** So many units that no case lets it pass. */
export const LONG = 40;

export function allLedgers({ ledger, peers = [] }: LedgerSubject): readonly CreditLedger[] {
  return [ledger, ...peers];
}

export async function grant(ledger: CreditLedger, amount: number, account = alice, key = `grant ${amount}`) {
  expect(await ledger.grant({ account, amount, key, reason: 'test' })).toBe(true);
}

export interface HoldTerms {
  readonly account?: string;
  /** Units from now. Default: long. */
  readonly units?: number;
  readonly cap?: SpendCap;
  readonly keyId?: string;
  readonly userId?: string;
}

/** A request to hold, with the parts a case does not care about filled in. */
export function holdRequest(
  { time }: Pick<LedgerSubject, 'time'>,
  key: string,
  amount: number,
  { account = alice, units = LONG, cap, keyId, userId }: HoldTerms = {},
): HoldRequest {
  return {
    account,
    amount,
    key,
    expiresAt: time.now() + units * time.unit,
    ...(cap && { cap }),
    details: {
      operation: 'createCompletion',
      ...(keyId !== undefined && { keyId }),
      ...(userId !== undefined && { userId }),
    },
  };
}

/** Holds, and fails the case when that is refused. */
export async function mustHold(
  subject: LedgerSubject,
  key: string,
  amount: number,
  terms?: HoldTerms,
): Promise<Hold> {
  const answer = await subject.ledger.hold(holdRequest(subject, key, amount, terms));
  if (answer.outcome !== 'held') throw new Error(`expected ${key} to be held, but: ${answer.outcome}`);
  return answer.hold;
}

/** Asserts the balance by its three members at once. */
export async function expectBalance(
  { ledger }: Pick<LedgerSubject, 'ledger'>,
  posted: number,
  held: number,
  account = alice,
): Promise<void> {
  expect(await ledger.balance(account)).toEqual({ posted, held, available: posted - held });
}
