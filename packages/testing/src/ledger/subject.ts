import type { CreditLedger, Hold, HoldCap, HoldRequest, SpendCap } from '@questline/core/ports';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

export interface LedgerSubject extends Subject {
  readonly ledger: CreditLedger;
  /** Further handles on the same engine, like other processes. Concurrency cases use all of them. */
  readonly peers?: readonly CreditLedger[];
}

export type LedgerCase = Case<LedgerSubject>;

export const alice = 'user:alice';
export const bob = 'user:bob';

/** In units: longer than any case. */
export const LONG = 40;

export function allLedgers({ ledger, peers = [] }: LedgerSubject): readonly CreditLedger[] {
  return [ledger, ...peers];
}

export async function grant(ledger: CreditLedger, amount: number, account = alice, key = `grant ${amount}`) {
  expect(await ledger.grant({ account, amount, key, reason: 'test' })).toBe(true);
}

export interface HoldInput {
  readonly account?: string;
  /** Units from now. Default: long. */
  readonly units?: number;
  readonly cap?: SpendCap;
  readonly caps?: readonly HoldCap[];
  readonly ignoresBalance?: true;
  readonly keyId?: string;
  readonly userId?: string;
}

/** A hold request with defaults. */
export function holdRequest(
  { time }: Pick<LedgerSubject, 'time'>,
  key: string,
  amount: number,
  { account = alice, units = LONG, cap, caps, ignoresBalance, keyId, userId }: HoldInput = {},
): HoldRequest {
  return {
    account,
    amount,
    key,
    expiresAt: time.now() + units * time.unit,
    ...(cap && { cap }),
    ...(caps && { caps }),
    ...(ignoresBalance && { ignoresBalance }),
    details: {
      operation: 'createCompletion',
      ...(keyId !== undefined && { keyId }),
      ...(userId !== undefined && { userId }),
    },
  };
}

/** Holds; fails the case on a refusal. */
export async function mustHold(
  subject: LedgerSubject,
  key: string,
  amount: number,
  input?: HoldInput,
): Promise<Hold> {
  const answer = await subject.ledger.hold(holdRequest(subject, key, amount, input));
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
