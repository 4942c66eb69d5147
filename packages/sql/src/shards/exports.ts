import {
  type CallOptions,
  type CreditLedger,
  defineCollection,
  type ExportedEntry,
  type StoredRecord,
} from '@questline/core/ports';
import type { ShardNodes } from './nodes.ts';

/** Entries of one database that follow each other in the export of all accounts. The id is the first position. */
export interface ShardExportRecord extends StoredRecord {
  readonly shard: string;
  /** Positions of the export: greater than `start`, up to `end`. */
  readonly start: number;
  readonly end: number;
  /** The position of the database that `start` is. */
  readonly after: number;
}

/** Kept in the home database: the order of the entries of all databases. */
export const SHARD_EXPORTS = defineCollection<ShardExportRecord>({
  name: 'shard_exports',
  columns: { shard: 'text', start: 'integer', end: 'integer', after: 'integer' },
  unique: [['shard', 'after']],
  indexes: [['end'], ['shard', 'end']],
});

/** Entries of one database that get their place in the order at once. */
const BATCH = 1000;
const ID_LENGTH = 16;
const ENTRY_ID_LENGTH = 24;

/**
 * Reads the entries of all databases in one order, which is recorded as readers reach its end: a reader that continues
 * gets every entry once, also those that are added meanwhile. Entries of different databases are not in the order of time.
 * Each database counts its own ids, so the id of an entry is its place in this order.
 */
export function createShardedExport(nodes: ShardNodes): NonNullable<CreditLedger['exportEntries']> {
  const runs = nodes.home.store.collection(SHARD_EXPORTS);
  const findLast = async (shard: string | undefined, options: CallOptions | undefined) => {
    const filter = shard === undefined ? {} : { shard };
    const order = { field: 'end', direction: 'desc' } as const;
    return (await runs.find(filter, { ...options, order, limit: 1 }))[0];
  };

  /** Records the place of further entries. @returns false if there are none. */
  const extend = async (options: CallOptions | undefined): Promise<boolean> => {
    for (const { name, ledger } of nodes.all) {
      const known = await findLast(name, options);
      const after = known === undefined ? 0 : known.after + known.end - known.start;
      const entries = (await ledger.exportEntries?.({ after, limit: BATCH }, options)) ?? [];
      const last = entries.at(-1);
      if (last === undefined) continue;
      const start = (await findLast(undefined, options))?.end ?? 0;
      const id = String(start + 1).padStart(ID_LENGTH, '0');
      // Without effect if another reader was first; its entries are then read.
      await runs.insert({ id, shard: name, start, end: start + last.position - after, after }, options);
      return true;
    }
    return false;
  };

  return async ({ after, limit }, options) => {
    const found: ExportedEntry[] = [];
    for (let at = after, isComplete = false; found.length < limit; ) {
      const order = { field: 'end', direction: 'asc' } as const;
      const [run] = await runs.find({ end: { gt: at } }, { ...options, order, limit: 1 });
      if (run === undefined) {
        if (isComplete) break;
        // Looked up again even then: another reader may have recorded further entries after this look.
        isComplete = !(await extend(options));
        continue;
      }
      const { ledger } = nodes.get(run.shard);
      const place = run.start - run.after;
      const wanted = { after: Math.max(at, run.start) - place, limit: limit - found.length };
      const page = (await ledger.exportEntries?.(wanted, options)) ?? [];
      const within = page.filter(({ position }) => position + place <= run.end);
      found.push(...within.map((entry) => toPlaced(entry, entry.position + place)));
      at = run.end;
    }
    return found;
  };
}

function toPlaced(entry: ExportedEntry, position: number): ExportedEntry {
  return { ...entry, id: position.toString(16).padStart(ENTRY_ID_LENGTH, '0'), position };
}
