import type { CallOptions } from '../../ports/options.ts';

/** A few slots for work of many owners. Serves each owner in order, and the owners in rotation. */
export interface OwnerTurns {
  /** Waits for a slot. Rejects with the signal's reason while waiting. @returns a function that releases it; safe to call twice. */
  take(owner: string, options?: TurnOptions): Promise<() => void>;
  /** Acquires a slot that is free for this owner now. @returns as `take`; undefined when none is free. */
  tryTake(owner: string): (() => void) | undefined;
}

interface TurnOptions {
  readonly signal?: CallOptions['signal'] | undefined;
}

interface Waiter {
  start(): void;
}

/**
 * @param slots at least 1. One owner holds at most all but one of them, so that other owners do not wait for that owner's
 * work; with one slot, owners wait for the work in progress.
 */
export function createOwnerTurns({ slots }: { readonly slots: number }): OwnerTurns {
  const maxPerOwner = Math.max(1, slots - 1);
  const held = new Map<string, number>();
  /** The owner served most recently comes last. */
  const waiting = new Map<string, Set<Waiter>>();
  let free = slots;

  const isFree = (owner: string): boolean => free > 0 && (held.get(owner) ?? 0) < maxPerOwner;

  const hold = (owner: string): (() => void) => {
    free -= 1;
    held.set(owner, (held.get(owner) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      free += 1;
      const left = (held.get(owner) ?? 1) - 1;
      if (left === 0) held.delete(owner);
      else held.set(owner, left);
      startNext();
    };
  };

  const startNext = (): void => {
    for (const [owner, waiters] of waiting) {
      if (!isFree(owner)) continue;
      const [first] = waiters;
      waiting.delete(owner);
      if (first === undefined) continue;
      waiters.delete(first);
      if (waiters.size > 0) waiting.set(owner, waiters);
      first.start();
      return;
    }
  };

  const tryTake = (owner: string): (() => void) | undefined => (isFree(owner) ? hold(owner) : undefined);

  return {
    tryTake,
    take: (owner, { signal } = {}) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const now = tryTake(owner);
        if (now !== undefined) return resolve(now);
        const leave = (): void => {
          const waiters = waiting.get(owner);
          waiters?.delete(waiter);
          if (waiters?.size === 0) waiting.delete(owner);
          reject(signal?.reason as Error);
        };
        const waiter: Waiter = {
          start() {
            signal?.removeEventListener('abort', leave);
            resolve(hold(owner));
          },
        };
        signal?.addEventListener('abort', leave);
        waiting.set(owner, (waiting.get(owner) ?? new Set<Waiter>()).add(waiter));
      }),
  };
}
