import type { ApiRequest } from './http/message.ts';
import type { Scope } from './identity/scopes.ts';
import type { Operation } from './operation.ts';
import type { SpendCap } from './ports/ledger.ts';

/** Somebody with an API key. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly userId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** The organization that pays for what this key does. */
  readonly organizationId: string | undefined;
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
  readonly spendCap: KeySpendCap | undefined;
}

/** What one key may spend in a period of the calendar (UTC). */
export interface KeySpendCap {
  /** Micro-credits. */
  readonly amount: number;
  readonly period: 'day' | 'month' | 'total';
}

/** A signed-in user with an access token. */
export interface TokenCaller {
  readonly kind: 'token';
  readonly userId: string;
  readonly isAdmin: boolean;
}

export type Caller = KeyCaller | TokenCaller;

/** One call of an operation, as a handler sees it. */
export interface Call<C = Caller> {
  /** Minted by us, never by the caller: safe as an idempotency key. */
  readonly id: string;
  readonly requestId: string;
  readonly caller: C;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Goes in front of every path handed out. */
  readonly mountPath: string;
  /** The transport, for the few handlers that need more of it: uploads, addresses, conditional headers. */
  readonly request: ApiRequest;
}

export type CallOf<Op extends Operation> = Call<Op['auth'] extends 'none' ? undefined : Caller>;

/** Who pays: the key's organization, or the user. */
export function accountOf(caller: Caller): string {
  return caller.kind === 'key' && caller.organizationId !== undefined
    ? `organization:${caller.organizationId}`
    : `user:${caller.userId}`;
}

/** Who pays for a piece of work, and under which ceiling. Plain JSON: a job carries it to the day it runs. */
export interface Payer {
  readonly account: string;
  readonly userId: string;
  readonly keyId?: string;
  readonly spendCap?: KeySpendCap;
}

/** @param account who pays, when it is not the caller's own account. */
export function payerOf(caller: Caller, account: string = accountOf(caller)): Payer {
  if (caller.kind === 'token') return { account, userId: caller.userId };
  const { userId, keyId, spendCap } = caller;
  return spendCap === undefined ? { account, userId, keyId } : { account, userId, keyId, spendCap };
}

/** The ceiling a key's spending counts against now; a new period is a new cap. */
export function spendCapOf(payer: Payer, now: number): SpendCap | undefined {
  if (payer.keyId === undefined || payer.spendCap === undefined) return undefined;
  const { amount, period } = payer.spendCap;
  const date = new Date(now).toISOString();
  const part = period === 'total' ? 'total' : date.slice(0, period === 'day' ? 10 : 7);
  return { id: `key:${payer.keyId}:${part}`, limit: amount };
}
