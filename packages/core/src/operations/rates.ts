import type { KeyCaller, TokenCaller } from '../contract/call.ts';
import type { UserRateClass } from '../contract/operation.ts';
import type { RateDecision, RateWindow, WindowState } from '../ports/limiter.ts';
import { ApiError } from '../shared/errors.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Rate limits of signed-in users by class of operations. Each class has its own counter. */
export type RateLimits = Readonly<
  Record<UserRateClass, { readonly limit: number; readonly per: 'minute' | 'hour' }>
>;

export const DEFAULT_RATE_LIMITS: RateLimits = {
  reads: { limit: 600, per: 'minute' },
  work: { limit: 120, per: 'minute' },
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

export function minuteWindow(key: Pick<KeyCaller, 'requestsPerMinute'>): RateWindow {
  return { name: 'minute', limit: key.requestsPerMinute, lengthMs: MINUTE };
}

export function dayWindow(key: Pick<KeyCaller, 'requestsPerDay'>): RateWindow {
  return { name: 'day', limit: key.requestsPerDay, lengthMs: DAY };
}

/** The additional windows that the host sets for a user. */
export function hostWindows({ requestsPerMinute, requestsPerDay }: TokenCaller): RateWindow[] {
  return [
    ...(requestsPerMinute === undefined ? [] : [minuteWindow({ requestsPerMinute })]),
    ...(requestsPerDay === undefined ? [] : [dayWindow({ requestsPerDay })]),
  ];
}

export function userWindow(limits: RateLimits, rateClass: UserRateClass): RateWindow {
  const { limit, per } = limits[rateClass];
  return { name: per, limit, lengthMs: per === 'minute' ? MINUTE : HOUR };
}

/** Header names are built once: a name that is built per call is hashed and interned per call. */
const KEY_HEADERS = {
  minute: ['X-RateLimit-Limit-Minute', 'X-RateLimit-Remaining-Minute', 'X-RateLimit-Reset-Minute'],
  day: ['X-RateLimit-Limit-Day', 'X-RateLimit-Remaining-Day', 'X-RateLimit-Reset-Day'],
} as const;

/** The six headers for API keys. Reset times are epoch seconds, rounded up. */
export function writeKeyHeaders(headers: Record<string, string>, windows: readonly WindowState[]): void {
  for (const window of windows) {
    const [limit, remaining, reset] = window.name === 'minute' ? KEY_HEADERS.minute : KEY_HEADERS.day;
    headers[limit] = String(window.limit);
    headers[remaining] = String(window.remaining);
    headers[reset] = String(Math.ceil(window.resetAt / 1000));
  }
}

/** The three headers for signed-in users. */
export function writeUserHeaders(headers: Record<string, string>, windows: readonly WindowState[]): void {
  const [window] = windows;
  if (window === undefined) return;
  headers['X-RateLimit-Limit'] = String(window.limit);
  headers['X-RateLimit-Remaining'] = String(window.remaining);
  headers['X-RateLimit-Reset'] = String(Math.ceil(window.resetAt / 1000));
}

/** @throws ApiError 429 with the exceeded limit and `Retry-After`. */
export function requireSlot(decision: RateDecision, now: number, message?: string): void {
  const { refusedBy } = decision;
  if (decision.allowed || refusedBy === undefined) return;
  const seconds = Math.max(1, Math.ceil((refusedBy.resetAt - now) / 1000));
  const text =
    message ?? `Rate limit exceeded: ${countRequests(refusedBy.limit)} per ${refusedBy.name} allowed`;
  throw new ApiError(429, text, {
    headers: { 'Retry-After': String(seconds) },
  });
}

/** @param kind with a space behind it. */
export function countRequests(count: number, kind = ''): string {
  return `${count} ${kind}${count === 1 ? 'request' : 'requests'}`;
}
