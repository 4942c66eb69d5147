import type { CollectionDefinition, Store, StoredRecord } from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import { defineStatement, toNumber } from '../statement.ts';
import { findPages } from './owned-records.ts';

type AnyDefinition = CollectionDefinition<StoredRecord>;
type AnyFilter = Readonly<Record<string, string | { readonly in: readonly string[] }>>;

/** Keys whose budgets are found in one call. */
const KEYS = 200;

/** The beginnings of the ids of caps that count the calls of this owner. */
export async function findCapPrefixes(
  store: Store,
  collections: readonly AnyDefinition[],
  owner: string,
): Promise<readonly string[]> {
  const find = async (name: string, filter: AnyFilter): Promise<readonly StoredRecord[]> => {
    const definition = collections.find((one) => one.name === name);
    const found: StoredRecord[] = [];
    if (definition === undefined) return found;
    for await (const page of findPages(store, definition, filter as object)) found.push(...page);
    return found;
  };
  const keys = await find('api_keys', { userId: owner });
  const shared = await find('api_keys', { organizationId: owner });
  // A key of an organization pays with the organization's account.
  const isOwn = (key: StoredRecord): boolean => !('organizationId' in key) || key.organizationId === null;
  const foreign = new Set(keys.filter((key) => !isOwn(key)).map(toSubject));
  const budgets = (await find('budgets', { userId: owner })).filter(
    (budget) => !('subject' in budget && typeof budget.subject === 'string' && foreign.has(budget.subject)),
  );
  const subjects = [`organization:${owner}`, ...shared.map(toSubject)];
  for (let at = 0; at < subjects.length; at += KEYS) {
    budgets.push(...(await find('budgets', { subject: { in: subjects.slice(at, at + KEYS) } })));
  }
  return [
    `user:${owner}:`,
    ...[...keys.filter(isOwn), ...shared].map((key) => `${toSubject(key)}:`),
    ...budgets.map(({ id }) => `budget:${id}:`),
  ];
}

function toSubject({ id }: StoredRecord): string {
  return `key:${id}`;
}

/** Moves what caps have counted. Each amount is added and subtracted once, however often this is repeated. */
export async function moveCaps(
  prefixes: readonly string[],
  { owner, move }: { readonly owner: string; readonly move: string },
  source: SqlDatabase,
  target: SqlDatabase,
): Promise<void> {
  const { dialect, names, run } = source;
  const list = defineStatement<'start' | 'end'>(
    dialect,
    `select id, charged from ${names.table('ledgerCaps')} where id >= @start and id < @end order by id`,
  );
  for (const start of prefixes) {
    for (const { id, charged } of await run(list({ start, end: `${start.slice(0, -1)};` }))) {
      const key = `${move} ${String(id)}`;
      const amount = await changeOnce(target, {
        owner,
        key: `${key} in`,
        id: String(id),
        amount: toNumber(charged),
        sign: 1,
      });
      await changeOnce(source, { owner, key: `${key} out`, id: String(id), amount, sign: -1 });
    }
  }
}

interface CapChange {
  readonly owner: string;
  readonly key: string;
  readonly id: string;
  readonly amount: number;
  readonly sign: 1 | -1;
}

/** @returns the amount of the first call with this key. */
async function changeOnce(
  { dialect, names, transaction }: SqlDatabase,
  { owner, key, id, amount, sign }: CapChange,
): Promise<number> {
  const moves = names.table('ledgerMoves');
  const caps = names.table('ledgerCaps');
  const note = defineStatement<'owner' | 'key' | 'amount'>(
    dialect,
    `insert into ${moves} (account, key, amount) values (@owner, @key, @amount) on conflict do nothing returning 1 as done`,
  );
  const read = defineStatement<'owner' | 'key'>(
    dialect,
    `select amount from ${moves} where account = @owner and key = @key`,
  );
  const add = defineStatement<'id' | 'amount'>(
    dialect,
    `insert into ${caps} as kept (id, charged, held) values (@id, @amount, 0)
     on conflict (id) do update set charged = kept.charged + excluded.charged`,
  );
  const subtract = defineStatement<'id' | 'amount'>(
    dialect,
    `update ${caps} set charged = charged - @amount where id = @id`,
  );
  return transaction(async (connection) => {
    if ((await connection.run(note({ owner, key, amount }))).length === 0) {
      const [known] = await connection.run(read({ owner, key }));
      return toNumber(known?.amount);
    }
    await connection.run((sign === 1 ? add : subtract)({ id, amount }));
    return amount;
  });
}
