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

interface View extends Records {
  isUntouched(): boolean;
  commit(): void;
}

const NO_IDS: readonly string[] = [];

export function createTransaction(): Transaction {
  const views = new Map<Table, View>();
  let isOver = false;
  const hasEnded = (): boolean => isOver;

  return {
    records(table) {
      if (isOver) throw new Error('the transaction is over');
      let view = views.get(table);
      if (view === undefined) {
        view = new TableView(table, hasEnded);
        views.set(table, view);
      }
      return view;
    },
    end({ isCommitted }) {
      isOver = true;
      const all = [...views.values()];
      if (!all.every((view) => view.isUntouched())) return false;
      if (isCommitted) for (const view of all) view.commit();
      return true;
    },
  };
}

/** A class with maps that are created on demand, because most transactions write one or two records. */
class TableView implements View {
  readonly #table: Table;
  readonly #isOver: () => boolean;
  /** Written records; undefined means removed. */
  readonly #changes = new Map<string, AnyRecord | undefined>();
  /** The committed record at the first read of an id. */
  readonly #seen = new Map<string, AnyRecord | undefined>();
  /** Repeats a query and returns whether its result is unchanged. */
  #rereads: (() => boolean)[] | undefined;

  constructor(table: Table, isOver: () => boolean) {
    this.#table = table;
    this.#isOver = isOver;
  }

  get(id: string): AnyRecord | undefined {
    this.#assertOpen();
    return this.#changes.has(id) ? this.#changes.get(id) : this.#look(id);
  }

  write(id: string, record: AnyRecord | undefined): void {
    this.#assertOpen();
    this.#look(id);
    this.#changes.set(id, record);
  }

  conflicts(record: AnyRecord): readonly string[] {
    this.#assertOpen();
    const table = this.#table;
    if (!table.isConstrained) return NO_IDS;
    const committed = this.#readAgain(() => table.conflicts(record)).filter((id) => !this.#changes.has(id));
    const written = [...this.#changes.values()].filter(
      (other) => other !== undefined && other.id !== record.id && table.agree(record, other),
    );
    return [...committed, ...written.flatMap((other) => other?.id ?? [])];
  }

  select(query: Query): AnyRecord[] {
    this.#assertOpen();
    const except = new Map(this.#changes);
    const { filter, order, after, skip, take } = query;
    const wide: Query = { ...query, skip: 0, take: skip + take };
    const committed = this.#readAgain(() => this.#table.select(wide, except));
    const written = [...this.#changes.values()].filter(
      (record): record is AnyRecord =>
        record !== undefined &&
        matches(record, filter) &&
        (after === undefined || isAfter(record, after, order)),
    );
    return [...committed, ...written].sort((a, b) => compareRecords(a, b, order)).slice(skip, skip + take);
  }

  count(filter: Parameters<Records['count']>[0]): number {
    this.#assertOpen();
    const [committed = 0] = this.#readAgain(() => [this.#table.count(filter)]);
    const isMatch = (record: AnyRecord | undefined) => record !== undefined && matches(record, filter);
    let count = committed;
    for (const [id, record] of this.#changes) {
      count += Number(isMatch(record)) - Number(isMatch(this.#table.get(id)));
    }
    return count;
  }

  isUntouched(): boolean {
    for (const [id, record] of this.#seen) if (this.#table.get(id) !== record) return false;
    return this.#rereads === undefined || this.#rereads.every((reread) => reread());
  }

  commit(): void {
    // Remove before insert, because two records may have exchanged unique values. Every changed id was looked up.
    for (const id of this.#changes.keys()) {
      if (this.#seen.get(id) !== undefined) this.#table.write(id, undefined);
    }
    for (const [id, record] of this.#changes) if (record !== undefined) this.#table.write(id, record);
  }

  #look(id: string): AnyRecord | undefined {
    const known = this.#seen.get(id);
    if (known !== undefined || this.#seen.has(id)) return known;
    const record = this.#table.get(id);
    this.#seen.set(id, record);
    return record;
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

  #assertOpen(): void {
    if (this.#isOver()) throw new Error('the transaction is over');
  }
}
