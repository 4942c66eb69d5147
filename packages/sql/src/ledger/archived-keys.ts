import type { SqlDatabase } from '../database.ts';
import type { SqlNames } from '../names.ts';
import { defineStatement } from '../statement.ts';

/** SQL: no charge of this kind has `@key`, archived or not. */
export function toIsNewText(names: SqlNames, kind: 'hold' | 'record'): string {
  return ['ledgerCharges', 'ledgerArchivedKeys']
    .map((table) => `not exists (select 1 from ${names.table(table)} where key = @key and kind = '${kind}')`)
    .join(' and ');
}

/** SQL: the hold with `@key`. */
export function toKnownHoldText(names: SqlNames): string {
  return `select c.id, c.account, c.reserved, coalesce(h.expires_at, c.expires_at) as expires_at
     from ${names.table('ledgerCharges')} c
     left join ${names.table('ledgerHolds')} h on h.account = c.account and h.id = c.id
     where c.key = @key and c.kind = 'hold'
     union all
     select id, account, reserved, expires_at from ${names.table('ledgerArchivedKeys')}
     where key = @key and kind = 'hold'`;
}

/** SQL: how the hold with `@id` has ended. `can_settle`: a settlement would have an effect, at once or after `restore`. */
export function toEndedHoldText(names: SqlNames): string {
  return `select charged, settled_at is null as can_settle, false as is_archived
     from ${names.table('ledgerCharges')} where id = @id and kind = 'hold'
     union all
     select charged, released is not null, true from ${names.table('ledgerArchivedKeys')} where id = @id`;
}

/** @returns a function that brings the charge of an archived released hold back, if it is still archived. */
export function createRestore(database: SqlDatabase): (id: string) => Promise<void> {
  const { dialect, names } = database;
  const keys = names.table('ledgerArchivedKeys');
  const toInsert = (
    from: string,
    condition: string,
  ) => `insert into ${names.table('ledgerCharges')} (id, kind, key, account,
       reserved, expires_at, charged, cap_id, operation, model, key_id, user_id, request_id, created_at)
     select id, kind, key, account, reserved, expires_at, 0, released ->> 'capId', released ->> 'operation',
       released ->> 'model', released ->> 'keyId', released ->> 'userId', released ->> 'requestId',
       cast(released ->> 'createdAt' as bigint)
     from ${from} where ${condition}`;
  const isReleased = 'id = @id and released is not null';
  if (database.dialect === 'postgres') {
    const restore = defineStatement<'id'>(
      dialect,
      `with restored as (delete from ${keys} where ${isReleased} returning *) ${toInsert('restored', '1 = 1')}`,
    );
    return async (id) => void (await database.run(restore({ id })));
  }
  const insert = defineStatement<'id'>(dialect, toInsert(keys, isReleased));
  const remove = defineStatement<'id'>(dialect, `delete from ${keys} where ${isReleased}`);
  return async (id) =>
    database.immediate((run) => {
      run(insert({ id }));
      run(remove({ id }));
    });
}
