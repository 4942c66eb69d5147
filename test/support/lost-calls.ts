import { StorageUnavailable } from '@questline/core/ports';

/** Loses the result of one call of some ports. */
export interface LostCalls {
  /** The number of the call whose result is lost, from 0. */
  place: number;
  /** Calls since the last reset. */
  calls: number;
  /** A port whose calls are counted. */
  lose<T extends object>(port: T): T;
}

export function createLostCalls(): LostCalls {
  const state: LostCalls = { place: -1, calls: 0, lose };

  function lose<T extends object>(port: T): T {
    return new Proxy(port, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]) => {
          const result: unknown = Reflect.apply(member, target, given);
          if (name === 'collection') return lose(result as object);
          if (!(result instanceof Promise)) return result;
          const isLost = state.calls === state.place;
          state.calls += 1;
          return isLost ? result.then(() => Promise.reject(new StorageUnavailable('lost'))) : result;
        };
      },
    });
  }

  return state;
}
