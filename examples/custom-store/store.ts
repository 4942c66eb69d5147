import {
  type CallOptions,
  type Collection,
  type CollectionDefinition,
  type FindOptions,
  type Store,
  type StoredRecord,
  UniqueViolation,
} from '@questline/core/ports';
import { checkFilter, compare, matches, type Plain } from './filter.ts';
import { openJournal } from './journal.ts';

export interface JournalStore extends Store {
  close(): Promise<void>;
}

type Tables = Map<string, Map<string, Plain>>;

/**
 * A store in one file for one process: each commit is a line, and memory holds the replayed state. It shows
 * how small a store can be that keeps every guarantee of the port, also after a crash.
 */
export async function openJournalStore(path: string): Promise<JournalStore> {
  const committed: Tables = new Map();
  const journal = await openJournal(path, (changes) => apply(committed, changes));
  let turn: Promise<unknown> = Promise.resolve();

  /** Runs one writer at a time, in order of arrival. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  }

  /** Runs work on a draft, and replaces the state when the work succeeds. */
  function commit<T>(work: (draft: Tables) => Promise<T>, options?: CallOptions): Promise<T> {
    return inTurn(async () => {
      options?.signal?.throwIfAborted();
      const draft: Tables = new Map();
      const result = await work(draft);
      const changes = getChanges(draft);
      if (Object.keys(changes).length > 0) {
        await journal.append(changes);
        apply(committed, changes);
      }
      return result;
    });
  }

  return {
    collection: (definition) =>
      getCollection(definition, committed, undefined, (work, options) =>
        commit(async (draft) => work(draft), options),
      ),
    transaction: (work, options) =>
      commit(
        (draft) =>
          work({
            collection: (definition) =>
              getCollection(definition, committed, draft, async (write) => write(draft)),
            transaction: () => Promise.reject(new TypeError('transactions do not nest')),
          }),
        options,
      ),
    close: () => inTurn(() => journal.close()),
  };
}

type Write = <T>(work: (draft: Tables) => T, options?: CallOptions) => Promise<T>;

/** Marks a deleted record in a draft. */
const GONE: Plain = Object.freeze({ id: '' });

function getCollection<R extends StoredRecord>(
  { name, columns, unique }: CollectionDefinition<R>,
  committed: Tables,
  reading: Tables | undefined,
  write: Write,
): Collection<R> {
  type Guard = Readonly<Record<string, unknown>> | undefined;

  const look = (id: string, guard: Guard, draft: Tables | undefined): Plain | undefined => {
    checkFilter(columns, guard);
    const record = draft?.get(name)?.get(id) ?? committed.get(name)?.get(id);
    return record !== undefined && record !== GONE && matches(record, guard) ? record : undefined;
  };

  const all = (draft: Tables | undefined): Plain[] => {
    const records = new Map([...(committed.get(name) ?? []), ...(draft?.get(name) ?? [])]);
    return [...records.values()].filter((record) => record !== GONE);
  };

  const put = (id: string, record: Plain, draft: Tables): void => {
    const table = draft.get(name) ?? new Map<string, Plain>();
    draft.set(name, table.set(id, record));
  };

  const isTaken = (record: Plain, draft: Tables): boolean =>
    unique.some((rule) => {
      const values = rule.map((field) => record[field] ?? null);
      if (values.includes(null)) return false;
      return all(draft).some(
        (other) => other.id !== record.id && rule.every((field, index) => other[field] === values[index]),
      );
    });

  const change = (id: string, guard: Guard, alter: (before: Plain) => object, options?: CallOptions) =>
    write((draft) => {
      const before = look(id, guard, draft);
      if (before === undefined) return undefined;
      const after = plain({ ...before, ...alter(before), id });
      if (isTaken(after, draft)) throw new UniqueViolation(name);
      put(id, after, draft);
      return structuredClone(after) as unknown as R;
    }, options);

  return {
    async get(id, guard, options) {
      options?.signal?.throwIfAborted();
      return structuredClone(look(id, guard, reading)) as unknown as R | undefined;
    },
    async find(filter, options: FindOptions<R> = {}) {
      options.signal?.throwIfAborted();
      checkFilter(columns, filter);
      const { order, after, offset = 0, limit = 1000 } = options;
      if (order !== undefined) checkFilter(columns, { [order.field]: null });
      const sign = order?.direction === 'desc' ? -1 : 1;
      const field = order?.field ?? 'id';
      const compareRecords = (a: Plain, b: Plain): number =>
        sign * (compare(a[field] ?? null, b[field] ?? null) || compare(a.id, b.id));
      const found = all(reading)
        .filter((record) => matches(record, filter))
        .sort(compareRecords);
      const place = after && { id: after.id, [field]: field === 'id' ? after.id : after.value };
      const rest = place === undefined ? found : found.filter((record) => compareRecords(record, place) > 0);
      return structuredClone(rest.slice(offset, offset + limit)) as unknown as R[];
    },
    async count(filter, options) {
      options?.signal?.throwIfAborted();
      checkFilter(columns, filter);
      return all(reading).filter((record) => matches(record, filter)).length;
    },
    insert: (record, options) =>
      write((draft) => {
        const kept = plain(record);
        if (look(record.id, undefined, draft) !== undefined || isTaken(kept, draft)) return false;
        put(record.id, kept, draft);
        return true;
      }, options),
    update: (id, patch, guard, options) => change(id, guard, () => patch, options),
    add: (id, deltas, guard, options) =>
      change(
        id,
        guard,
        (before) =>
          Object.fromEntries(
            Object.entries(deltas).map(([field, delta]) => [
              field,
              Number(before[field] ?? 0) + Number(delta),
            ]),
          ),
        options,
      ),
    take: (id, guard, options) =>
      write((draft) => {
        const record = look(id, guard, draft);
        if (record !== undefined) put(id, GONE, draft);
        return structuredClone(record) as unknown as R | undefined;
      }, options),
  };
}

/** Converts the record to JSON and back, so that memory holds exactly what the file can store. */
function plain(record: object): Plain {
  return JSON.parse(JSON.stringify(record)) as Plain;
}

function getChanges(draft: Tables): Record<string, Record<string, object | null>> {
  return Object.fromEntries(
    [...draft].map(([name, table]) => [
      name,
      Object.fromEntries([...table].map(([id, record]) => [id, record === GONE ? null : record])),
    ]),
  );
}

function apply(
  tables: Tables,
  changes: Readonly<Record<string, Readonly<Record<string, object | null>>>>,
): void {
  for (const [name, records] of Object.entries(changes)) {
    const table = tables.get(name) ?? new Map<string, Plain>();
    tables.set(name, table);
    for (const [id, record] of Object.entries(records)) {
      if (record === null) table.delete(id);
      else table.set(id, record as Plain);
    }
  }
}
