import type { ApiResponse } from '@questline/core';
import { readRateWindow } from '@questline/core/internal';

/**
 * Adds the vendor's rate headers, from ours: the minute of a key, or the window of a signed-in user. Ours stay beside
 * them.
 * @param now epoch milliseconds.
 */
export function withRateHeaders(response: ApiResponse, now: number): ApiResponse {
  const window = readRateWindow(response);
  if (window === undefined) return response;
  return {
    ...response,
    headers: {
      ...response.headers,
      'x-ratelimit-limit-requests': window.limit,
      'x-ratelimit-remaining-requests': window.remaining,
      'x-ratelimit-reset-requests': `${Math.max(0, Math.ceil(window.reset - now / 1000))}s`,
    },
  };
}
