import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { onLeave } from './node-connection.ts';
import { breakOff, sendHeadSoon } from './node-response.ts';
import { Pump } from './pump.ts';

/**
 * Converts a streamed body to a `Readable`, for frameworks that write streams themselves. If the source fails, the
 * connection is aborted; the stream itself never fails, so the host's error handlers are not called.
 */
export function toReadable(
  body: AsyncIterable<string | Uint8Array>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Readable {
  let running = false;
  const readable = new Readable({
    highWaterMark: 16_384,
    read() {
      if (running) {
        pump.resume();
        return;
      }
      running = true;
      void pump.run();
      sendHeadSoon(pump, outgoing);
    },
    destroy(error, done) {
      pump.leave();
      done(error);
    },
  });
  const pump = new Pump(body, {
    write: (chunk) => readable.push(chunk),
    end(rest) {
      if (rest !== '') readable.push(rest);
      readable.push(null);
    },
    fail: () => breakOff(outgoing),
  });
  // Frameworks do this too, but miss a response that waits behind a pipelined one.
  onLeave(incoming, outgoing, () => readable.destroy());
  return readable;
}
