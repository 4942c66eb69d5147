import type { ApiRequest, ApiResponse, Mountable } from './message.ts';

/** What a client is told when an answer could not even be made: nothing about why. */
export const UNEXPECTED: ApiResponse = {
  status: 500,
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: '{"error":"Internal server error"}',
};

/** For bridges: asks a mountable and never rejects, so that no failure of ours reaches the host's error handler. */
export async function answer(api: Mountable, request: ApiRequest): Promise<ApiResponse | undefined> {
  try {
    return await api.handle(request);
  } catch {
    return UNEXPECTED;
  }
}

/** 1xx, 204 and 304 have neither a body nor a length. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

/**
 * The headers of an answer whose body is known, its length included. An answer to HEAD says how long the body would
 * have been, as far as that is known.
 */
export function headersWithLength(response: ApiResponse, head: boolean): Readonly<Record<string, string>> {
  const { status, headers, body } = response;
  if (isBodiless(status) || (head && body === undefined)) return headers;
  for (const name in headers) {
    if (name.length === 14 && name.toLowerCase() === 'content-length') return headers;
  }
  return { ...headers, 'Content-Length': String(lengthOf(body)) };
}

function lengthOf(body: ApiResponse['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.length : 0;
}
