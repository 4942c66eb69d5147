import type { RateDecision, RateWindow, WindowState } from '@questline/core';

/** What is kept of one key: by window name, when the window ends and how many slots were taken. */
export type OpenWindows = Readonly<Record<string, readonly [resetAt: number, used: number]>>;

export function stateOf(open: OpenWindows, { name, limit, lengthMs }: RateWindow, now: number): WindowState {
  const [resetAt, used] = open[name] ?? [0, 0];
  if (resetAt <= now) return { name, limit, remaining: limit, resetAt: now + lengthMs };
  return { name, limit, remaining: Math.max(0, limit - used), resetAt };
}

/** One more slot in every window asked for. */
export function takeSlots(open: OpenWindows, windows: readonly RateWindow[], now: number): OpenWindows {
  const taken = windows.map(({ name, lengthMs }) => {
    const [resetAt, used] = open[name] ?? [0, 0];
    return [name, resetAt > now ? [resetAt, used + 1] : [now + lengthMs, 1]] as const;
  });
  return { ...open, ...Object.fromEntries(taken) } as OpenWindows;
}

/** What the caller is told, judged by what is kept after the decision. */
export function toDecision(
  allowed: boolean,
  open: OpenWindows,
  windows: readonly RateWindow[],
  now: number,
): RateDecision {
  const states = windows.map((window) => stateOf(open, window, now));
  const refusedBy = allowed ? undefined : states.find(({ remaining }) => remaining === 0);
  return { allowed, ...(refusedBy && { refusedBy }), windows: states };
}
