import type { SqlDatabase } from '@questline/sql';

/** Which call of some databases waits: the one with number `place`, from 0. None for -1. */
export interface Pause {
  place: number;
  /** `before` its effect, which is the default, or with its answer. */
  readonly at?: 'before' | 'after';
  /** Calls since the last reset. */
  calls: number;
  /** Lets the call go on. Undefined: no call waits. */
  go: (() => void) | undefined;
}

/** A database whose statements and transactions count as calls of the pause. */
export function pauseStatements(database: SqlDatabase, pause: Pause): SqlDatabase {
  const wait = async <T>(perform: () => Promise<T>): Promise<T> => {
    const isPaused = pause.calls === pause.place;
    pause.calls += 1;
    const answer = isPaused && pause.at === 'after' ? { value: await perform() } : undefined;
    if (isPaused) {
      await new Promise<void>((resolve) => {
        pause.go = resolve;
      });
    }
    return answer === undefined ? perform() : answer.value;
  };
  return {
    ...database,
    run: (...args: Parameters<SqlDatabase['run']>) => wait(() => database.run(...args)),
    transaction: ((work, options) =>
      wait(() => database.transaction(work, options))) as SqlDatabase['transaction'],
    ...(database.dialect === 'sqlite' && {
      immediate: ((work, options) =>
        wait(() => database.immediate(work, options))) as typeof database.immediate,
    }),
  } as SqlDatabase;
}
