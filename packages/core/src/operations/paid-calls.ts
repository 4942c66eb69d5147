import type { Clock } from '../ports/clock.ts';
import type { RateLimiter } from '../ports/limiter.ts';
import type { AdminSettings, AdminSettingsReader } from './admin-settings.ts';
import { countRequests, requireSlot } from './rates.ts';

/** Default of the setting `paidCallsPerDay`. */
export const DEFAULT_PAID_CALLS_PER_DAY = 1000;

const DAY_MS = 24 * 3_600_000;

/** Limits paid calls per user while credits are not enforced. */
export interface PaidCalls {
  /**
   * Counts one call of a user, by key or token. @returns undefined if such calls are not counted.
   * @throws ApiError 429 with `Retry-After` above the limit.
   */
  take(userId: string): Promise<void> | undefined;
}

/** @param options.perDay calls per user in a fixed window of 24 hours; `null` or 0: unlimited. */
export function createPaidCalls(options: {
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly adminSettings: AdminSettingsReader;
  readonly perDay: number | null | undefined;
}): PaidCalls {
  const { limiter, clock, adminSettings, perDay = DEFAULT_PAID_CALLS_PER_DAY } = options;
  if (perDay === null || perDay === 0) return { take: () => undefined };

  const count = async (userId: string): Promise<void> => {
    const now = clock.now();
    const window = { name: 'day', limit: perDay, lengthMs: DAY_MS };
    const decision = await limiter.take(`paid:${userId}`, [window], now);
    requireSlot(decision, now, `Daily limit exceeded: ${countRequests(perDay, 'paid ')} per day allowed`);
  };

  return {
    // Not async, because most services charge every call.
    take(userId) {
      const current = adminSettings.current();
      const countIn = ({ enforceCredits }: AdminSettings): Promise<void> | undefined =>
        enforceCredits ? undefined : count(userId);
      return current instanceof Promise ? current.then(countIn) : countIn(current);
    },
  };
}
