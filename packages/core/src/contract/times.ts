import * as z from 'zod';

/** The time of a filter: an ISO time with `Z` or an offset, or an ISO date, which means its begin in UTC. */
export function instant() {
  const expected = 'expected a date or a time with Z or an offset, e.g. 2026-11-01 or 2026-11-01T08:00:00Z';
  return z.union([z.iso.datetime({ offset: true }), z.iso.date()], expected);
}
