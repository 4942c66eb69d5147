import type { RateDecision, RateWindow, WindowState } from '@questline/core/ports';

/** The stored windows of one key: by name, the end of the window and the slots taken. */
export type OpenWindows = Readonly<Record<string, readonly [resetAt: number, used: number]>>;

export function getState(open: OpenWindows, { name, limit, lengthMs }: RateWindow, now: number): WindowState {
  const [resetAt, used] = open[name] ?? [0, 0];
  if (resetAt <= now) return { name, limit, remaining: limit, resetAt: now + lengthMs };
  return { name, limit, remaining: Math.max(0, limit - used), resetAt };
}

/** Adds a slot to every requested window. */
export function takeSlots(open: OpenWindows, windows: readonly RateWindow[], now: number): OpenWindows {
  const taken = windows.map(({ name, lengthMs }) => {
    const [resetAt, used] = open[name] ?? [0, 0];
    return [name, resetAt > now ? [resetAt, used + 1] : [now + lengthMs, 1]] as const;
  });
  return { ...open, ...Object.fromEntries(taken) } as OpenWindows;
}

/** The result for the caller, computed from the windows after the decision. */
export function toDecision(
  allowed: boolean,
  open: OpenWindows,
  windows: readonly RateWindow[],
  now: number,
  report: readonly RateWindow[] = [],
): RateDecision {
  const states = windows.map((window) => getState(open, window, now));
  const refusedBy = allowed ? undefined : states.find(({ remaining }) => remaining === 0);
  return {
    allowed,
    ...(refusedBy && { refusedBy }),
    windows: [...states, ...report.map((window) => getState(open, window, now))],
  };
}
