import type { TableStep } from '../migrations/tables.ts';
import { quote } from '../names.ts';

export const HOUR_MS = 3_600_000;

/**
 * The charged sums per hour of the call, so that sums over days do not read each charge. A trigger keeps them: processes of
 * older versions, which do not know the table, settle meanwhile. No value is null, because the key contains all of them.
 */
export const LEDGER_HOURS: TableStep = {
  name: '0011 ledger hours',
  statements(dialect, names) {
    const isSqlite = dialect === 'sqlite';
    const text = isSqlite ? 'text' : 'text collate "C"';
    const hours = names.table('ledgerHours');
    const charges = names.table('ledgerCharges');
    const trigger = quote(names.plain('ledgerHoursTrigger'));
    const key = (row: string) =>
      `${row}account, coalesce(${row}user_id, ''), coalesce(${row}key_id, ''), ${row}created_at - ${row}created_at % ${HOUR_MS}`;
    const add = `insert into ${hours} as kept (account, user_id, key_id, hour, charged)
      values (${key('new.')}, new.charged - old.charged)
      on conflict (account, hour, user_id, key_id) do update set charged = kept.charged + excluded.charged;`;
    const addTo = names.table('ledgerHoursAdd');
    return [
      `create table ${hours} (
        account ${text} not null,
        user_id ${text} not null,
        key_id ${text} not null,
        hour bigint not null,
        charged bigint not null,
        primary key (account, hour, user_id, key_id)
      )${isSqlite ? ' without rowid' : ' with (fillfactor = 70)'}`,
      `create index "${names.index('ledgerHours', ['keyId'], 'idx')}" on ${hours} (key_id, hour)`,
      `create index "${names.index('ledgerHours', ['userId'], 'idx')}" on ${hours} (user_id, hour)`,
      ...(isSqlite
        ? [
            `create trigger ${trigger} after update of charged on ${charges} when new.charged <> old.charged
             begin ${add} end`,
          ]
        : [
            `create function ${addTo}() returns trigger language plpgsql as $$ begin ${add} return null; end $$`,
            `create trigger ${trigger} after update of charged on ${charges} for each row
             when (new.charged <> old.charged) execute function ${addTo}()`,
          ]),
      // The trigger has locked the charges: none is counted twice, and none is missed.
      `insert into ${hours} (account, user_id, key_id, hour, charged)
       select ${key('')}, sum(charged) from ${charges} where charged > 0 group by 1, 2, 3, 4`,
    ];
  },
};
