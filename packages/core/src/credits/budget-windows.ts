const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Local time differs from UTC by less than this, and no change of it moves a date further. */
const MAX_SHIFT_MS = 2 * DAY_MS;

export const BUDGET_WINDOWS = ['minute', 'hour', 'day', 'week', 'month', 'total'] as const;

export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** A window in epoch milliseconds: `start` is part of it, `end` is not. */
export interface WindowRange {
  readonly start: number;
  readonly end: number;
}

/** The local time of a zone at an instant, as the epoch milliseconds of the same clock reading in UTC. */
type ToLocal = (instant: number) => number;

/** Whether a name is an IANA time zone, e.g. `Europe/Berlin`. Offsets such as `+02:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the window of an instant; undefined for `total`, which never ends. Days, weeks (from Monday) and months are
 * those of the local calendar, so a day with a change of daylight time has 23 or 25 hours. An hour that the change
 * repeats is a window of its own.
 */
export function getWindowRange(
  window: BudgetWindow,
  timeZone: string,
  instant: number,
): WindowRange | undefined {
  if (window === 'total') return undefined;
  if (window === 'minute') return floorTo(instant, 60_000);
  const toLocal = createToLocal(timeZone);
  if (window === 'hour') return getHour(toLocal, instant);
  const [start, end] = getDates(window, toLocal(instant));
  return { start: findDate(toLocal, start), end: findDate(toLocal, end) };
}

function floorTo(instant: number, length: number): WindowRange {
  const start = Math.floor(instant / length) * length;
  return { start, end: start + length };
}

/** The first local dates of a window and of the next one. */
function getDates(window: 'day' | 'week' | 'month', local: number): readonly [number, number] {
  const date = new Date(local);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (window === 'month') return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)];
  if (window === 'day') return [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)];
  const monday = day - ((date.getUTCDay() + 6) % 7);
  return [Date.UTC(year, month, monday), Date.UTC(year, month, monday + 7)];
}

/** Finds the first instant whose local date is not before `date`. A zone may skip midnight. */
function findDate(toLocal: ToLocal, date: number): number {
  return findFirst(date - MAX_SHIFT_MS, date + MAX_SHIFT_MS, (instant) => toLocal(instant) >= date);
}

/** The local hour, as far as the offset from UTC stays the same. */
function getHour(toLocal: ToLocal, instant: number): WindowRange {
  const offset = toLocal(instant) - instant;
  const { start, end } = floorTo(instant + offset, HOUR_MS);
  const hasOffset = (at: number): boolean => toLocal(at) - at === offset;
  return {
    start: findFirst(start - offset, instant, hasOffset),
    end: findFirst(instant, end - offset, (at) => !hasOffset(at)),
  };
}

/** Finds the first whole instant in `from..to` that matches, by bisection; `to` if none before it does. */
function findFirst(from: number, to: number, matches: (instant: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (matches(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function createToLocal(timeZone: string): ToLocal {
  if (timeZone === 'UTC') return (instant) => instant;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (instant) => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const milliseconds = ((instant % 1000) + 1000) % 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) + milliseconds;
  };
}

/** Formats an instant with the offset of a zone, e.g. `2026-07-01T00:00:00+02:00`. */
export function formatInstant(instant: number, timeZone: string): string {
  const local = createToLocal(timeZone)(instant);
  const minutes = Math.round((local - instant) / 60_000);
  const text = new Date(local).toISOString().slice(0, 19);
  if (minutes === 0) return `${text}Z`;
  const size = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${text}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
