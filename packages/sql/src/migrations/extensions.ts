import type { SqlConnection } from '../database.ts';

/** Whether the extension of PostgreSQL is there, or this role may create it. */
export async function isAvailable(connection: SqlConnection, extension: string): Promise<boolean> {
  const [row] = await connection.run({
    sql: `select e.extname is not null as is_there, v.name is not null as may_come
      from (select 1) as one
      left join pg_extension e on e.extname = $1
      left join pg_available_extensions a on a.name = $1
      left join pg_available_extension_versions v on v.name = a.name and v.version = a.default_version
        and (not v.superuser or v.trusted or (select rolsuper from pg_roles where rolname = current_user))
        and has_database_privilege(current_database(), 'create')`,
    parameters: [extension],
  });
  return row?.is_there === true || row?.may_come === true;
}

/** The schema of an extension. Undefined before it is created. */
export async function findSchema(connection: SqlConnection, extension: string): Promise<string | undefined> {
  const [row] = await connection.run({
    sql: 'select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = $1',
    parameters: [extension],
  });
  return row === undefined ? undefined : String(row.schema);
}
