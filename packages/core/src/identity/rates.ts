import type { KeyCaller } from '../call.ts';
import { ApiError } from '../errors.ts';
import type { UserRateClass } from '../operation.ts';
import type { RateDecision, RateWindow, WindowState } from '../ports/limiter.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How many calls a signed-in user may make, per class of operations. Each class is counted by itself. */
export type RateLimits = Readonly<
  Record<UserRateClass, { readonly limit: number; readonly per: 'minute' | 'hour' }>
>;

/** @see the service specification, "Limits", and open points 1.5 and 4.1 */
export const DEFAULT_RATE_LIMITS: RateLimits = {
  'ai-tools': { limit: 100, per: 'hour' },
  completions: { limit: 100, per: 'hour' },
  'agents-list': { limit: 100, per: 'minute' },
  'agents-create': { limit: 10, per: 'minute' },
  'agents-update': { limit: 30, per: 'minute' },
  'agents-delete': { limit: 10, per: 'minute' },
  'session-agents': { limit: 60, per: 'minute' },
  'application-ai': { limit: 100, per: 'hour' },
  'application-upload': { limit: 50, per: 'hour' },
  application: { limit: 1000, per: 'hour' },
};

export function minuteWindow(key: KeyCaller): RateWindow {
  return { name: 'minute', limit: key.requestsPerMinute, lengthMs: MINUTE };
}

export function dayWindow(key: KeyCaller): RateWindow {
  return { name: 'day', limit: key.requestsPerDay, lengthMs: DAY };
}

export function userWindow(limits: RateLimits, rateClass: UserRateClass): RateWindow {
  const { limit, per } = limits[rateClass];
  return { name: per, limit, lengthMs: per === 'minute' ? MINUTE : HOUR };
}

/** Names made once: a name put together per call is hashed and interned per call. */
const KEY_HEADERS = {
  minute: ['X-RateLimit-Limit-Minute', 'X-RateLimit-Remaining-Minute', 'X-RateLimit-Reset-Minute'],
  day: ['X-RateLimit-Limit-Day', 'X-RateLimit-Remaining-Day', 'X-RateLimit-Reset-Day'],
} as const;

/** The six headers of a key. Resets are epoch seconds, rounded up: by then the window has ended. */
export function writeKeyHeaders(headers: Record<string, string>, windows: readonly WindowState[]): void {
  for (const window of windows) {
    const [limit, remaining, reset] = window.name === 'minute' ? KEY_HEADERS.minute : KEY_HEADERS.day;
    headers[limit] = String(window.limit);
    headers[remaining] = String(window.remaining);
    headers[reset] = String(Math.ceil(window.resetAt / 1000));
  }
}

/** The three headers of a signed-in user. */
export function writeUserHeaders(headers: Record<string, string>, windows: readonly WindowState[]): void {
  const [window] = windows;
  if (window === undefined) return;
  headers['X-RateLimit-Limit'] = String(window.limit);
  headers['X-RateLimit-Remaining'] = String(window.remaining);
  headers['X-RateLimit-Reset'] = String(Math.ceil(window.resetAt / 1000));
}

/** @throws ApiError 429 that says which ceiling, and when to come back. */
export function requireSlot(decision: RateDecision, now: number): void {
  const { refusedBy } = decision;
  if (decision.allowed || refusedBy === undefined) return;
  const seconds = Math.max(1, Math.ceil((refusedBy.resetAt - now) / 1000));
  throw new ApiError(429, `Rate limit exceeded: ${refusedBy.limit} requests per ${refusedBy.name} allowed`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
