import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '../src/ports/store.ts';

/** A port whose calls have their effect in a later turn, so that work that is not waited for is missed. */
export function delayed<T extends object>(port: T): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name === 'collection') return (...given: unknown[]) => delayed(value(...given) as object);
      return async (...given: unknown[]) => {
        await turn();
        if (name !== 'transaction') return value(...given) as unknown;
        const [work, ...options] = given as [(inside: Store) => Promise<unknown>, ...unknown[]];
        return value((inside: Store) => work(delayed(inside)), ...options) as unknown;
      };
    },
  });
}

/** Lets calls of delayed ports have their effects. */
export async function settle(): Promise<void> {
  for (let count = 0; count < 12; count += 1) await turn();
}
