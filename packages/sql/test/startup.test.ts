import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { COLLECTIONS } from '@questline/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../src/index.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from './engines.ts';
import { forkSibling } from './processes/children.ts';
import type { MigratorStart } from './processes/migrator.ts';

const PROCESSES = 8;

/** A process that has loaded its modules and waits for its task. */
const prepare = async (): Promise<ChildProcess> => {
  const child = forkSibling('migrator.ts');
  await once(child, 'message');
  return child;
};

/** @returns what the process says: the steps it ran, or that it stopped. */
const order = async (child: ChildProcess, start: MigratorStart) => {
  child.send(start);
  const [said] = (await once(child, 'message')) as [string[] | 'stopped'];
  return said;
};

const children: ChildProcess[] = [];
beforeAll(async () => {
  children.push(...(await Promise.all(Array.from({ length: PROCESSES }, prepare))));
});
afterAll(() => {
  for (const child of children) child.send('end');
});

describe.each([SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])])(
  'start on $name',
  (engine) => {
    let open: OpenEngine;
    beforeEach(async () => {
      open = await engine.open();
    });
    afterEach(() => open.close());

    const getSchema = async ({ database }: OpenEngine): Promise<unknown> => {
      const sql =
        database.dialect === 'sqlite'
          ? `select type, name, sql from sqlite_master where name not like 'sqlite_%' order by name`
          : `select table_name || '.' || column_name as name, data_type || coalesce(generation_expression, '') as what
           from information_schema.columns where table_schema = '${database.names.schema}'
           union all
           select indexname, replace(indexdef, '${database.names.schema}', 'schema')
           from pg_indexes where schemaname = '${database.names.schema}' order by name`;
      return database.run({ sql, parameters: [] });
    };

    const cleanSchema = async (): Promise<unknown> => {
      const clean = await engine.open();
      await migrate(clean.database, { collections: COLLECTIONS });
      const schema = await getSchema(clean);
      await clean.close();
      return schema;
    };

    it(`runs each step once when ${PROCESSES} processes migrate one empty database, and all start`, async () => {
      const said = await Promise.all(children.map((child) => order(child, { address: open.address })));

      const steps = said.flat();
      console.log(
        `${engine.name}: steps run by each process: ${said.map(({ length }) => length).join(', ')}`,
      );
      expect(steps).toHaveLength(new Set(steps).size);
      expect(steps.length).toBeGreaterThanOrEqual(COLLECTIONS.length);
      expect(await migrate(open.database, { collections: COLLECTIONS })).toEqual([]);
      expect(await getSchema(open)).toEqual(await cleanSchema());
    });

    it.each([4, 14, 22, 30])(
      'leaves complete steps when a process is killed before statement %i, and the next continues',
      async (stopBefore) => {
        const child = await prepare();
        const ended = once(child, 'exit');
        expect(await order(child, { address: open.address, stopBefore })).toBe('stopped');
        // Another process starts meanwhile and waits for it.
        const other = migrate(open.peer(), { collections: COLLECTIONS });
        child.kill('SIGKILL');
        await ended;

        const steps = (await other).length;
        console.log(
          `${engine.name}: killed before statement ${stopBefore}, another process continued with ${steps} steps`,
        );
        expect(steps).toBeGreaterThan(0);
        expect(await migrate(open.database, { collections: COLLECTIONS })).toEqual([]);
        expect(await getSchema(open)).toEqual(await cleanSchema());
      },
    );
  },
);
