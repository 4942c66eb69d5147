import type { SqlConnection } from './database.ts';
import type { SqlRow, SqlStatement } from './statement.ts';

/**
 * Runs `work` with a connection that is valid only during it, one statement at a time. A failed statement fails
 * the work on every engine, even if `work` ignores the error.
 */
export async function runWork<T>(
  run: (statement: SqlStatement) => Promise<readonly SqlRow[]>,
  work: (connection: SqlConnection) => Promise<T>,
): Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;
  let isOver = false;
  const connection: SqlConnection = {
    run(statement) {
      if (isOver) return Promise.reject(new Error('the transaction has ended'));
      const answer = last.then(() => {
        if (failure !== undefined) throw failure.error;
        return run(statement);
      });
      last = answer.catch((error: unknown) => {
        failure ??= { error };
      });
      return answer;
    },
  };
  try {
    const value = await work(connection);
    isOver = true;
    await last;
    if (failure !== undefined) throw failure.error;
    return value;
  } finally {
    isOver = true;
    await last;
  }
}
