import type { WindowState } from '../ports/limiter.ts';
import type { StopSignal } from '../shared/stop-signal.ts';
import type { ApiRequest } from './message.ts';
import type { Operation } from './operation.ts';
import type { Scope } from './scopes.ts';

/** A caller with an API key. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly userId: string;
  readonly keyId: string;
  /** For display. */
  readonly name: string;
  /** The first 16 characters of the key, for display. */
  readonly keyPrefix: string;
  readonly scopes: readonly Scope[];
  /** The organization that pays for calls with this key. */
  readonly organizationId: string | undefined;
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
  readonly spendCap: KeySpendCap | undefined;
  /** The caller may use a model that all lists contain. Absent: every model. */
  readonly modelLists?: readonly ModelList[];
}

/** A list that limits the models of a caller, and where it is set. `identity`: the answer of the host's identity. */
export interface ModelList {
  readonly source: 'key' | 'organization' | 'plan' | 'identity';
  readonly models: readonly string[];
}

/** Spending limit of one key or user per calendar period (UTC). */
export interface KeySpendCap {
  /** Micro-credits. */
  readonly amount: number;
  readonly period: 'day' | 'month' | 'total';
}

/** A signed-in user, with an access token or identified by the host. */
export interface TokenCaller {
  readonly kind: 'token';
  readonly userId: string;
  readonly isAdmin: boolean;
  /** The sign-in that can renew the token. Absent: the token cannot be renewed. */
  readonly session?: TokenSession;
  /** The host identified the caller. */
  readonly isFromHost?: true;
  /** Narrows the caller to these scopes. Absent: no restriction. */
  readonly scopes?: readonly Scope[];
  /** Additional limits of all requests of the user. Absent: only those of the service. */
  readonly requestsPerMinute?: number;
  readonly requestsPerDay?: number;
  readonly spendCap?: KeySpendCap;
  /** The caller may use a model that all lists contain. Absent: every model. */
  readonly modelLists?: readonly ModelList[];
  /** The organization that pays for calls. Absent: the user pays. */
  readonly organizationId?: string;
}

/** A sign-in, as stored in its tokens. */
export interface TokenSession {
  /** Absent: the host signed the token itself. */
  readonly family?: string;
  /** Latest expiry of access tokens of this sign-in, in epoch milliseconds. */
  readonly renewableUntil: number;
}

/** The authenticated caller of an operation: `kind` is `key` (API key) or `token` (a signed-in user). */
export type Caller = KeyCaller | TokenCaller;

/** The input of a handler for one call of an operation. */
export interface Call<C = Caller> {
  /** Created by the service, never taken from the client: safe as an idempotency key. */
  readonly id: string;
  readonly requestId: string;
  readonly caller: C;
  /** The caller's rate limits after this call: of an API key the minute and the day. Absent without a limit. */
  readonly windows?: readonly WindowState[] | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /** The same as `signal`, for streams; takes less memory. Absent: `signal` serves. */
  readonly connection?: StopSignal | undefined;
  /** Prefix of every path in a response. */
  readonly mountPath: string;
  /**
   * Checks the credential and its scopes again, for an answer that may last for minutes. Absent: the call has none.
   * @throws ApiError 401 for a credential that has expired or was revoked, 403 without a scope.
   */
  checkCredential?(): Promise<void>;
  /** The raw request, for handlers that need the body stream, the client address or conditional headers. */
  readonly request: ApiRequest;
}

/** The signal for a stream, aborted when the client has disconnected. */
export function getStopSignal(call: Pick<Call, 'connection' | 'signal'>): StopSignal {
  // Reading the signal creates it.
  return call.connection ?? call.signal;
}

/** One call of an operation, as its handler receives it. `caller` is undefined if the operation has `auth: 'none'`. */
export type OperationCall<Op extends Operation> = Call<Op['auth'] extends 'none' ? undefined : Caller>;

/** Returns the account that pays: the caller's organization, or the user. */
export function getAccount({ organizationId, userId }: Caller): string {
  return organizationId === undefined ? `user:${userId}` : `organization:${organizationId}`;
}

/** The account that pays for work, and its spending limit. Plain JSON, so that a job can contain it. */
export interface Payer {
  readonly account: string;
  readonly userId: string;
  readonly keyId?: string;
  /** The project of the session. Absent: none. */
  readonly projectId?: string;
  readonly spendCap?: KeySpendCap;
  /** The models that the payer's work may use. Absent: every model. */
  readonly modelLists?: readonly ModelList[];
}

/** @param account the account that pays, if it is not the caller's. */
export function getPayer(caller: Caller, account: string = getAccount(caller)): Payer {
  const { userId, spendCap, modelLists } = caller;
  return {
    account,
    userId,
    ...(caller.kind === 'key' && { keyId: caller.keyId }),
    ...(spendCap !== undefined && { spendCap }),
    ...(modelLists !== undefined && { modelLists }),
  };
}

/** For a model that the operator has chosen, such as that of a search: the lists limit the choices of callers. */
export function withoutModelLists({ modelLists: _, ...payer }: Payer): Payer {
  return payer;
}

/** @param session the session that the work belongs to. */
export function inProject(payer: Payer, { projectId }: { readonly projectId?: string | undefined }): Payer {
  return projectId === undefined ? payer : { ...payer, projectId };
}
