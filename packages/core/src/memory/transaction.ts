import { type AnyRecord, matches } from './filter.ts';
import { compareRecords, isAfter, type Query, type Records, type Table } from './table.ts';

/** Writes kept aside until they are committed together, on top of what is committed now. */
export interface Transaction {
  /** A table as this transaction sees it. */
  records(table: Table): Records;
  /**
   * Ends it. Writes become visible in one step, unless something that was read has changed since.
   * @returns false when it has: nothing was written, and what the work concluded counts for nothing.
   */
  end(outcome: { readonly isCommitted: boolean }): boolean;
}

interface View extends Records {
  isUntouched(): boolean;
  commit(): void;
}

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
  /** The records written here; undefined stands for one removed. */
  const changes = new Map<string, AnyRecord | undefined>();
  /** What was committed under an id when it was first looked at. */
  const seen = new Map<string, AnyRecord | undefined>();
  /** Asks again what was asked, and tells whether the answer is still the same. */
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
      return (
        [...seen].every(([id, record]) => table.get(id) === record) && rereads.every((reread) => reread())
      );
    },

    commit() {
      // First what goes, then what comes: two records may have exchanged their unique values.
      for (const id of changes.keys()) if (table.get(id) !== undefined) table.write(id, undefined);
      for (const [id, record] of changes) if (record !== undefined) table.write(id, record);
    },
  };
}
