import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { onLeave } from './node-request.ts';
import { breakOff, sendHeadSoon } from './node-response.ts';
import { Pump } from './pump.ts';

/**
 * A streamed body as a `Readable`, for frameworks that write streams themselves. When the source fails, the connection
 * breaks off: the stream itself never fails, so no error handler of the host is asked about it.
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
  // Frameworks do this too, but do not know of an answer that still waits behind a pipelined one.
  onLeave(incoming, outgoing, () => readable.destroy());
  return readable;
}
