import { fingerprint } from './statement.ts';

/** The table names of one handle. All names are built and quoted here, so no input can inject SQL. */
export interface SqlNames {
  readonly prefix: string;
  /** PostgreSQL only. Undefined: the search path of the connection. */
  readonly schema: string | undefined;
  /** Without schema and quotes, as in the engine's catalogue. */
  plain(table: string): string;
  /** Ready for SQL text: quoted, with the schema. */
  table(table: string): string;
  /** Without schema and quotes, short enough for PostgreSQL. */
  index(table: string, fields: readonly string[], kind: IndexKind): string;
}

/** Unique, sorted, or of the members of a list. */
export type IndexKind = 'key' | 'idx' | 'list';

/** PostgreSQL silently truncates longer names. */
const MAX_NAME = 63;

export function createNames({
  prefix = 'questline_',
  schema,
}: {
  prefix?: string;
  schema?: string | undefined;
}): SqlNames {
  if (!/^[a-z_][a-z0-9_]{0,29}$/.test(prefix)) {
    throw new TypeError('prefix: 1 to 30 lower-case letters, digits and underscores, not a digit first');
  }
  if (schema !== undefined && (schema === '' || schema.includes('\0'))) {
    throw new TypeError('schema: a name');
  }
  /** By collection. Their names are in the code, so they are few. */
  const known = new Map<string, string>();
  const quoted = new Map<string, string>();
  const plain = (table: string): string => {
    const name = known.get(table) ?? shorten(prefix + snakeCase(table));
    known.set(table, name);
    return name;
  };
  return {
    prefix,
    schema,
    plain,
    table(table) {
      const name =
        quoted.get(table) ?? (schema === undefined ? '' : `${quote(schema)}.`) + quote(plain(table));
      quoted.set(table, name);
      return name;
    },
    index: (table, fields, kind) =>
      shorten([prefix + snakeCase(table), ...fields.map(snakeCase), kind].join('_')),
  };
}

/** `userId` becomes `user_id`: unquoted names fold to lower case, and operators type them by hand. */
export function snakeCase(name: string): string {
  if (!/^[a-zA-Z][\w-]*$/.test(name)) throw new TypeError(`'${name}' cannot name a table or a column`);
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function shorten(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 17)}_${fingerprint(name)}`;
}
