import { encodeComment, encodeData } from 'eventsource-encoder';

/**
 * The head of every event stream. `no-transform` keeps a host's compression from holding events back. `Connection` is the
 * server's to say: it sends `keep-alive` itself, unless the client asked it to close.
 */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

export const KEEP_ALIVE = encodeComment('keep-alive');

export const DONE = encodeData('[DONE]');

/** One event as its frame: a `data:` line and a blank line. */
export function frame(event: Readonly<Record<string, unknown>>): string {
  return encodeData(JSON.stringify(event));
}
