import { type BodySink, Pump } from '../src/http/pump.ts';
import { createStreamedBody } from './streamed-body.ts';

/** Pumps a body that the test feeds into a sink that notes what it gets. @param room the number of writes after which it is full. */
export function pumpBody({ room = Number.POSITIVE_INFINITY, refused = '' } = {}) {
  const source = createStreamedBody();
  const written: (string | Uint8Array)[] = [];
  let left = room;
  const sink: BodySink = {
    write(chunk) {
      if (chunk === refused) throw new Error('invalid chunk');
      written.push(chunk);
      left -= 1;
      return left > 0;
    },
    end: (rest) => written.push(`end:${rest}`),
    fail: () => written.push('fail'),
  };
  const pump = new Pump(source.body, sink);
  const ended = pump.run();
  /** Makes room for writes and continues. */
  const resume = (writes: number) => {
    left = writes;
    pump.resume();
  };
  return { ...source, pump, written, ended, resume };
}

/** As long as text may become before it is written without waiting for the end of the tick. */
export const LONG_TEXT = 'x'.repeat(16_384);
