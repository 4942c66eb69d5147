import type { Ids } from '@questline/core/ports';
import { createRandom } from './random.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Deterministic ids and secrets. Ids increase; different seeds give different ids. */
export function createFakeIds(seed = 1): Ids {
  const random = createRandom(seed);
  const owner = (seed >>> 0).toString(16).padStart(8, '0');
  let count = 0;

  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.below(256));

  return {
    next() {
      count += 1;
      return `${count.toString(16).padStart(16, '0')}${owner}`;
    },
    requestId() {
      const text = Buffer.from(bytes(16)).toString('hex');
      const variant = '89ab'.charAt(random.below(4));
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-${variant}${text.slice(17, 20)}-${text.slice(20)}`;
    },
    secret: (length) => Array.from({ length }, () => BASE62.charAt(random.below(62))).join(''),
    bytes,
  };
}
