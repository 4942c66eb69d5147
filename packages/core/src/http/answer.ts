import type { ApiRequest, ApiResponse, Mountable } from '../contract/message.ts';

/** The response when an adapter fails. Contains no details. */
export const UNEXPECTED: ApiResponse = {
  status: 500,
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: '{"error":"Internal server error"}',
};

/** For adapters: calls a mountable and never rejects, so that no failure reaches the host's error handler. */
export async function answer(api: Mountable, request: ApiRequest): Promise<ApiResponse | undefined> {
  try {
    return await api.handle(request);
  } catch {
    return UNEXPECTED;
  }
}

/** Responses with 1xx, 204 and 304 have no body and no length. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

/**
 * Returns the headers of a response with a known body, including its length. A response to HEAD has the length of the
 * omitted body, if known.
 */
export function headersWithLength(response: ApiResponse, head: boolean): Readonly<Record<string, string>> {
  const { status, headers, body } = response;
  if (isBodiless(status) || (head && body === undefined) || hasLength(headers)) return headers;
  return { ...headers, 'Content-Length': String(getLength(body)) };
}

export function hasLength(headers: ApiResponse['headers']): boolean {
  for (const name in headers) {
    if (name.length === 14 && name.toLowerCase() === 'content-length') return true;
  }
  return false;
}

function getLength(body: ApiResponse['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.length : 0;
}
