import { quote, type SqlNames } from '../names.ts';
import type { Column } from '../store/table.ts';

/** The table of the members of a list, which SQLite cannot index: one row per member and record. */
export function getMembersTable(collection: string, { field }: Column): string {
  return `${collection}_${field}_members`;
}

/** SQLite: creates the table, and triggers that keep it, also for writes of older versions. Idempotent. */
export function createListMembers(names: SqlNames, collection: string, column: Column): string[] {
  const table = names.table(collection);
  const members = names.table(getMembersTable(collection, column));
  const name = quote(column.name);
  const trigger = (event: string): string =>
    `create trigger if not exists ${quote(`${names.plain(getMembersTable(collection, column))}_${event}`)}`;
  const add = `insert or ignore into ${members} (value, id) select value, new.id from json_each(new.${name});`;
  const remove = `delete from ${members} where id = old.id and value in (select value from json_each(old.${name}));`;
  return [
    `create table if not exists ${members} (value text not null, id text not null, primary key (value, id)) without rowid`,
    `${trigger('insert')} after insert on ${table} when new.${name} is not null begin ${add} end`,
    `${trigger('update')} after update of record on ${table} when new.${name} is not old.${name} begin ${remove} ${add} end`,
    `${trigger('delete')} after delete on ${table} when old.${name} is not null begin ${remove} end`,
    `insert or ignore into ${members} (value, id)
       select member.value, kept.id from ${table} as kept, json_each(kept.${name}) as member`,
  ];
}
