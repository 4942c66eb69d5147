import type { CallOptions } from './options.ts';

/** The part of a request that identifies its caller. */
export interface IdentityRequest {
  readonly method: string;
  /** Raw path below the mount point, still percent-encoded, without the query. */
  readonly path: string;
  /** Names in lower case; a repeated header is a list, as `node:http` gives it. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The address of the connection: that of the last proxy, unless the host resolves it. */
  readonly remoteAddress: string | undefined;
  readonly protocol: 'http' | 'https';
}

/** Limits of a caller. They apply in addition to those of the service. */
export interface IdentityLimits {
  /** A whole number from 1. All requests of the user together. */
  readonly requestsPerMinute?: number;
  /** A whole number from 1. All requests of the user together. */
  readonly requestsPerDay?: number;
  /** Maximum spending of the user per UTC day, UTC month or in total, in micro-credits. */
  readonly spendCap?: { readonly amount: number; readonly period: 'day' | 'month' | 'total' };
  /** The models that the user may use, by id, at most 1,000; further lists can narrow them. Default: no restriction. */
  readonly models?: readonly string[];
}

/** A user of the host. */
export interface HostIdentity {
  /**
   * The id of the user in the host: any text of 1 to 200 characters. Never reuse it for another person, and call
   * `forgetUser` when the user is deleted.
   */
  readonly externalId: string;
  /**
   * An address that the host has verified: shares and invites to this address reach the user. Read when the account is
   * created. Absent, invalid or used by another account: the account has no address.
   */
  readonly email?: string | null;
  /** Display name. Read when the account is created. Default: the local part of `email`. */
  readonly name?: string | null;
  /**
   * The id of an organization in Questline that pays for the calls. The user must be a member; otherwise the call is
   * refused with 403.
   */
  readonly organizationId?: string | null;
  /** `admin`: an administrator of the workspace. Other roles have no effect. Default: none. */
  readonly roles?: readonly string[];
  /**
   * The caller reaches the operations that an API key with these scopes reaches. Empty: none with a scope. Default: no
   * restriction.
   */
  readonly scopes?: readonly string[];
  readonly limits?: IdentityLimits;
}

/**
 * Identifies callers by the host's own session, token or proxy. Asked for requests without an API key or access token
 * of Questline. If it rejects, does not answer in time, or answers another shape, the request is refused with 503.
 */
export interface Identity {
  /**
   * @returns undefined or null for an unknown caller, who gets 401.
   * @param options.signal aborted when the answer is no longer awaited.
   */
  identify(request: IdentityRequest, options?: CallOptions): Promise<HostIdentity | null | undefined>;
  /**
   * Returns the values of the request that `identify` depends on, all of them: an answer is cached for requests with the
   * same text. `undefined`: the answer is not cached. Default: the whole request, so that only an identical request gets
   * a cached answer.
   */
  credential?(request: IdentityRequest): string | undefined;
}
