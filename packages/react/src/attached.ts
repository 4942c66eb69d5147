import { useEffect, useSyncExternalStore } from 'react';
import type { Attachable } from './state.ts';

/** The state of a store that works while the component is mounted. */
export function useAttached<T>(store: Attachable<T>): T {
  useEffect(() => store.attach(), [store]);
  const { get, subscribe } = store.state;
  return useSyncExternalStore(subscribe, get, get);
}
