import type { DatabaseSync } from 'node:sqlite';
import { StorageUnavailable } from '@questline/core/ports';
import type { SqliteDatabase } from '../database.ts';
import { createDeadline, type Deadline, pause } from '../deadline.ts';
import { createMutex } from '../mutex.ts';
import { createNames } from '../names.ts';
import { runWork } from '../work.ts';
import { isBusy, toStorageError } from './errors.ts';
import { createPace } from './pace.ts';
import { createStatementCache } from './statements.ts';

export interface SqliteOptions {
  /** A file, or `:memory:`. Opened, set up and closed by the handle. */
  readonly path?: string;
  /**
   * Your own connection instead of `path`; the handle does not change its settings or close it. A transaction
   * spans turns of the event loop, so statements that you run on it meanwhile would become a part of it: give the
   * handle a connection of its own.
   */
  readonly database?: DatabaseSync;
  /** The prefix of every table name. Default `questline_`. */
  readonly prefix?: string;
  /**
   * What a committed write survives: `process` (default) a killed process; `power` also a
   * power failure, for one disk flush per write. Only with `path`.
   */
  readonly durability?: 'process' | 'power';
  /** Milliseconds until a call gives up with a `StorageUnavailable`. Default 4500. */
  readonly timeoutMs?: number;
}

/** How long SQLite may wait for another process, which blocks the event loop. We wait longer asynchronously. */
const BUSY_TIMEOUT_MS = 5;

/**
 * Embedded SQLite, for one machine. Several processes may share the file. Needs Node 22.13 or later.
 * @throws Error without `node:sqlite`, or if the file cannot be opened.
 */
export function createSqliteDatabase({
  path,
  database: given,
  prefix,
  durability = 'process',
  timeoutMs = 4500,
}: SqliteOptions): SqliteDatabase {
  if ((path === undefined) === (given === undefined)) throw new TypeError('either path or database');
  const names = createNames({ ...(prefix !== undefined && { prefix }) });
  const database = given ?? open(path ?? '', durability);
  // The engine's LIKE and lower() support only ASCII letters.
  database.function(`${names.prefix}contains`, { deterministic: true }, (text, part) =>
    typeof text === 'string' && text.toLowerCase().includes(String(part)) ? 1 : 0,
  );
  const runNow = createStatementCache(database);
  const mutex = createMutex('the SQLite connection');
  const waitForTurn = createPace();
  let hasLeftOver = false;
  let isClosed = false;

  const control = (sql: string): void => {
    runNow({ sql, parameters: [] });
  };

  /** Another process may be writing: retries until the deadline. */
  const whenFree = async <T>(deadline: Deadline, attempt: () => T): Promise<T> => {
    for (let tries = 0; ; tries += 1) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || deadline.left() === 0) throw error;
      }
      await pause(tries, deadline);
    }
  };

  /** A transaction that cannot end would include the next statements. */
  const rollBack = (): void => {
    hasLeftOver = true;
    try {
      control('rollback');
    } catch (error) {
      // After some failures, such as a full disk, the engine has rolled back by itself.
      if (!(error instanceof Error && /no transaction is active/.test(error.message))) return;
    }
    hasLeftOver = false;
  };

  const cleanUp = (): void => {
    if (hasLeftOver) rollBack();
    if (hasLeftOver) throw new StorageUnavailable('SQLite cannot end a failed transaction');
  };

  const inTransaction = async <T>(
    deadline: Deadline,
    signal: AbortSignal | undefined,
    work: () => T | Promise<T>,
  ): Promise<T> => {
    const endTurn = await mutex.lock(deadline, signal);
    try {
      cleanUp();
      try {
        await whenFree(deadline, () => control('begin immediate'));
        const value = work();
        const result = value instanceof Promise ? await value : value;
        await whenFree(deadline, () => control('commit'));
        return result;
      } catch (error) {
        rollBack();
        throw error;
      }
    } catch (error) {
      throw toStorageError(error);
    } finally {
      endTurn();
    }
  };

  return {
    dialect: 'sqlite',
    names,

    async run(statement, options) {
      options?.signal?.throwIfAborted();
      const pause = waitForTurn();
      if (pause !== undefined) await pause;
      const deadline = createDeadline(options?.timeoutMs ?? timeoutMs);
      const endTurn = mutex.tryLock() ?? (await mutex.lock(deadline, options?.signal));
      try {
        cleanUp();
        return await whenFree(deadline, () => runNow(statement));
      } catch (error) {
        throw toStorageError(error);
      } finally {
        endTurn();
      }
    },

    async immediate(work, options) {
      const pause = waitForTurn();
      if (pause !== undefined) await pause;
      const deadline = createDeadline(options?.timeoutMs ?? timeoutMs);
      return inTransaction(deadline, options?.signal, () => work(runNow));
    },

    transaction(work, options) {
      const deadline = createDeadline(options?.timeoutMs ?? timeoutMs);
      return inTransaction(deadline, options?.signal, () =>
        runWork(async (statement) => {
          const pause = waitForTurn();
          if (pause !== undefined) await pause;
          return runNow(statement);
        }, work),
      );
    },

    async close() {
      if (given !== undefined || isClosed) return;
      const endTurn = await mutex.lock(createDeadline(timeoutMs));
      isClosed = true;
      database.close();
      endTurn();
    },
  };
}

function open(path: string, durability: 'process' | 'power'): DatabaseSync {
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (sqlite === undefined) {
    throw new Error(
      `Embedded SQLite needs Node 22.13 or later; this is ${process.version}. Use PostgreSQL instead.`,
    );
  }
  const database = new sqlite.DatabaseSync(path);
  // A change of the journal mode locks the file, and several processes may open it at once.
  database.exec('pragma busy_timeout = 5000');
  database.exec('pragma journal_mode = wal');
  // In WAL mode a commit reaches the operating system either way; `full` also waits for the disk.
  database.exec(`pragma synchronous = ${durability === 'power' ? 'full' : 'normal'}`);
  database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return database;
}
