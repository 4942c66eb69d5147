import type { Charge, CreditLedger, ExportedEntry, LedgerEntry } from '@questline/core/ports';
import type { FormerShard } from './directory.ts';
import type { ShardNode } from './nodes.ts';

/** Keys of the two grants that move a balance. They are not part of the history of an account. */
export const MOVE_KEY = 'shards:move:';

/** A part of the history of an account: entries of one database that follow each other. */
export interface HistoryPart {
  readonly node: ShardNode;
  /** Exports have positions above `start`, up to `end`. */
  readonly start: number;
  readonly end: number;
  /** The position in the database that `start` is. */
  readonly localStart: number;
  /** Ids of entries in the database: above `afterEntry`, up to `lastEntry`. */
  readonly afterEntry: string;
  readonly lastEntry: string | undefined;
}

const NO_ENTRY = '0'.repeat(24);
/** An entry's id is the number of its part, and the end of its id in the database. */
const PART_DIGITS = 10;

/** The parts of a history, oldest first. */
export function toParts(
  current: ShardNode,
  former: readonly FormerShard[],
  getNode: (name: string) => ShardNode,
): readonly HistoryPart[] {
  const ends = new Map<string, { readonly local: number; readonly entry: string }>();
  const parts: HistoryPart[] = [];
  let start = 0;
  for (const { shard, position, entry } of [...former, undefined].map(
    (one) => one ?? { shard: current.name, position: Number.POSITIVE_INFINITY, entry: undefined },
  )) {
    const { local: localStart, entry: afterEntry } = ends.get(shard) ?? { local: 0, entry: NO_ENTRY };
    const node = shard === current.name ? current : getNode(shard);
    parts.push({ node, start, end: position, localStart, afterEntry, lastEntry: entry });
    ends.set(shard, { local: localStart + position - start, entry: entry ?? NO_ENTRY });
    start = position;
  }
  return parts;
}

/** The databases of a history, each once. */
export function getHistoryNodes(parts: readonly HistoryPart[]): readonly ShardNode[] {
  return [...new Set(parts.map(({ node }) => node))];
}

/** The entries of an account, newest first, over all parts. */
export async function readEntries(
  parts: readonly HistoryPart[],
  account: string,
  { limit, before }: { readonly limit: number; readonly before?: string },
  options: Parameters<CreditLedger['entries']>[2],
): Promise<readonly LedgerEntry[]> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) {
    return only.node.ledger.entries(account, { limit, ...(before !== undefined && { before }) }, options);
  }
  const found: LedgerEntry[] = [];
  const first = before === undefined ? parts.length - 1 : getPartNumber(before, parts.length);
  for (let at = first; at >= 0 && found.length < limit; at -= 1) {
    const part = parts[at];
    if (part === undefined) break;
    let cursor =
      before !== undefined && at === first ? toLocalId(before) : part.lastEntry && toNextId(part.lastEntry);
    for (;;) {
      const wanted = limit - found.length;
      const page = await part.node.ledger.entries(
        account,
        { limit: wanted, ...(cursor !== undefined && { before: cursor }) },
        options,
      );
      const own = page.filter(({ id }) => id > part.afterEntry);
      const shown = own.filter(({ key }) => !key.startsWith(MOVE_KEY));
      found.push(...shown.map((entry) => ({ ...entry, id: toEntryId(at, entry.id) })));
      cursor = page.at(-1)?.id;
      if (page.length < wanted || own.length < page.length || found.length >= limit) break;
    }
  }
  return found;
}

/** The entries of an account in the order of their positions, over all parts. */
export async function exportParts(
  parts: readonly HistoryPart[],
  { account, after, limit }: { readonly account: string; readonly after: number; readonly limit: number },
  options: Parameters<NonNullable<CreditLedger['exportEntries']>>[1],
): Promise<readonly ExportedEntry[]> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) {
    return (await only.node.ledger.exportEntries?.({ account, after, limit }, options)) ?? [];
  }
  const found: ExportedEntry[] = [];
  for (const [at, { node, start, end, localStart }] of parts.entries()) {
    const shift = start - localStart;
    for (let position = Math.max(after, start); position < end && found.length < limit; ) {
      const wanted = limit - found.length;
      const local = { account, after: position - shift, limit: wanted };
      const page = (await node.ledger.exportEntries?.(local, options)) ?? [];
      const own = page.filter((entry) => entry.position + shift <= end);
      const shown = own.filter(({ key }) => !key.startsWith(MOVE_KEY));
      found.push(
        ...shown.map((entry) => ({
          ...entry,
          id: toEntryId(at, entry.id),
          position: entry.position + shift,
        })),
      );
      if (own.length < wanted) break;
      position = (own.at(-1)?.position ?? end) + shift;
    }
  }
  return found;
}

/** One charge may be in two databases: released in a former one, and settled late in a later one. */
export function joinCharges(charges: readonly Charge[]): Charge[] {
  const joined = new Map<string, Charge>();
  for (const charge of charges) {
    if (joined.get(charge.id)?.status !== 'settled') joined.set(charge.id, charge);
  }
  return [...joined.values()];
}

/** The first part keeps the ids of its database. */
function toEntryId(part: number, local: string): string {
  return part.toString(16).padStart(PART_DIGITS, '0') + local.slice(PART_DIGITS);
}

function toLocalId(id: string): string {
  return '0'.repeat(PART_DIGITS) + id.slice(PART_DIGITS);
}

/** Before all entries for an invalid id. */
function getPartNumber(id: string, parts: number): number {
  return /^[0-9a-f]{24}$/.test(id) ? Math.min(Number.parseInt(id.slice(0, PART_DIGITS), 16), parts - 1) : 0;
}

function toNextId(id: string): string {
  return (BigInt(`0x${id}`) + 1n).toString(16).padStart(id.length, '0');
}
