import { type ApiHeaders, header } from '../contract/message.ts';

const USABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the client's correlation id, sanitized for headers and logs, or a new one. */
export function getRequestId(headers: ApiHeaders, mint: () => string): string {
  for (const name of ['x-request-id', 'request-id']) {
    const sent = header(headers, name);
    if (sent === undefined) continue;
    if (USABLE.test(sent)) return sent;
    const kept = sent.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 128);
    if (kept !== '') return kept;
  }
  return mint();
}
