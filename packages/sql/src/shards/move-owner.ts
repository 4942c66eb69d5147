import type {
  Clock,
  CollectionDefinition,
  CollectionShape,
  Ids,
  Store,
  StoredRecord,
} from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import { createSqlPorts } from '../ports.ts';
import { isBusy, readPosted } from './account-move.ts';
import { SHARD_PLACEMENTS } from './directory.ts';
import {
  copyOwner,
  deleteCopied,
  insertMove,
  type MoveContext,
  type MovedCounts,
  placeOwner,
  removeMove,
  takenOver,
  wait,
} from './move-steps.ts';
import { MAX_CALL_MS, MOVES_TTL_MS, SHARD_MOVES, type ShardMoveRecord } from './moves.ts';
import { createShardNodes } from './nodes.ts';
import type { Placement } from './placement.ts';

export interface MoveOwnerOptions {
  /** The home database. It may be one of the shards. */
  readonly home: SqlDatabase;
  /** The databases of owners, under the names that `shard` has. */
  readonly shards: Readonly<Record<string, SqlDatabase>>;
  /** The id of a user or an organization. */
  readonly owner: string;
  /** The name of the shard to which the owner moves. */
  readonly to: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** All collections: core's `COLLECTIONS`, and those of the host. */
  readonly collections: readonly CollectionShape[];
  /** The same as for `shard`. */
  readonly placements?: Readonly<Record<string, Placement>>;
  /** The same as for `shard`. */
  readonly accounts?: 'owner' | 'home';
  /** Milliseconds to wait for the end of the owner's running work. Default 60,000. */
  readonly drainMs?: number;
  /** Called at the begin of each phase. */
  readonly onPhase?: (phase: NonNullable<ShardMoveRecord['phase']>) => void;
}

/**
 * `moved`: everything of the owner is in the target. `there`: it was there before. `busy`: nothing has moved, because work of the
 * owner did not end in time. `unknown`: the owner has no records yet.
 */
export type MoveOutcome =
  | ({ readonly outcome: 'moved' } & MovedCounts)
  | { readonly outcome: 'there' | 'busy' | 'unknown' };

/**
 * A process may believe an older read while a transaction is open, then makes a call, and a transaction has calls: after this
 * time no call of a process goes on that has not read a phase.
 */
const BARRIER_MS = MOVES_TTL_MS + 2 * MAX_CALL_MS + 1000;
const POLL_MS = 1000;

/**
 * Moves a user or an organization to another database while the service runs. Call it again after an interruption: it goes on
 * where it ended; until then the owner is refused.
 * @throws TypeError for an unknown shard; Error if the owner moves to another shard already.
 */
export async function moveOwner(options: MoveOwnerOptions): Promise<MoveOutcome> {
  const { clock, ids, owner, to, onPhase } = options;
  if (!Object.hasOwn(options.shards, to)) throw new TypeError(`the shard ${to} is not configured`);
  const ports = new Map(
    [options.home, ...Object.values(options.shards)].map((one) => [one, createSqlPorts(one, { clock, ids })]),
  );
  const open = (database: SqlDatabase) => ports.get(database) ?? createSqlPorts(database, { clock, ids });
  const opened = Object.entries(options.shards).map(([name, database]) => [name, open(database)] as const);
  const nodes = createShardNodes(open(options.home), Object.fromEntries(opened));
  const home = nodes.home.store;
  const moves = home.collection(SHARD_MOVES);
  const mover = ids.next();
  const begun = await beginMove(home, { id: owner, move: ids.next(), target: to, mover });
  if (typeof begun === 'string') return { outcome: begun };

  const side = (name: string) => {
    const database = name === nodes.home.name ? options.home : options.shards[name];
    if (database === undefined) throw new TypeError(`the shard ${name} is not configured`);
    return { node: nodes.get(name), database };
  };
  const accounts = options.accounts === 'home' ? [] : [`user:${owner}`, `organization:${owner}`];
  const context: MoveContext = {
    ...{ owner, mover, home, nodes, accounts, clock, placements: options.placements },
    source: side(begun.source),
    target: side(to),
    collections: options.collections as readonly CollectionDefinition<StoredRecord>[],
    async assertOwn() {
      if ((await moves.get(owner))?.mover !== mover) throw takenOver(owner);
    },
  };
  const enter = async (phase: NonNullable<ShardMoveRecord['phase']>, more: Partial<ShardMoveRecord> = {}) => {
    const next = await moves.update(owner, { ...more, phase }, { mover });
    if (next === undefined) throw takenOver(owner);
    onPhase?.(phase);
    return next;
  };

  let move: ShardMoveRecord = begun;
  if (move.phase === 'draining' || move.phase === 'closed') {
    if (!(await close(context, options.drainMs ?? 60_000, enter))) return { outcome: 'busy' };
    const amounts: Record<string, number> = {};
    for (const account of accounts) amounts[account] = await readPosted(context.source.database, account);
    move = await enter('copying', { amounts });
  }
  let counts: MovedCounts = { records: 0, jobs: 0 };
  if (move.phase === 'copying') {
    counts = await copyOwner(context, move);
    await placeOwner(context, move);
    onPhase?.('deleting');
  }
  await deleteCopied(context);
  await removeMove(context);
  return { outcome: 'moved', ...counts };
}

/** Begins a move of the owner, or takes over the one that was begun. @returns the outcome if there is nothing to move. */
async function beginMove(
  home: Store,
  wanted: { readonly id: string; readonly move: string; readonly target: string; readonly mover: string },
): Promise<(ShardMoveRecord & { readonly source: string }) | 'unknown' | 'there'> {
  const { id: owner, target, mover } = wanted;
  const moves = home.collection(SHARD_MOVES);
  // Another process may begin or end a move between two of these calls.
  for (;;) {
    const known = await moves.get(owner);
    if (known === undefined) {
      const placement = await home.collection(SHARD_PLACEMENTS).get(owner);
      if (placement === undefined) return 'unknown';
      if (placement.shard === target) return 'there';
      const record = { ...wanted, source: placement.shard, phase: 'draining' } as const;
      if (await insertMove(home, record)) return record;
      continue;
    }
    const { source } = known;
    if (source === undefined || known.target !== target) {
      throw new Error(`the owner ${owner} moves to the shard ${known.target} already`);
    }
    const taken = await moves.update(owner, { mover }, { mover: known.mover ?? null });
    if (taken !== undefined) return { ...taken, source };
  }
}

/** Waits until no process works for the owner. @returns false if that takes too long; then the move has ended. */
async function close(
  context: MoveContext,
  drainMs: number,
  enter: (phase: 'draining' | 'closed') => Promise<ShardMoveRecord>,
): Promise<boolean> {
  const { owner, accounts, source, clock } = context;
  const isAtWork = () => isBusy(source.database, owner, accounts, clock.now());
  for (let end = clock.now() + BARRIER_MS + drainMs; ; ) {
    await enter('draining');
    await wait(clock, BARRIER_MS);
    while ((await isAtWork()) && clock.now() < end) await wait(clock, POLL_MS);
    if (!(await isAtWork())) {
      await enter('closed');
      await wait(clock, BARRIER_MS);
      // Requests may have begun work meanwhile, which cannot end while the owner is refused.
      if (!(await isAtWork())) return true;
    }
    if (clock.now() < end) continue;
    await removeMove(context);
    return false;
  }
}
