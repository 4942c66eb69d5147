import { type AnyRecord, matches } from './filter.ts';
import { compareRecords, isAfter, type Query, type Records, type Table } from './table.ts';

/** Buffers writes until commit, on top of committed data. */
export interface Transaction {
  /** Returns a table as the transaction sees it. */
  records(table: Table): Records;
  /**
   * Commits atomically, unless something that was read has changed. @returns false on such a conflict; then nothing
   * was written, and the result of the work is invalid.
   */
  end(outcome: { readonly isCommitted: boolean }): boolean;
}

const NO_IDS: readonly string[] = [];

/** Above this number of records, a map finds them. */
const MAX_SEARCHED = 8;

/** A record as a transaction knows it. */
interface Entry {
  readonly id: string;
  /** The committed record at the first read of its id. */
  readonly seen: AnyRecord | undefined;
  isWritten: boolean;
  /** The written record; undefined means removed. */
  written: AnyRecord | undefined;
}

export function createTransaction(): Transaction {
  return new MemoryTransaction();
}

/** Classes with few maps, because most transactions write one or two records. */
class MemoryTransaction implements Transaction {
  readonly #views: TableView[] = [];
  #isOver = false;

  records(table: Table): Records {
    this.assertOpen();
    for (const view of this.#views) if (view.table === table) return view;
    const view = new TableView(table, this);
    this.#views.push(view);
    return view;
  }

  end({ isCommitted }: { readonly isCommitted: boolean }): boolean {
    this.#isOver = true;
    for (const view of this.#views) if (!view.isUntouched()) return false;
    if (isCommitted) for (const view of this.#views) view.commit();
    return true;
  }

  assertOpen(): void {
    if (this.#isOver) throw new Error('the transaction is over');
  }
}

/** Each verb of a collection begins with `get`, `select` or `count`, which check that the transaction is open. */
class TableView implements Records {
  readonly table: Table;
  readonly #transaction: MemoryTransaction;
  readonly #entries: Entry[] = [];
  #byId: Map<string, Entry> | undefined;
  /** Repeats a query and returns whether its result is unchanged. */
  #rereads: (() => boolean)[] | undefined;

  constructor(table: Table, transaction: MemoryTransaction) {
    this.table = table;
    this.#transaction = transaction;
  }

  get(id: string): AnyRecord | undefined {
    this.#transaction.assertOpen();
    const entry = this.#look(id);
    return entry.isWritten ? entry.written : entry.seen;
  }

  write(id: string, record: AnyRecord | undefined): void {
    const entry = this.#look(id);
    entry.isWritten = true;
    entry.written = record;
  }

  conflicts(record: AnyRecord): readonly string[] {
    const { table } = this;
    if (!table.isConstrained) return NO_IDS;
    const changes = this.#getChanges();
    const committed = this.#readAgain(() => table.conflicts(record)).filter((id) => !changes.has(id));
    const written = [...changes.values()].filter(
      (other) => other !== undefined && other.id !== record.id && table.agree(record, other),
    );
    return [...committed, ...written.flatMap((other) => other?.id ?? [])];
  }

  select(query: Query): AnyRecord[] {
    this.#transaction.assertOpen();
    const except = this.#getChanges();
    const { filter, order, after, skip, take } = query;
    const wide: Query = { ...query, skip: 0, take: skip + take };
    const committed = this.#readAgain(() => this.table.select(wide, except));
    const written = [...except.values()].filter(
      (record): record is AnyRecord =>
        record !== undefined &&
        matches(record, filter) &&
        (after === undefined || isAfter(record, after, order)),
    );
    return [...committed, ...written].sort((a, b) => compareRecords(a, b, order)).slice(skip, skip + take);
  }

  count(filter: Parameters<Records['count']>[0]): number {
    this.#transaction.assertOpen();
    const [committed = 0] = this.#readAgain(() => [this.table.count(filter)]);
    const isMatch = (record: AnyRecord | undefined) => matches(record, filter);
    let count = committed;
    for (const [id, record] of this.#getChanges()) {
      count += Number(isMatch(record)) - Number(isMatch(this.table.get(id)));
    }
    return count;
  }

  isUntouched(): boolean {
    for (const { id, seen } of this.#entries) if (this.table.get(id) !== seen) return false;
    return this.#rereads === undefined || this.#rereads.every((reread) => reread());
  }

  commit(): void {
    // Remove before insert, because two records may have exchanged unique values. Every changed id was looked up.
    for (const { id, isWritten, seen } of this.#entries) {
      if (isWritten && seen !== undefined) this.table.write(id, undefined);
    }
    for (const { id, written } of this.#entries) if (written !== undefined) this.table.write(id, written);
  }

  /** The written records by id; undefined means removed. */
  #getChanges(): Map<string, AnyRecord | undefined> {
    const changes = new Map<string, AnyRecord | undefined>();
    for (const { id, isWritten, written } of this.#entries) if (isWritten) changes.set(id, written);
    return changes;
  }

  #look(id: string): Entry {
    const known = this.#find(id);
    if (known !== undefined) return known;
    const entry: Entry = { id, seen: this.table.get(id), isWritten: false, written: undefined };
    this.#entries.push(entry);
    this.#byId?.set(id, entry);
    return entry;
  }

  #find(id: string): Entry | undefined {
    if (this.#entries.length <= MAX_SEARCHED) return this.#entries.find((entry) => entry.id === id);
    this.#byId ??= new Map(this.#entries.map((entry) => [entry.id, entry]));
    return this.#byId.get(id);
  }

  #readAgain<T>(read: () => readonly T[]): readonly T[] {
    const before = read();
    this.#rereads ??= [];
    this.#rereads.push(() => {
      const now = read();
      return now.length === before.length && now.every((value, at) => value === before[at]);
    });
    return before;
  }
}
