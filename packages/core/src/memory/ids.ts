import { randomBytes, randomFillSync, randomUUID } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 within a byte. Larger bytes are discarded to avoid modulo bias. */
const FAIR_BYTES = 248;
const IDS_PER_MILLISECOND = 4096;

/**
 * Creates ids of 24 hexadecimal characters: 11 for milliseconds, 3 for a counter within the millisecond, 10 random
 * ones per generator. Ids of one generator strictly increase, also when the clock goes back; a burst above 4096 per
 * millisecond continues in the next millisecond. Two generators have the same random part with a probability of
 * 2^-40.
 */
export function createIds(options: { clock?: Clock } = {}): Ids {
  const { clock } = options;
  const counters = Array.from({ length: IDS_PER_MILLISECOND }, (_, n) => n.toString(16).padStart(3, '0'));
  const generator = randomBytes(5).toString('hex');
  let moment = -1;
  let prefix = '';
  let count = IDS_PER_MILLISECOND;

  const startMillisecond = (at: number): void => {
    moment = at;
    prefix = at.toString(16).padStart(11, '0');
    count = 0;
  };

  return {
    next() {
      const now = clock === undefined ? Date.now() : clock.now();
      if (now > moment) startMillisecond(now);
      else if (count === IDS_PER_MILLISECOND) startMillisecond(moment + 1);
      return prefix + counters[count++] + generator;
    },
    requestId: () => randomUUID(),
    secret(length) {
      let text = '';
      while (text.length < length) {
        for (const byte of randomBytes(length - text.length)) {
          if (byte < FAIR_BYTES) text += BASE62.charAt(byte % BASE62.length);
        }
      }
      return text;
    },
    bytes: (length) => randomFillSync(new Uint8Array(length)),
  };
}
