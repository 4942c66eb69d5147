import type { RateDecision, RateLimiter, RateWindow, WindowState } from '../ports/limiter.ts';

/** The state of one window of one key. */
interface Slot {
  readonly name: string;
  used: number;
  resetAt: number;
}

export interface MemoryLimiter extends RateLimiter {
  /** The number of tracked keys. A key without open windows is evicted when other windows open. */
  readonly size: number;
}

/** Creates a limiter with fixed windows in memory. Memory use depends on the number of keys with an open window. */
export function createMemoryLimiter(): MemoryLimiter {
  const keys = new Map<string, Slot[]>();
  let visits = keys.entries();

  /** Every new window checks two other keys for expiry, so that no timer is needed. */
  const forgetIdle = (now: number): void => {
    for (let looked = 0; looked < 2; looked += 1) {
      const visit = visits.next();
      if (visit.done === true) {
        visits = keys.entries();
        return;
      }
      const [key, slots] = visit.value;
      if (slots.every((slot) => slot.resetAt <= now)) keys.delete(key);
      limiter.size = keys.size;
    }
  };

  const takeNow = (
    key: string,
    windows: readonly RateWindow[],
    now: number,
    report: readonly RateWindow[] = [],
  ): RateDecision => {
    let slots = keys.get(key);
    const refusing = windows.findIndex((window) => isExhausted(slots, window, now));
    if (refusing >= 0) {
      const states = [...windows, ...report].map((window) => getState(slots, window, now));
      const refusedBy = states[refusing];
      return { allowed: false, ...(refusedBy && { refusedBy }), windows: states };
    }

    if (slots === undefined) {
      slots = [];
      keys.set(key, slots);
      limiter.size = keys.size;
    }
    const states: WindowState[] = [];
    for (const window of windows) {
      let slot = getSlot(slots, window.name);
      if (slot === undefined) {
        slot = { name: window.name, used: 0, resetAt: 0 };
        slots.push(slot);
      }
      if (slot.resetAt <= now) {
        slot.used = 0;
        slot.resetAt = now + window.lengthMs;
        forgetIdle(now);
      }
      slot.used += 1;
      states.push({
        name: window.name,
        limit: window.limit,
        remaining: window.limit - slot.used,
        resetAt: slot.resetAt,
      });
    }
    for (const window of report) states.push(getState(slots, window, now));
    return { allowed: true, windows: states };
  };

  const limiter: RateLimiter & { size: number } = {
    size: 0,

    // Not async, because this runs on every request and a plain promise is cheaper.
    take(key, windows, now, options) {
      if (options?.signal?.aborted === true) return Promise.reject(options.signal.reason);
      return Promise.resolve(takeNow(key, windows, now, options?.report));
    },

    async takeAll(takes, now, options) {
      options?.signal?.throwIfAborted();
      const decisions: RateDecision[] = [];
      for (const { key, windows } of takes) {
        const decision = takeNow(key, windows, now);
        decisions.push(decision);
        if (!decision.allowed) break;
      }
      return decisions;
    },

    async peek(key, windows, now, options) {
      options?.signal?.throwIfAborted();
      const slots = keys.get(key);
      return windows.map((window) => getState(slots, window, now));
    },
  };
  return limiter;
}

function getSlot(slots: readonly Slot[], name: string): Slot | undefined {
  for (const slot of slots) if (slot.name === name) return slot;
  return undefined;
}

function isExhausted(slots: readonly Slot[] | undefined, window: RateWindow, now: number): boolean {
  const slot = slots && getSlot(slots, window.name);
  return slot !== undefined && slot.resetAt > now && slot.used >= window.limit;
}

function getState(slots: readonly Slot[] | undefined, window: RateWindow, now: number): WindowState {
  const { name, limit, lengthMs } = window;
  const slot = slots && getSlot(slots, name);
  if (slot === undefined || slot.resetAt <= now) {
    return { name, limit, remaining: limit, resetAt: now + lengthMs };
  }
  return { name, limit, remaining: Math.max(0, limit - slot.used), resetAt: slot.resetAt };
}
