import { COLLECTIONS } from '@questline/core';
import { migrate, type SqlDatabase } from '../../src/index.ts';
import { connect } from '../connect.ts';
import type { EngineAddress } from '../engines.ts';

export interface MigratorStart {
  readonly address: EngineAddress;
  /** Stops before this statement, in the middle of its step, until it is killed. Default: never. */
  readonly stopBefore?: number;
}

/** Runs in a separate process: migrates the given steps and reports which ones it ran. */
process.on('message', async (order: MigratorStart | 'end') => {
  if (order === 'end') return process.disconnect();
  const { address, stopBefore } = order;
  const { database, close } = connect(address);
  const reports = await migrate(stopBefore === undefined ? database : stopping(database, stopBefore), {
    collections: COLLECTIONS,
  });
  await close();
  process.send?.(reports.map(({ name }) => name));
});
process.send?.('ready');

function stopping(database: SqlDatabase, stopBefore: number): SqlDatabase {
  let statements = 0;
  return {
    ...database,
    transaction: (work, options) =>
      database.transaction(
        (connection) =>
          work({
            async run(statement) {
              statements += 1;
              if (statements === stopBefore) {
                process.send?.('stopped');
                await new Promise(() => undefined);
              }
              return connection.run(statement);
            },
          }),
        options,
      ),
  };
}
