import type { ApiResponse } from '../../../contract/message.ts';

/** The window that clients of a vendor see: the minute of a key, or the window of a signed-in user. */
export interface RateWindow {
  readonly limit: string;
  readonly remaining: string;
  /** Epoch seconds. */
  readonly reset: number;
}

const WINDOWS = ['-Minute', ''] as const;

/** Reads our rate headers. @returns undefined for a response without them. */
export function readRateWindow({ headers }: ApiResponse): RateWindow | undefined {
  for (const window of WINDOWS) {
    const limit = headers[`X-RateLimit-Limit${window}`];
    if (limit === undefined) continue;
    return {
      limit,
      remaining: headers[`X-RateLimit-Remaining${window}`] ?? '0',
      reset: Number(headers[`X-RateLimit-Reset${window}`] ?? 0),
    };
  }
  return undefined;
}
