import { joinBatches, toPage } from '@questline/core/internal';
import type { Clock, EventLog, Json, NewEvents } from '@questline/core/ports';
import type { SqlDatabase } from './database.ts';
import { defineStatement, type SqlRow, toNumber } from './statement.ts';
import { defineConditional, toEngineWrite } from './store/engine-write.ts';
import { fromJson } from './store/json.ts';

const ALWAYS = { sql: '1 = 1', parameters: [] };
/** Maximum batches of one page. */
const MAX_ROWS = 16;
/** Maximum streams of one deletion. */
const MAX_EXPIRED = 500;

/** An event log in a table. The primary key (stream, first sequence) decides between concurrent appends. */
export function createSqlEventLog(database: SqlDatabase, { clock }: { readonly clock: Clock }): EventLog {
  const { dialect, names, run, transaction } = database;
  const table = names.table('eventBatches');
  const head = (column: string): string =>
    `coalesce((select ${column} from ${table} where stream = @stream order by first desc limit 1), 0)`;
  const number = (name: string): string => `cast(@${name} as bigint)`;
  const text = (name: string): string => `cast(@${name} as text)`;
  type Row = 'stream' | 'first' | 'last' | 'attempt' | 'events' | 'expiresAt';
  const values = `${text('stream')}, ${number('first')}, ${number('last')}, ${number('attempt')}, ${text('events')}, ${number('expiresAt')}`;
  const columns = 'stream, first, last, attempt, events, expires_at';
  const added = `insert into ${table} (${columns}) select ${values}
     where ${head('last')} = ${number('after')} and ${head('attempt')} <= ${number('attempt')}`;
  const append = defineStatement<Row | 'after'>(dialect, `${added} on conflict do nothing returning last`);
  const appendIf = defineConditional<Row | 'after'>(
    dialect,
    (condition) => `appended as (${added} and ${condition} on conflict do nothing)`,
  );
  const toRow = (stream: string, { attempt, after, events, keepMs }: NewEvents) => ({
    ...{ stream, after, first: after + 1, last: after + events.length, attempt },
    ...{ events: JSON.stringify(events), expiresAt: clock.now() + keepMs },
  });
  const readHead = defineStatement<'stream'>(
    dialect,
    `select last, attempt from ${table} where stream = @stream order by first desc limit 1`,
  );
  // From the batch that contains `after`.
  const read = defineStatement<'stream' | 'after'>(
    dialect,
    `select first, last, events from ${table} where stream = @stream and first >= coalesce(
       (select max(first) from ${table} where stream = @stream and first <= ${number('after')}), 0
     ) order by first limit ${MAX_ROWS}`,
  );
  const take = defineStatement<'stream'>(
    dialect,
    `delete from ${table} where stream = @stream returning first, last, attempt, events`,
  );
  const insert = defineStatement<Row>(dialect, `insert into ${table} (${columns}) values (${values})`);
  // The last batch decides.
  const expire = defineStatement<'now'>(
    dialect,
    // PostgreSQL reads the index for an array, whatever it estimates.
    `delete from ${table} where stream ${dialect === 'sqlite' ? 'in (' : '= any(array('}
       select stream from ${table} as final where expires_at <= @now and not exists (
         select 1 from ${table} as later where later.stream = final.stream and later.first > final.first
       ) order by expires_at limit ${MAX_EXPIRED}
     ${dialect === 'sqlite' ? ')' : '))'} returning stream`,
  );

  return {
    async append(stream, batch, options) {
      const row = toRow(stream, batch);
      const { last, attempt } = row;
      const rows = await run(append(row), options);
      if (rows.length === 1) return { isAppended: true, last, attempt };
      const [state] = await run(readHead({ stream }), options);
      return {
        isAppended: false,
        last: toNumber(state?.last ?? 0),
        attempt: toNumber(state?.attempt ?? 0),
      };
    },

    // SQLite has no statement that writes beside another.
    ...(dialect === 'postgres' && {
      toAppend: (stream: string, batch: NewEvents) =>
        toEngineWrite(database, {
          ctes: appendIf(toRow(stream, batch)),
          expected: ALWAYS,
          toStatement: (condition) => ({ sql: `select 1 as done where ${condition}`, parameters: [] }),
        }),
    }),

    async read(stream, after, options) {
      const rows = await run(read({ stream, after }), options);
      return toPage(rows.map(toBatch), after);
    },

    async compact(stream, keepMs, options) {
      await transaction(
        async (connection) => {
          const rows = await connection.run(take({ stream }));
          const attempt = Math.max(...rows.map((row) => toNumber(row.attempt)));
          const expiresAt = clock.now() + keepMs;
          for (const { first, last, events } of joinBatches(rows.map(toBatch))) {
            await connection.run(
              insert({ stream, first, last, attempt, events: JSON.stringify(events), expiresAt }),
            );
          }
        },
        { ...options, isolation: 'read committed' },
      );
    },

    async expire(options) {
      let expired = 0;
      for (;;) {
        const rows = await run(expire({ now: clock.now() }), options);
        const streams = new Set(rows.map(({ stream }) => stream)).size;
        expired += streams;
        if (streams < MAX_EXPIRED) return expired;
      }
    },
  };
}

function toBatch({ first, last, events }: SqlRow) {
  return { first: toNumber(first), last: toNumber(last), events: fromJson<Json[]>(events) };
}
