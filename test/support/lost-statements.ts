import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageUnavailable } from '@questline/core/ports';
import type { SqlDatabase } from '@questline/sql';

const QUIET_TURNS = 40;

/** A lost statement has no effect, or its answer is lost. */
export type Loss = 'before' | 'after';

/** Which call of some databases is lost: the one with number `place`, from 0. None for -1. */
export interface Fault {
  place: number;
  loss: Loss;
  /** Whether all later calls are lost too, before their effect. */
  isLasting: boolean;
  /** Calls since the last reset. */
  calls: number;
  isHit: boolean;
  /** Calls that are not answered yet. */
  running: number;
  /** Called when the last of the running calls is answered. */
  onAnswered?: () => void;
}

export function createFault(): Fault {
  return { place: -1, loss: 'before', isLasting: false, calls: 0, isHit: false, running: 0 };
}

/** A database whose statements and transactions count as calls of the fault. */
export function loseStatements(database: SqlDatabase, fault: Fault): SqlDatabase {
  const lose = async <T>(perform: () => Promise<T>): Promise<T> => {
    const isLater = fault.isLasting && fault.isHit;
    const isLost = fault.calls === fault.place;
    fault.calls += 1;
    fault.isHit ||= isLost;
    fault.running += 1;
    try {
      if (isLater || (isLost && fault.loss === 'before')) throw new StorageUnavailable('lost');
      const value = await perform();
      if (isLost) throw new StorageUnavailable('lost');
      return value;
    } finally {
      fault.running -= 1;
      if (fault.running === 0) fault.onAnswered?.();
    }
  };
  return {
    ...database,
    run: (...args: Parameters<SqlDatabase['run']>) => lose(() => database.run(...args)),
    transaction: ((work, options) =>
      lose(() => database.transaction(work, options))) as SqlDatabase['transaction'],
    ...(database.dialect === 'sqlite' && {
      immediate: ((work, options) =>
        lose(() => database.immediate(work, options))) as typeof database.immediate,
    }),
  } as SqlDatabase;
}

/** Resolves when no call was made for some turns of the event loop. */
export async function waitForCalls(fault: Fault): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TURNS; ) {
    // Turns would take the processor from the database.
    if (fault.running > 0)
      await new Promise<void>((resolve) => {
        fault.onAnswered = resolve;
      });
    await nextTurn();
    quiet = fault.running === 0 ? quiet + 1 : 0;
  }
}
