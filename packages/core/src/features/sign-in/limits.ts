import { requireSlot } from '../../operations/rates.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RateLimiter, RateWindow } from '../../ports/limiter.ts';
import { takeAll } from '../../ports/take-all.ts';
import { hashSecret } from '../../shared/secrets.ts';

/** A rate limit with a fixed window. */
export interface SignInLimit {
  /** 1 or more. */
  readonly limit: number;
  /** Whole, 1 or more. */
  readonly seconds: number;
}

/** Limits for unauthenticated callers. Each is counted separately. */
export interface SignInLimits {
  /** Codes requested by one client address. */
  readonly sendFrom: SignInLimit;
  /** Codes mailed to one recipient for one client address. */
  readonly sendTo: SignInLimit;
  /** Codes mailed to one recipient for all unknown client addresses. */
  readonly sendToUnknown: SignInLimit;
  /** Codes submitted by one client address. */
  readonly verifyFrom: SignInLimit;
  /** Refresh tokens exchanged by one user. */
  readonly refresh: SignInLimit;
  /** Device logins started by one client address. */
  readonly deviceFrom: SignInLimit;
  /** User codes of device logins submitted by one client address. */
  readonly deviceCodeFrom: SignInLimit;
  /** User codes of device logins submitted by one user. */
  readonly deviceCodeBy: SignInLimit;
}

export const DEFAULT_SIGN_IN_LIMITS: SignInLimits = {
  sendFrom: { limit: 5, seconds: 15 * 60 },
  sendTo: { limit: 1, seconds: 30 },
  sendToUnknown: { limit: 20, seconds: 60 * 60 },
  verifyFrom: { limit: 10, seconds: 15 * 60 },
  refresh: { limit: 60, seconds: 60 },
  deviceFrom: { limit: 20, seconds: 15 * 60 },
  deviceCodeFrom: { limit: 60, seconds: 15 * 60 },
  deviceCodeBy: { limit: 20, seconds: 15 * 60 },
};

/** One use of a limit. */
export type SignInUse = readonly [kind: keyof SignInLimits, subject: string | undefined];

/**
 * Counts uses for client addresses, recipients or users, in this order up to the first one that exceeds its limit.
 * @throws ApiError 429 with `Retry-After`.
 */
export async function takeSlots(
  services: {
    readonly limiter: RateLimiter;
    readonly clock: Clock;
    readonly signInLimits: SignInLimits;
  },
  ...uses: readonly SignInUse[]
): Promise<void> {
  const now = services.clock.now();
  const takes = uses.map(([kind, subject]) => ({
    // Clients without an address share one window. Addresses are hashed, so that the limiter stores none.
    key: `sign-in:${kind}:${hashSecret(subject ?? 'unknown')}`,
    windows: [getWindow(services.signInLimits[kind])],
  }));
  for (const decision of await takeAll(services.limiter, takes, now)) requireSlot(decision, now);
}

function getWindow({ limit, seconds }: SignInLimit): RateWindow {
  return { name: inWords(seconds), lengthMs: seconds * 1000, limit };
}

function inWords(seconds: number): string {
  const [count, unit] = seconds % 60 === 0 ? [seconds / 60, 'minute'] : [seconds, 'second'];
  return count === 1 ? unit : `${count} ${unit}s`;
}
