import type { CreditLedger } from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import { defineStatement, toNumber } from '../statement.ts';
import type { FormerShard } from './directory.ts';
import { MOVE_KEY, toParts } from './history.ts';
import type { ShardNode } from './nodes.ts';
import { CHARGE_KEYS, GRANT_KEYS, HOLD_CAPS } from './owned-rows.ts';
import { copyRows, LONG_CALL } from './transfer-rows.ts';

const REASON = 'moved to another database';
const ENTRY_ID_LENGTH = 24;

/** One database of a move. */
export interface MoveSide {
  readonly node: ShardNode;
  readonly database: SqlDatabase;
}

/** Whether a job of the owner is leased, or a hold of an account is open. */
export async function isBusy(
  { dialect, names, run }: SqlDatabase,
  owner: string,
  accounts: readonly string[],
  now: number,
): Promise<boolean> {
  const isListed =
    dialect === 'sqlite'
      ? 'account in (select value from json_each(@accounts))'
      : 'account in (select jsonb_array_elements_text(cast(@accounts as jsonb)))';
  const count = defineStatement<'owner' | 'accounts' | 'now'>(
    dialect,
    `select (select count(*) from ${names.table('jobs')} where owner = @owner and lease_until > @now)
       + (select count(*) from ${names.table('ledgerHolds')}
          where ${isListed} and counted and expires_at > @now) as busy`,
  );
  const [row] = await run(count({ owner, accounts: JSON.stringify(accounts), now }));
  return toNumber(row?.busy) > 0;
}

/** The credit of an account without open holds. */
export async function readPosted({ dialect, names, run }: SqlDatabase, account: string): Promise<number> {
  const read = defineStatement<'account'>(
    dialect,
    `select posted from ${names.table('ledgerAccounts')} where account = @account`,
  );
  const [row] = await run(read({ account }));
  return toNumber(row?.posted ?? 0);
}

/**
 * Moves the credit and the keys of an account. Its charges and entries stay. Repeated after an interruption, it has the effect of one call.
 * @returns its former shards, with the source.
 */
export async function moveAccount(
  { source, target }: { readonly source: MoveSide; readonly target: MoveSide },
  { account, amount, move }: { readonly account: string; readonly amount: number; readonly move: string },
  former: readonly FormerShard[],
  getNode: (name: string) => ShardNode,
): Promise<readonly FormerShard[]> {
  const grant = (side: MoveSide, change: number, suffix: string) =>
    change === 0
      ? undefined
      : side.node.ledger.grant({
          account,
          amount: change,
          key: `${MOVE_KEY}${move}:${suffix}`,
          reason: REASON,
        });
  await grant(source, -amount, 'out');
  await copyRows(HOLD_CAPS, account, source.database, target.database);
  await dropReleasedKeys(target.database, account);
  await copyRows(CHARGE_KEYS, account, source.database, target.database);
  await dropRepeatedKeys(target.database, account);
  await copyRows(GRANT_KEYS, account, source.database, target.database);
  await grant(target, amount, 'in');
  const part = toParts(source.node, former, getNode).at(-1);
  const end = await readEnd(source.database, source.node.ledger, account);
  if (part === undefined || end === undefined) return former;
  const shard = source.node.name;
  const added = Math.max(0, end.position - part.localStart);
  if (added === 0 && former.some((one) => one.shard === shard)) return former;
  return [
    ...former,
    { shard, position: part.start + added, entry: added === 0 ? part.afterEntry : end.entry },
  ];
}

/**
 * Keys of released holds may be there from a former stay; since then, such a hold may have been settled elsewhere. The source has
 * all keys of the account.
 */
async function dropReleasedKeys({ dialect, names, run }: SqlDatabase, account: string): Promise<void> {
  const drop = defineStatement<'account'>(
    dialect,
    `delete from ${names.table('ledgerArchivedKeys')} where account = @account and released is not null`,
  );
  await run(drop({ account }), LONG_CALL);
}

/** An account that comes back has charges here; what has happened to them elsewhere is in their keys. */
async function dropRepeatedKeys({ dialect, names, run }: SqlDatabase, account: string): Promise<void> {
  const charges = names.table('ledgerCharges');
  const keys = names.table('ledgerArchivedKeys');
  const dropReleased = defineStatement<'account'>(
    dialect,
    `delete from ${charges} where account = @account and settled_at is null and exists (
       select 1 from ${keys} k where k.key = ${charges}.key and k.kind = ${charges}.kind and k.released is null)`,
  );
  const dropKeys = defineStatement<'account'>(
    dialect,
    `delete from ${keys} where account = @account and exists (
       select 1 from ${charges} c where c.key = ${keys}.key and c.kind = ${keys}.kind)`,
  );
  await run(dropReleased({ account }), LONG_CALL);
  await run(dropKeys({ account }), LONG_CALL);
}

/** The last entry of an account, which has its position in exports; undefined: the database has no history of the account. */
async function readEnd(
  { dialect, names, run }: SqlDatabase,
  ledger: CreditLedger,
  account: string,
): Promise<{ readonly position: number; readonly entry: string } | undefined> {
  // Gives all entries their positions.
  await ledger.exportEntries?.({ account, after: Number.MAX_SAFE_INTEGER, limit: 1 });
  const position = dialect === 'sqlite' ? 'sequence' : 'position';
  const hasRows = (table: string): string =>
    `exists (select 1 from ${names.table(table)} where account = @account)`;
  const read = defineStatement<'account'>(
    dialect,
    `select max(${position}) as position, max(sequence) as sequence,
       ${hasRows('ledgerCharges')} or ${hasRows('ledgerArchivedHours')} as has_charges
     from ${names.table('ledgerEntries')} where account = @account`,
  );
  const [row] = await run(read({ account }), LONG_CALL);
  if (row === undefined || (row.sequence === null && !row.has_charges)) return undefined;
  const entry = toNumber(row.sequence ?? 0)
    .toString(16)
    .padStart(ENTRY_ID_LENGTH, '0');
  return { position: toNumber(row.position ?? 0), entry };
}
