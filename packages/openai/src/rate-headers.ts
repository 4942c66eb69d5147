import type { ApiResponse } from '@questline/core';

const WINDOWS = ['-Minute', ''] as const;

/**
 * Adds the vendor's rate headers, from ours: the minute of a key, or the window of a signed-in user. Ours stay beside
 * them.
 * @param now epoch milliseconds.
 */
export function withRateHeaders(response: ApiResponse, now: number): ApiResponse {
  const { headers } = response;
  for (const window of WINDOWS) {
    const limit = headers[`X-RateLimit-Limit${window}`];
    if (limit === undefined) continue;
    const reset = Number(headers[`X-RateLimit-Reset${window}`] ?? 0);
    return {
      ...response,
      headers: {
        ...headers,
        'x-ratelimit-limit-requests': limit,
        'x-ratelimit-remaining-requests': headers[`X-RateLimit-Remaining${window}`] ?? '0',
        'x-ratelimit-reset-requests': `${Math.max(0, Math.ceil(reset - now / 1000))}s`,
      },
    };
  }
  return response;
}
