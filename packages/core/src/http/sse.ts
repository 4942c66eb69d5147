import { encodeComment, encodeData } from 'eventsource-encoder';

/**
 * The headers of every event stream. `no-transform` stops compression in the host from delaying events. The server
 * sets `Connection` itself.
 */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

export const KEEP_ALIVE = encodeComment('keep-alive');

export const DONE = encodeData('[DONE]');

/** Encodes one event: a `data:` line and a blank line. */
export function frame(event: Readonly<Record<string, unknown>>): string {
  return encodeData(JSON.stringify(event));
}
