import { randomBytes, randomFillSync, randomUUID } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 a byte can reach: bytes from here on are thrown away, or the first characters would come up more often. */
const FAIR_BYTES = 248;
const IDS_PER_MILLISECOND = 4096;

/**
 * Ids of 24 hexadecimal characters: 11 of milliseconds, 3 of a counter within the millisecond, 10 that are random and
 * stay the same for this generator. Within one generator they strictly grow, also when the clock steps back; a burst
 * beyond 4096 in a millisecond borrows from the next. Between generators, two agree in their random part with a
 * probability of 2^-40.
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
