import { type ApiHeaders, header } from '../contract/message.ts';

/** Returns the client's correlation id, sanitized for headers and logs, or a new one. */
export function getRequestId(headers: ApiHeaders, mint: () => string): string {
  return toUsable(header(headers, 'x-request-id')) ?? toUsable(header(headers, 'request-id')) ?? mint();
}

function toUsable(sent: string | undefined): string | undefined {
  const kept = sent?.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 128);
  return kept === '' ? undefined : kept;
}
