import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant, getWindowRange, isTimeZone } from './budget-windows.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Pacific/Chatham',
];
/** Changes of daylight time and ends of months, of years and of a February with 29 days. */
const MOMENTS = [
  '2026-03-29T01:00:00Z',
  '2026-10-25T01:00:00Z',
  '2026-03-08T07:00:00Z',
  '2026-11-01T06:00:00Z',
  '2026-03-08T05:00:00Z',
  '2026-11-01T05:00:00Z',
  '2026-04-04T15:00:00Z',
  '2026-10-03T15:30:00Z',
  '2026-04-23T22:00:00Z',
  '2026-10-29T21:00:00Z',
  '2026-12-31T23:59:59Z',
  '2028-02-29T23:00:00Z',
].map((text) => Date.parse(text));

/** What a clock on the wall shows, by another way than the implementation. */
function readClock(timeZone: string, instant: number) {
  const text = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(instant);
  const [date = '', time = ''] = text.split(' ');
  const offset = Date.parse(`${date}T${time}Z`) - Math.floor(instant / 1000) * 1000;
  return {
    date,
    month: date.slice(0, 7),
    hour: `${date} ${time.slice(0, 2)} ${offset}`,
    weekday: new Date(date).getUTCDay(),
  };
}

/** The name of the window in the model: two instants are in one window if their names are equal. */
function nameWindow(window: 'hour' | 'day' | 'week' | 'month', timeZone: string, instant: number): string {
  const { date, month, hour, weekday } = readClock(timeZone, instant);
  if (window === 'hour') return hour;
  if (window === 'day') return date;
  if (window === 'month') return month;
  return new Date(Date.parse(date) - ((weekday + 6) % 7) * DAY).toISOString().slice(0, 10);
}

const windows = fc.constantFrom('hour', 'day', 'week', 'month');
const instants = fc.oneof(
  fc
    .tuple(fc.constantFrom(...MOMENTS), fc.integer({ min: -3 * DAY, max: 3 * DAY }))
    .map(([at, by]) => at + by),
  fc
    .tuple(fc.constantFrom(...MOMENTS), fc.integer({ min: -90 * MINUTE, max: 90 * MINUTE }))
    .map(([at, by]) => at + by),
  fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2035-01-01') }),
);

describe('a budget window', () => {
  it('contains exactly the instants that share the local hour, day, week or month', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), windows, instants, (zone, window, instant) => {
        const range = getWindowRange(window, zone, instant);
        if (range === undefined) throw new Error('expected a window with an end');
        const { start, end } = range;
        expect(start).toBeLessThanOrEqual(instant);
        expect(end).toBeGreaterThan(instant);
        const name = nameWindow(window, zone, instant);
        expect(nameWindow(window, zone, start)).toBe(name);
        expect(nameWindow(window, zone, end - 1)).toBe(name);
        expect(nameWindow(window, zone, start - 1)).not.toBe(name);
        expect(nameWindow(window, zone, end)).not.toBe(name);
        expect(getWindowRange(window, zone, start)).toEqual(range);
        expect(getWindowRange(window, zone, end - 1)).toEqual(range);
        expect(getWindowRange(window, zone, end)?.start).toBe(end);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['2026-03-29T12:00:00Z', 23],
    ['2026-10-25T12:00:00Z', 25],
    ['2026-10-26T12:00:00Z', 24],
  ])('of the day of %s in Berlin has %i hours', (instant, hours) => {
    const range = getWindowRange('day', 'Europe/Berlin', Date.parse(instant));
    expect(range && (range.end - range.start) / 3_600_000).toBe(hours);
  });

  it('of a month ends with the local month', () => {
    const range = getWindowRange('month', 'Europe/Berlin', Date.parse('2026-03-31T21:59:59.999Z'));
    expect(range).toEqual({
      start: Date.parse('2026-02-28T23:00:00Z'),
      end: Date.parse('2026-03-31T22:00:00Z'),
    });
  });

  it('of a minute is the same in every zone, and the total has none', () => {
    for (const zone of ZONES) {
      expect(getWindowRange('minute', zone, 90_000)).toEqual({ start: 60_000, end: 120_000 });
      expect(getWindowRange('total', zone, 90_000)).toBeUndefined();
    }
  });

  it('accepts names of time zones only', () => {
    expect(ZONES.filter(isTimeZone)).toEqual(ZONES);
    for (const name of ['', 'Berlin', 'Europe/Nowhere', '+02:00', '-05:00', 'Europe/Berlin ', '../etc']) {
      expect(isTimeZone(name)).toBe(false);
    }
  });

  it('shows an instant with the offset of its zone', () => {
    const instant = Date.parse('2026-06-30T22:00:00Z');
    expect(formatInstant(instant, 'Europe/Berlin')).toBe('2026-07-01T00:00:00+02:00');
    expect(formatInstant(instant, 'UTC')).toBe('2026-06-30T22:00:00Z');
    expect(formatInstant(instant, 'America/New_York')).toBe('2026-06-30T18:00:00-04:00');
  });
});
