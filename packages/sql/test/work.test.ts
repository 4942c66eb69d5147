import { describe, expect, it } from 'vitest';
import { createDeferred, type Deferred } from '../../../test/support/deferred.ts';
import type { SqlStatement } from '../src/statement.ts';
import { runWork } from '../src/work.ts';

const statement = (sql: string): SqlStatement => ({ sql, parameters: [] });
const failure = new Error('refused');

/** Runs statements by hand. */
function setUp() {
  const started: string[] = [];
  const open: Deferred<readonly []>[] = [];
  const run = ({ sql }: SqlStatement) => {
    started.push(sql);
    const answer = createDeferred<readonly []>();
    open.push(answer);
    return answer.promise;
  };
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { started, open, run, turn };
}

describe('the statements of a transaction', () => {
  it('run one at a time, and all of them before its end', async () => {
    const { started, open, run, turn } = setUp();
    let isOver = false;
    const work = runWork(run, async (connection) => {
      for (const sql of ['a', 'b']) void connection.run(statement(sql));
      return 'done';
    });
    const over = work.then(() => {
      isOver = true;
    });
    await turn();
    expect(started).toEqual(['a']);
    open[0]?.resolve([]);
    await turn();
    expect([started, isOver]).toEqual([['a', 'b'], false]);
    open[1]?.resolve([]);
    await over;
    expect(await work).toBe('done');
  });

  it('are refused after its end', async () => {
    const { started, run } = setUp();
    const ended = await runWork(run, async (connection) => ({ connection }));
    await expect(ended.connection.run(statement('late'))).rejects.toThrow('the transaction has ended');
    const failed: { run(one: SqlStatement): Promise<unknown> }[] = [];
    const work = runWork(run, async (connection) => {
      failed.push(connection);
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    await expect(failed[0]?.run(statement('late'))).rejects.toThrow('the transaction has ended');
    expect(started).toEqual([]);
  });

  it('are refused after one that failed, which fails the whole work', async () => {
    const { started, open, run, turn } = setUp();
    const ignored: unknown[] = [];
    const work = runWork(run, async (connection) => {
      await connection.run(statement('a')).catch((error: unknown) => ignored.push(error));
      await connection.run(statement('b')).catch((error: unknown) => ignored.push(error));
      return 'done';
    });
    const failed = expect(work).rejects.toBe(failure);
    await turn();
    open[0]?.reject(failure);
    await failed;
    expect([started, ignored]).toEqual([['a'], [failure, failure]]);
  });

  it('have ended when the work fails beside them', async () => {
    const { open, run, turn } = setUp();
    let isOver = false;
    const work = runWork(run, async (connection) => {
      void connection.run(statement('a'));
      throw failure;
    });
    const over = work.catch((error: unknown) => {
      isOver = true;
      return error;
    });
    await turn();
    expect(isOver).toBe(false);
    open[0]?.resolve([]);
    expect(await over).toBe(failure);
  });

  it('are refused after its end, also while those before are running', async () => {
    const { started, open, run, turn } = setUp();
    const late: unknown[] = [];
    const work = runWork(run, async (connection) => {
      void connection
        .run(statement('a'))
        .then(() => connection.run(statement('b')))
        .catch((error: unknown) => late.push(String(error)));
      return 'done';
    });
    await turn();
    open[0]?.resolve([]);
    expect(await work).toBe('done');
    await turn();
    expect([started, late]).toEqual([['a'], ['Error: the transaction has ended']]);
  });

  it('fail the work that does not wait for them', async () => {
    const { open, run, turn } = setUp();
    const work = runWork(run, async (connection) => {
      connection.run(statement('a')).catch(() => undefined);
      return 'done';
    });
    const failed = expect(work).rejects.toBe(failure);
    await turn();
    open[0]?.reject(failure);
    await failed;
  });
});
