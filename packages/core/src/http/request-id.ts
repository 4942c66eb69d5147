import { type ApiHeaders, header } from './message.ts';

const USABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's correlation id, reduced to what is safe in a header and a log, or a new one. @see open points, 1.6 */
export function requestIdOf(headers: ApiHeaders, mint: () => string): string {
  for (const name of ['x-request-id', 'request-id']) {
    const sent = header(headers, name);
    if (sent === undefined) continue;
    if (USABLE.test(sent)) return sent;
    const kept = sent.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 128);
    if (kept !== '') return kept;
  }
  return mint();
}
