import type { ChargeDetails, Usage } from '@questline/core/ports';
import type { TestApp } from './test-app.ts';

export interface PaidCall extends Partial<ChargeDetails> {
  /** Default: the account of the app's user. */
  readonly account?: string;
  /** In micro-credits. Default 1,000,000. */
  readonly amount?: number;
  readonly usage?: Usage;
  /** Default: the call is settled. */
  readonly end?: 'released' | 'reserved';
}

/** Writes one charge to the ledger. */
export async function pay(
  { ledger, clock, services, account: own }: TestApp,
  call: PaidCall = {},
): Promise<void> {
  const { account = own, amount = 1_000_000, usage, end, operation = 'test', ...details } = call;
  const key = services.ids.next();
  const expiresAt = clock.now() + 60_000;
  const held = await ledger.hold({ account, amount, key, expiresAt, details: { operation, ...details } });
  if (held.outcome !== 'held') throw new Error(`the hold was answered with ${held.outcome}`);
  if (end === 'released') await ledger.release(held.hold);
  if (end === undefined) await ledger.settle(held.hold, amount, usage);
}

/** Adds credits to an account. */
export async function grant({ ledger, services }: TestApp, account: string, credits: number): Promise<void> {
  await ledger.grant({ account, amount: credits * 1_000_000, key: services.ids.next(), reason: 'grant' });
}
