import { invalid } from '../shared/errors.ts';

/** @throws ApiError 422 if the time is not in the future. */
export function parseExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const at = Date.parse(text);
  if (at <= now) throw invalid('expiresAt', 'expected a time in the future');
  return at;
}
