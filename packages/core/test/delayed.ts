import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '../src/ports/store.ts';

/**
 * A port whose calls have their effect some turns later, so that work that is not waited for is missed.
 * @param turns more than those of later calls.
 */
export function delayed<T extends object>(port: T, turns = 1): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const call = (given: readonly unknown[]): unknown => Reflect.apply(value, target, given);
      if (name === 'collection') return (...given: unknown[]) => delayed(call(given) as object, turns);
      return async (...given: unknown[]) => {
        for (let count = 0; count < turns; count += 1) await turn();
        if (name !== 'transaction') return call(given);
        const [work, ...options] = given as [(inside: Store) => Promise<unknown>, ...unknown[]];
        return call([(inside: Store) => work(delayed(inside)), ...options]);
      };
    },
  });
}

/** Lets calls of delayed ports have their effects. */
export async function settle(): Promise<void> {
  for (let count = 0; count < 12; count += 1) await turn();
}
