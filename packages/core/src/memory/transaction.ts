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

  return {
    records(table) {
      if (isOver) throw new Error('the transaction is over');
      const view = views.get(table) ?? createView(table, () => isOver);
      views.set(table, view);
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

function createView(table: Table, isOver: () => boolean): View {
  /** Written records; undefined means removed. */
  const changes = new Map<string, AnyRecord | undefined>();
  /** The committed record at the first read of an id. */
  const seen = new Map<string, AnyRecord | undefined>();
  /** Repeats a query and returns whether its result is unchanged. */
  const rereads: (() => boolean)[] = [];

  const look = (id: string): AnyRecord | undefined => {
    const record = table.get(id);
    if (!seen.has(id)) seen.set(id, record);
    return record;
  };

  const readAgain = <T>(read: () => readonly T[]): readonly T[] => {
    const before = read();
    rereads.push(() => {
      const now = read();
      return now.length === before.length && now.every((value, at) => value === before[at]);
    });
    return before;
  };

  const assertOpen = (): void => {
    if (isOver()) throw new Error('the transaction is over');
  };

  return {
    get(id) {
      assertOpen();
      return changes.has(id) ? changes.get(id) : look(id);
    },

    write(id, record) {
      assertOpen();
      look(id);
      changes.set(id, record);
    },

    conflicts(record) {
      assertOpen();
      if (!table.isConstrained) return NO_IDS;
      const committed = readAgain(() => table.conflicts(record)).filter((id) => !changes.has(id));
      const written = [...changes.values()].filter(
        (other) => other !== undefined && other.id !== record.id && table.agree(record, other),
      );
      return [...committed, ...written.flatMap((other) => other?.id ?? [])];
    },

    select(query) {
      assertOpen();
      const except = new Map(changes);
      const { filter, order, after, skip, take } = query;
      const wide: Query = { ...query, skip: 0, take: skip + take };
      const committed = readAgain(() => table.select(wide, except));
      const written = [...changes.values()].filter(
        (record): record is AnyRecord =>
          record !== undefined &&
          matches(record, filter) &&
          (after === undefined || isAfter(record, after, order)),
      );
      return [...committed, ...written].sort((a, b) => compareRecords(a, b, order)).slice(skip, skip + take);
    },

    count(filter) {
      assertOpen();
      const [committed = 0] = readAgain(() => [table.count(filter)]);
      const isMatch = (record: AnyRecord | undefined) => record !== undefined && matches(record, filter);
      let count = committed;
      for (const [id, record] of changes) {
        count += Number(isMatch(record)) - Number(isMatch(table.get(id)));
      }
      return count;
    },

    isUntouched() {
      for (const [id, record] of seen) if (table.get(id) !== record) return false;
      return rereads.every((reread) => reread());
    },

    commit() {
      // Remove before insert, because two records may have exchanged unique values.
      for (const id of changes.keys()) if (table.get(id) !== undefined) table.write(id, undefined);
      for (const [id, record] of changes) if (record !== undefined) table.write(id, record);
    },
  };
}
