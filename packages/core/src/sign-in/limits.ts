import { requireSlot } from '../identity/rates.ts';
import { hashSecret } from '../identity/secrets.ts';
import type { Clock } from '../ports/clock.ts';
import type { RateLimiter, RateWindow } from '../ports/limiter.ts';

/** How often something may be done in a fixed window. */
export interface SignInLimit {
  /** 1 or more. */
  readonly limit: number;
  /** Whole, 1 or more. */
  readonly seconds: number;
}

/** What people may do before they are known. Each is counted by itself. */
export interface SignInLimits {
  /** Codes asked for by one client address. */
  readonly sendFrom: SignInLimit;
  /** Codes mailed to one recipient. */
  readonly sendTo: SignInLimit;
  /** Codes tried by one client address. */
  readonly verifyFrom: SignInLimit;
  /** Refresh tokens exchanged by one user. */
  readonly refresh: SignInLimit;
}

/** @see open points, 4.2 */
export const DEFAULT_SIGN_IN_LIMITS: SignInLimits = {
  sendFrom: { limit: 5, seconds: 15 * 60 },
  sendTo: { limit: 1, seconds: 30 },
  verifyFrom: { limit: 10, seconds: 15 * 60 },
  refresh: { limit: 60, seconds: 60 },
};

/**
 * Takes a slot for a client address, a recipient or a user.
 * @throws ApiError 429 with `Retry-After`.
 */
export async function takeSlot(
  services: {
    readonly limiter: RateLimiter;
    readonly clock: Clock;
    readonly signInLimits: SignInLimits;
  },
  kind: keyof SignInLimits,
  who: string | undefined,
): Promise<void> {
  const now = services.clock.now();
  // Whoever cannot be told apart shares one window. Addresses are hashed: a limiter is no place for a list of them.
  const key = `sign-in:${kind}:${hashSecret(who ?? 'unknown')}`;
  const decision = await services.limiter.take(key, [windowOf(services.signInLimits[kind])], now);
  requireSlot(decision, now);
}

function windowOf({ limit, seconds }: SignInLimit): RateWindow {
  return { name: inWords(seconds), lengthMs: seconds * 1000, limit };
}

function inWords(seconds: number): string {
  const [count, unit] = seconds % 60 === 0 ? [seconds / 60, 'minute'] : [seconds, 'second'];
  return count === 1 ? unit : `${count} ${unit}s`;
}
