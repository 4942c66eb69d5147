import type { ApiResponse } from '@questline/core';
import { readRateWindow } from '@questline/core/internal';

/** Adds the vendor's headers, from ours: the id of the request, and the rate limits. Ours stay beside them. */
export function withVendorHeaders(response: ApiResponse): ApiResponse {
  const { headers } = response;
  const { 'X-Request-ID': requestId } = headers;
  const window = readRateWindow(response);
  return {
    ...response,
    headers: {
      ...headers,
      ...(requestId !== undefined && { 'request-id': requestId }),
      ...(window !== undefined && {
        'anthropic-ratelimit-requests-limit': window.limit,
        'anthropic-ratelimit-requests-remaining': window.remaining,
        'anthropic-ratelimit-requests-reset': new Date(window.reset * 1000).toISOString(),
      }),
    },
  };
}
