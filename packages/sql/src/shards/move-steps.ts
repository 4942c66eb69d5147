import {
  type Clock,
  type CollectionDefinition,
  type Store,
  type StoredRecord,
  writeAll,
} from '@questline/core/ports';
import { type MoveSide, moveAccount } from './account-move.ts';
import { findCapPrefixes, moveCaps } from './cap-move.ts';
import { type FormerShard, SHARD_PLACEMENTS } from './directory.ts';
import { MAX_CALL_MS, MOVES_VERSION, SHARD_MOVES, type ShardMoveRecord } from './moves.ts';
import type { ShardNodes } from './nodes.ts';
import { deleteOwnedRecords, findOwnedRecords, insertMissing } from './owned-records.ts';
import { OWNED_JOBS, OWNED_WINDOWS, QUEST_EVENTS } from './owned-rows.ts';
import type { Placement } from './placement.ts';
import { copyRows, deleteRows } from './transfer-rows.ts';

/** What one move works with. */
export interface MoveContext {
  readonly owner: string;
  /** The call of `moveOwner`. */
  readonly mover: string;
  readonly home: Store;
  readonly nodes: ShardNodes;
  readonly source: MoveSide;
  readonly target: MoveSide;
  readonly collections: readonly CollectionDefinition<StoredRecord>[];
  readonly placements: Readonly<Record<string, Placement>> | undefined;
  /** The accounts that move; none if they are in the home database. */
  readonly accounts: readonly string[];
  readonly clock: Clock;
  /** @throws Error if another process has taken the move over. */
  assertOwn(): Promise<void>;
}

/** What a move has copied. */
export interface MovedCounts {
  readonly records: number;
  readonly jobs: number;
}

/** Streams whose events are copied in one step. */
const STREAMS = 200;

export function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
}

export function takenOver(owner: string): Error {
  return new Error(`the move of ${owner} was taken over by another process`);
}

/** Copies everything of the owner to the target, whatever of it is there already. */
export async function copyOwner(context: MoveContext, { move = '' }: ShardMoveRecord): Promise<MovedCounts> {
  const { owner, source, target, home, collections } = context;
  let records = 0;
  for await (const page of findRecords(context)) {
    await context.assertOwn();
    await insertMissing(target.node.store, page);
    if (page.definition.name === 'quests') await moveEvents(context, page.records, copyRows);
    records += page.records.length;
  }
  await context.assertOwn();
  await copyRows(OWNED_WINDOWS, owner, source.database, target.database);
  await context.assertOwn();
  const jobs = await copyRows(OWNED_JOBS, owner, source.database, target.database);
  if (context.accounts.length > 0) {
    await context.assertOwn();
    const prefixes = await findCapPrefixes(home, collections, owner);
    await moveCaps(prefixes, { owner, move }, source.database, target.database);
  }
  return { records, jobs };
}

/** Moves the credit, then places the owner in the target, in one step with the phase of the move. */
export async function placeOwner(
  { owner, mover, home, nodes, source, target, accounts, assertOwn }: MoveContext,
  { move = '', amounts = {} }: ShardMoveRecord,
): Promise<void> {
  const placements = home.collection(SHARD_PLACEMENTS);
  const { former = {} } = (await placements.get(owner)) ?? {};
  const added: Record<string, readonly FormerShard[]> = { ...former };
  for (const account of accounts) {
    await assertOwn();
    const moved = { account, amount: amounts[account] ?? 0, move };
    const parts = await moveAccount({ source, target }, moved, former[account] ?? [], nodes.get);
    if (parts.length > 0) added[account] = parts;
  }
  const patch = { shard: target.node.name, former: added };
  const isPlaced = await writeAll(home, [
    { do: 'update', collection: toAny(SHARD_PLACEMENTS), id: owner, patch, guard: undefined },
    {
      do: 'update',
      collection: toAny(SHARD_MOVES),
      id: owner,
      patch: { phase: 'deleting' },
      guard: { phase: 'copying', mover },
    },
  ]);
  if (!isPlaced) throw takenOver(owner);
}

/** Deletes the records and rows of the source, after every call that may have read the target before the copy. */
export async function deleteCopied(context: MoveContext): Promise<void> {
  const { owner, source, clock } = context;
  await wait(clock, MAX_CALL_MS);
  const streams = async function* () {
    for await (const page of findRecords(context)) {
      if (page.definition.name === 'quests') {
        await context.assertOwn();
        await moveEvents(context, page.records, deleteEvents);
      }
      yield page;
    }
  };
  await deleteOwnedRecords(source.node.store, streams(), context.assertOwn);
  await context.assertOwn();
  await deleteRows(OWNED_WINDOWS, owner, source.database);
  await context.assertOwn();
  await deleteRows(OWNED_JOBS, owner, source.database);
}

/** Ends a move: its owner is served again. @throws Error if another process has taken the move over. */
export async function removeMove({ owner, mover, home }: MoveContext): Promise<void> {
  const isRemoved = await writeAll(home, [
    { do: 'remove', collection: toAny(SHARD_MOVES), id: owner, guard: { mover } },
    { do: 'count', collection: toAny(SHARD_MOVES), id: MOVES_VERSION, deltas: { version: 1 } },
  ]);
  if (!isRemoved) throw takenOver(owner);
}

/** Begins a move. @returns false if there is one of this owner, or the owner is not in the source any more. */
export function insertMove(
  home: Store,
  record: ShardMoveRecord & { readonly source: string },
): Promise<boolean> {
  const { id, source: shard } = record;
  return writeAll(home, [
    { do: 'insert', collection: toAny(SHARD_MOVES), id, record },
    { do: 'update', collection: toAny(SHARD_PLACEMENTS), id, patch: { shard }, guard: { shard } },
    { do: 'count', collection: toAny(SHARD_MOVES), id: MOVES_VERSION, deltas: { version: 1 } },
  ]);
}

function findRecords({ source, owner, collections, placements }: MoveContext) {
  return findOwnedRecords(source.node.store, owner, collections, placements);
}

async function moveEvents(
  { source, target }: MoveContext,
  quests: readonly StoredRecord[],
  perform: typeof copyRows,
): Promise<void> {
  for (let at = 0; at < quests.length; at += STREAMS) {
    const scope = JSON.stringify(quests.slice(at, at + STREAMS).map(({ id }) => id));
    await perform(QUEST_EVENTS, scope, source.database, target.database);
  }
}

const deleteEvents: typeof copyRows = async (rows, scope, source) => {
  await deleteRows(rows, scope, source);
  return 0;
};

function toAny<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
): CollectionDefinition<StoredRecord> {
  return definition as unknown as CollectionDefinition<StoredRecord>;
}
