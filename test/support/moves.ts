import { setImmediate as nextTurn } from 'node:timers/promises';
import { COLLECTIONS } from '@questline/core';
import type { ExportedEntry, StoredRecord } from '@questline/core/ports';
import {
  createShardDirectory,
  createSqlPorts,
  type MoveOutcome,
  type MoveOwnerOptions,
  moveOwner,
  SHARD_COLLECTIONS,
  type ShardPorts,
  type SqlDatabase,
  shard,
} from '@questline/sql';
import { type Engine, SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { shareDatabase } from '../../packages/sql/test/shared.ts';
import { type ChatApp, createChatApp } from './chat.ts';
import type { TestAppOptions } from './test-app.ts';

export const MOVE_COLLECTIONS = [...COLLECTIONS, ...SHARD_COLLECTIONS];

export type ShardName = 'a' | 'b' | 'c';

/** A service on a home database and shards, whose owners move. */
export interface MovingApp extends ChatApp {
  readonly databases: Readonly<Record<'home' | ShardName, SqlDatabase>>;
  /** Ports of one database alone. */
  readonly single: Readonly<Record<'home' | ShardName, ShardPorts>>;
  /** Another process on the same databases, which remembers places of its own. */
  openPeer(wrap?: (database: SqlDatabase) => SqlDatabase): ShardPorts;
  /** @param more `each` is called while the move waits. */
  move(
    to: string,
    more?: Partial<MoveOwnerOptions> & { readonly each?: () => Promise<void> },
  ): Promise<MoveOutcome>;
  /** Advances the time until the work has ended, as fast as the databases answer. */
  waitFor<T>(work: Promise<T>, each?: () => Promise<void>): Promise<T>;
}

export interface MovingAppOptions {
  readonly databases: MovingApp['databases'];
  /** The shard of each new owner, in the order of their first writes. Default: the first on `a`, others on `b`. */
  readonly choose?: (place: number) => ShardName;
  /** Calls of the databases that are not answered yet. Default: databases answer at once. */
  readonly getRunning?: () => number;
  readonly started?: boolean;
  readonly settings?: TestAppOptions['settings'];
}

export async function createMovingApp(options: MovingAppOptions): Promise<MovingApp> {
  const { databases, choose = (place) => (place === 0 ? 'a' : 'b'), getRunning = () => 0 } = options;
  let placed = 0;
  let open: MovingApp['openPeer'] = () => {
    throw new Error('not open');
  };
  const app = await createChatApp({
    started: options.started ?? false,
    ...(options.settings !== undefined && { settings: options.settings }),
    ports(given) {
      open = (wrap = (database) => database) => {
        const { home, ...shards } = openAll(databases, given, wrap);
        const directory = createShardDirectory({
          store: home.store,
          shards: Object.keys(shards),
          choose: () => choose(placed++),
        });
        return shard({ home, shards, directory, clock: given.clock });
      };
      return { ...open(), vectors: createSqlPorts(databases.home, given).vectors };
    },
  });
  const { clock, services } = app;
  const { home, ...shards } = databases;
  const waitFor: MovingApp['waitFor'] = async (work, each) => {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    void work.then(end, end);
    while (!isOver) {
      await nextTurn();
      if (getRunning() > 0 || isOver) continue;
      await each?.();
      await clock.advance(500);
    }
    return work;
  };
  return {
    ...app,
    databases,
    single: openAll(databases, { clock, ids: services.ids }),
    openPeer: (wrap) => open(wrap),
    waitFor,
    async move(to, { each, ...more } = {}) {
      const options = { home, shards, to, clock, ids: services.ids, collections: COLLECTIONS };
      const outcome = await waitFor(moveOwner({ ...options, owner: app.user.id, ...more }), each);
      // A process may believe for so long that the owner still moves.
      await clock.advance(2000);
      return outcome;
    },
  };
}

/** A home database and three shards for all tests of a `describe`. @returns a function that empties them and creates an app. */
export function shareMoves(
  engines: readonly [home: Engine, a: Engine, b: Engine, c: Engine] = [
    ...([SQLITE_MEMORY, SQLITE_MEMORY, SQLITE_MEMORY, SQLITE_MEMORY] as const),
  ],
): (more?: Omit<MovingAppOptions, 'databases'>) => Promise<MovingApp> {
  const shared = engines.map((engine) => shareDatabase(engine, MOVE_COLLECTIONS));
  return async (more) => {
    const [home, a, b, c] = await Promise.all(shared.map((one) => one.fresh()));
    if (!home || !a || !b || !c) throw new Error('four databases');
    return createMovingApp({ databases: { home, a, b, c }, ...more });
  };
}

function openAll(
  databases: MovingApp['databases'],
  given: Pick<ChatApp['services'], 'clock' | 'ids'>,
  wrap: (database: SqlDatabase) => SqlDatabase = (database) => database,
): Record<keyof MovingApp['databases'], ReturnType<typeof createSqlPorts>> {
  const open = (name: keyof MovingApp['databases']) =>
    createSqlPorts(wrap(databases[name]), { ...given, claimEveryMs: 0 });
  return { home: open('home'), a: open('a'), b: open('b'), c: open('c') };
}

/** All records of a database, by collection and id, and the rows of other tables that belong to owners. */
export async function readContent(
  database: SqlDatabase,
  { store }: ShardPorts,
): Promise<ReadonlyMap<string, unknown>> {
  const content = new Map<string, unknown>();
  for (const definition of COLLECTIONS) {
    const collection = store.collection<StoredRecord>(definition as never);
    for (const record of await collection.find({})) content.set(`${definition.name} ${record.id}`, record);
  }
  const { names, run } = database;
  for (const [table, columns] of [
    ['jobs', ['id', 'key', 'kind', 'owner', 'payload', 'run_at', 'attempt', 'fence', 'ready', 'due_at']],
    ['rateWindows', ['key', 'windows', 'allowed', 'ends_at']],
    ['eventBatches', ['stream', 'first', 'last', 'attempt', 'events', 'expires_at']],
  ] as const) {
    const sql = `select ${columns.join(', ')} from ${names.table(table)}`;
    for (const row of await run({ sql, parameters: [] })) {
      content.set(
        `${table} ${columns
          .slice(0, 2)
          .map((column) => String(row[column]))
          .join(' ')}`,
        { ...row },
      );
    }
  }
  return content;
}

/** The content that is in the database of its owner; other records are at home. */
export async function findOwned(
  { databases, single }: MovingApp,
  name: ShardName,
): Promise<ReadonlyMap<string, unknown>> {
  const content = [...(await readContent(databases[name], single[name]))];
  return new Map(
    content.filter(([key]) => !/^(?:rateWindows (?:key|ip|address)|audit_log|idempotency)/.test(key)),
  );
}

/** What users see of an account. */
export async function readAccount({ ledger }: ShardPorts, account: string) {
  const hidden = ({ id: _, ...entry }: { readonly id: string }) => entry;
  return {
    balance: await ledger.balance(account),
    entries: (await ledger.entries(account, { limit: 1000 })).map(hidden),
    charges: await ledger.charges({ account }, 1000),
    spent: await ledger.spent({ account }, 0),
    sums: await ledger.sumCharges?.({
      ...{ filter: { account }, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100 },
      groupBy: ['operation'],
    }),
  };
}

/** Reads an export page by page from a position to its end. */
export async function readExport(
  { ledger }: ShardPorts,
  after: number,
  account?: string,
): Promise<readonly ExportedEntry[]> {
  const found: ExportedEntry[] = [];
  for (let position = after; ; ) {
    const page =
      (await ledger.exportEntries?.({
        ...{ after: position, limit: 3 },
        ...(account !== undefined && { account }),
      })) ?? [];
    found.push(...page);
    if (page.length < 3) return found;
    position = page.at(-1)?.position ?? position;
  }
}
