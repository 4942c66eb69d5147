import {
  type Clock,
  defineCollection,
  StorageUnavailable,
  type Store,
  type StoredRecord,
} from '@questline/core/ports';

/**
 * `draining`: no job of the owner is leased. `closed`: every access to the owner's data is refused. `copying`: the same; the move
 * ends in the target from here on. `deleting`: the same; the owner is placed in the target.
 */
export type MovePhase = 'draining' | 'closed' | 'copying' | 'deleting';

/** One move of an owner. The id is the owner's, or `MOVES_VERSION`. */
export interface ShardMoveRecord extends StoredRecord {
  /** Counts the beginnings and ends of moves: how a process notices one that it has not seen. */
  readonly version?: number;
  /** Part of the keys in the ledgers. */
  readonly move?: string;
  readonly source?: string;
  readonly target?: string;
  readonly phase?: MovePhase;
  /** The call of `moveOwner` that goes on with the move. */
  readonly mover?: string;
  /** The balances that move, by account. */
  readonly amounts?: Readonly<Record<string, number>>;
}

/** Kept in the home database. */
export const SHARD_MOVES = defineCollection<ShardMoveRecord>({
  name: 'shard_moves',
  columns: { version: 'integer', phase: 'text', mover: 'text' },
  unique: [],
  indexes: [],
});

export const MOVES_VERSION = 'version';

/** How long a process believes what it has read about moves. */
export const MOVES_TTL_MS = 2000;
/** The longest time of one statement or transaction of a shard. */
export const MAX_CALL_MS = 4500;

/** What one process knows about the moves of owners. */
export interface MoveWatch {
  /** Reads the moves again if the last read is too old. Call it before each access to a database. */
  refresh(): Promise<void>;
  /**
   * Allows an older read until the returned function is called: a transaction may hold the only connection of the home
   * database.
   */
  allowOlder(): () => void;
  /** Whether the owner's data may be in two databases now. */
  isClosed(owner: string): boolean;
  /** Whether the data of any owner may be in two databases now. */
  readonly isAnyClosed: boolean;
  /** Whether owners move from or to this database. */
  involves(shard: string): boolean;
  /** Owners whose jobs are not leased. */
  readonly moving: ReadonlySet<string>;
  /** Changes with each beginning and end of a move. */
  readonly version: number;
  now(): number;
  /** @throws StorageUnavailable if the owner's data may be in two databases now. */
  assertOpen(owner: string | undefined): void;
}

export interface MoveWatchOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when moves have begun or ended: what is remembered of places may be wrong. */
  readonly onChange: () => void;
}

export function createMoveWatch({ store, clock, onChange }: MoveWatchOptions): MoveWatch {
  const records = store.collection(SHARD_MOVES);
  let moving = new Map<string, ShardMoveRecord>();
  let involved = new Set<string>();
  let version = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let transactions = 0;

  const read = async (): Promise<void> => {
    const startedAt = clock.now();
    const found = await records.find({});
    moving = new Map(found.flatMap((move) => (move.phase === undefined ? [] : [[move.id, move] as const])));
    involved = new Set([...moving.values()].flatMap(({ source = '', target = '' }) => [source, target]));
    const current = found.find(({ id }) => id === MOVES_VERSION)?.version ?? 0;
    readAt = startedAt;
    if (current === version) return;
    version = current;
    onChange();
  };
  const isClosed = (owner: string): boolean => {
    const phase = moving.get(owner)?.phase;
    return phase !== undefined && phase !== 'draining';
  };

  return {
    async refresh() {
      const age = clock.now() - readAt;
      if (age >= 0 && age < MOVES_TTL_MS + (transactions > 0 ? MAX_CALL_MS : 0)) return;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
    allowOlder() {
      transactions += 1;
      return () => {
        transactions -= 1;
      };
    },
    isClosed,
    get isAnyClosed() {
      return [...moving.keys()].some(isClosed);
    },
    involves: (shard) => involved.has(shard),
    get moving() {
      return new Set(moving.keys());
    },
    get version() {
      return version;
    },
    now: () => clock.now(),
    assertOpen(owner) {
      if (owner === undefined || !isClosed(owner)) return;
      throw new StorageUnavailable(`the owner ${owner} moves to another database`);
    },
  };
}

/**
 * Reads the moves before a call that may use remembered places. A process that was paused during the call may have used the
 * former database of an owner: it does not confirm the call.
 */
export async function watchCall<T>(watch: MoveWatch, call: () => Promise<T>): Promise<T> {
  await watch.refresh();
  return endInTime(watch, call);
}

/** The same for a part of a call, after the moves were read. */
export async function endInTime<T>(watch: MoveWatch, call: () => Promise<T>): Promise<T> {
  const { version } = watch;
  const startedAt = watch.now();
  const value = await call();
  if (watch.now() - startedAt <= MAX_CALL_MS) return value;
  await watch.refresh();
  if (watch.version === version && !watch.isAnyClosed) return value;
  throw new StorageUnavailable('an owner has moved during the call');
}
