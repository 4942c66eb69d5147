import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SqlDatabase } from '@questline/sql';

/** The calls of some databases. */
export interface Calls {
  /** Those that are not answered yet. */
  running: number;
  /** The greatest number of calls that ran at once. */
  most: number;
}

/** A database that answers each statement and each transaction in a later turn of the event loop. */
export function slowStatements(database: SqlDatabase, calls: Calls): SqlDatabase {
  const wait = async <T>(perform: () => Promise<T>): Promise<T> => {
    calls.running += 1;
    calls.most = Math.max(calls.most, calls.running);
    try {
      await nextTurn();
      return await perform();
    } finally {
      calls.running -= 1;
    }
  };
  return {
    ...database,
    run: (...args: Parameters<SqlDatabase['run']>) => wait(() => database.run(...args)),
    transaction: ((work, options) =>
      wait(() =>
        database.transaction(async (connection) => {
          let isOver = false;
          try {
            return await work({
              async run(statement) {
                await nextTurn();
                if (isOver) throw new Error('the transaction is over');
                return connection.run(statement);
              },
            });
          } finally {
            isOver = true;
          }
        }, options),
      )) as SqlDatabase['transaction'],
    ...(database.dialect === 'sqlite' && {
      immediate: ((work, options) =>
        wait(() => database.immediate(work, options))) as typeof database.immediate,
    }),
  } as SqlDatabase;
}
