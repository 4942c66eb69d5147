import { type ApiHeaders, header } from '../contract/message.ts';

const USABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the client's correlation id, sanitized for headers and logs, or a new one. */
export function getRequestId(headers: ApiHeaders, mint: () => string): string {
  return toUsable(header(headers, 'x-request-id')) ?? toUsable(header(headers, 'request-id')) ?? mint();
}

function toUsable(sent: string | undefined): string | undefined {
  if (sent === undefined || USABLE.test(sent)) return sent;
  const kept = sent.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 128);
  return kept === '' ? undefined : kept;
}
