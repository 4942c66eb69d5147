import type { Caller, KeyCaller, TokenCaller } from '../contract/call.ts';
import { getUserRateClass, type Operation } from '../contract/operation.ts';
import type { Clock } from '../ports/clock.ts';
import type { RateLimiter, WindowState } from '../ports/limiter.ts';
import {
  dayWindow,
  hostWindows,
  minuteWindow,
  type RateLimits,
  requireSlot,
  userWindow,
  writeKeyHeaders,
  writeUserHeaders,
} from './rates.ts';

/** The services that count calls. */
export interface SlotServices {
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly limits: RateLimits;
}

/**
 * Not async, because every call passes it.
 * @returns the states of the caller's windows; undefined without a limit. @throws ApiError 429.
 */
export function takeSlots(
  operation: Operation,
  services: SlotServices,
  caller: Caller,
  headers: Record<string, string>,
): Promise<readonly WindowState[] | undefined> | undefined {
  if (caller.kind === 'token') return takeUserSlot(operation, services, caller, headers);
  const { limiter } = services;
  const name = `key:${caller.keyId}`;
  const now = services.clock.now();
  switch (operation.rate.key) {
    case 'unlimited':
      return undefined;
    case 'standard':
      return limiter.take(name, [minuteWindow(caller), dayWindow(caller)], now).then((decision) => {
        writeKeyHeaders(headers, decision.windows);
        requireSlot(decision, now);
        return decision.windows;
      });
    default:
      return takeMinuteSlot(limiter, caller, headers, name, now);
  }
}

/** A slot of the minute; the day is only reported. */
async function takeMinuteSlot(
  limiter: RateLimiter,
  caller: KeyCaller,
  headers: Record<string, string>,
  name: string,
  now: number,
): Promise<readonly WindowState[]> {
  const report = [dayWindow(caller)];
  const decision = await limiter.take(name, [minuteWindow(caller)], now, { report });
  const { windows } = decision;
  const states = windows.length > 1 ? windows : [...windows, ...(await limiter.peek(name, report, now))];
  writeKeyHeaders(headers, states);
  requireSlot(decision, now);
  return states;
}

async function takeUserSlot(
  operation: Operation,
  { limiter, limits, clock }: SlotServices,
  caller: TokenCaller,
  headers: Record<string, string>,
): Promise<readonly WindowState[] | undefined> {
  const now = clock.now();
  if (caller.isFromHost === true) await takeHostSlot(limiter, caller, now);
  const rateClass = getUserRateClass(operation);
  if (rateClass === undefined) return undefined;
  const windows = [userWindow(limits, rateClass)];
  const decision = await limiter.take(`user:${caller.userId}:${rateClass}`, windows, now);
  writeUserHeaders(headers, decision.windows);
  requireSlot(decision, now);
  return decision.windows;
}

/** The limits that the host sets for a user, in addition to those of the service. */
async function takeHostSlot(limiter: RateLimiter, caller: TokenCaller, now: number): Promise<void> {
  const windows = hostWindows(caller);
  if (windows.length > 0) requireSlot(await limiter.take(`identity:${caller.userId}`, windows, now), now);
}
