import type { Clock } from '../ports/clock.ts';

/** After so many failures in a row a provider is left alone … */
const FAILURES = 5;
/** … for so long; then one call tries whether it is back. */
const REST_MS = 30_000;

/**
 * Keeps calls from a provider that is down, so that they fail at once, or go to another model, instead of waiting for
 * it one by one. Counts in this process only.
 */
export interface Breaker {
  /** Whether the provider may be called now. After a rest only one caller hears yes, until it reports. */
  allows(providerId: string): boolean;
  succeeded(providerId: string): void;
  failed(providerId: string): void;
}

export function createBreaker(clock: Clock): Breaker {
  const providers = new Map<string, { failures: number; restsUntil: number }>();
  return {
    allows(providerId) {
      const state = providers.get(providerId);
      if (state === undefined || state.failures < FAILURES) return true;
      const now = clock.now();
      if (state.restsUntil > now) return false;
      state.restsUntil = now + REST_MS;
      return true;
    },
    succeeded(providerId) {
      providers.delete(providerId);
    },
    failed(providerId) {
      const state = providers.get(providerId) ?? { failures: 0, restsUntil: 0 };
      state.failures += 1;
      state.restsUntil = clock.now() + REST_MS;
      providers.set(providerId, state);
    },
  };
}
