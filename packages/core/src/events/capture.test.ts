import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import { type StoreWrite, writeInTransaction, writesTo } from '../ports/write-all.ts';
import { captureEvents } from './capture.ts';
import type { EventType } from './event.ts';
import { createOutbox } from './outbox.ts';
import { EVENT_OUTBOX } from './records.ts';
import { defineEventSource } from './source.ts';

interface Thing extends StoredRecord {
  readonly state?: string;
  readonly name?: string;
}

const define = (name: string) => defineCollection<Thing>({ name, columns: {}, unique: [], indexes: [] });
/** New things and new states are events, and new names by another source. */
const THINGS = define('things');
/** Only new names are events. */
const NAMED = define('named');
const PLAIN = define('plain');

const toKey = ({ id, state, name }: Thing): string => `${id} ${state} ${name}`;
const states = defineEventSource<Thing>({
  collection: THINGS,
  inserts: true,
  matches: (patch) => 'state' in patch,
  toEvents: ({ before, after }) =>
    before?.state === after.state
      ? []
      : [
          {
            type: before === undefined ? 'key.created' : 'key.revoked',
            key: toKey(after),
            data: { id: after.id },
          },
        ],
});
const toNames = (collection: typeof THINGS) =>
  defineEventSource<Thing>({
    collection,
    matches: (patch) => 'name' in patch,
    toEvents: ({ before, after }) =>
      before?.name === after.name ? [] : [{ type: 'file.clean', key: toKey(after), data: { id: after.id } }],
  });

interface Options {
  /** Undefined: all. */
  readonly heard?: readonly EventType[];
  /** When the receivers are known: at once, or after a look. */
  readonly look?: 'fresh' | 'stale';
  /** Whether the store has `writeAll`. */
  readonly isWhole?: boolean;
  readonly wrap?: (store: Store) => Store;
  readonly isFull?: boolean;
}

function setUp({
  heard,
  look = 'fresh',
  isWhole = false,
  wrap = (store) => store,
  isFull = false,
}: Options = {}) {
  const memory = createMemoryStore();
  const seen = { transactions: 0, whole: 0, announced: [] as string[] };
  const counted: Store = {
    ...memory,
    transaction(work, options) {
      seen.transactions += 1;
      return memory.transaction(work, options);
    },
    ...(isWhole && {
      writeAll(writes: readonly StoreWrite[]) {
        seen.whole += 1;
        return writeInTransaction(memory, writes);
      },
    }),
  };
  let isKnown = look === 'fresh';
  const outbox = createOutbox({
    queue: { enqueue: () => Promise.reject(new Error('unused')) } as never,
    clock: { now: () => 0, timer: () => () => undefined },
    graceMs: 1000,
    receivers: {
      refresh: () =>
        look === 'fresh'
          ? undefined
          : new Promise((resolve) => {
              setImmediate(() => {
                isKnown = true;
                resolve();
              });
            }),
      isActive() {
        return isKnown && heard?.length !== 0;
      },
      wants: (type) => isKnown && (heard?.includes(type) ?? true),
    },
    onError: () => undefined,
  });
  const store = captureEvents(wrap(counted), [states, toNames(THINGS), toNames(NAMED)], {
    ...outbox,
    add: (inner, event) => (isFull ? Promise.reject(new Error('full')) : outbox.add(inner, event)),
    announce: (records) => void seen.announced.push(...records.flatMap(({ event }) => event?.type ?? [])),
  });
  const stored = async () =>
    (await memory.collection(EVENT_OUTBOX).find({})).map(({ event }) => event?.type).sort();
  return { store, memory, seen, stored };
}

type App = ReturnType<typeof setUp>;

/** The three ways of writing. */
const WAYS: Readonly<Record<string, (app: App, write: StoreWrite) => Promise<unknown>>> = {
  alone: ({ store }, { ...write }) => {
    const things = store.collection(THINGS);
    if (write.do === 'insert') return things.insert(write.record);
    return write.do === 'update' ? things.update(write.id, write.patch, write.guard) : Promise.resolve();
  },
  'in a transaction': ({ store }, write) =>
    store.transaction((inner) => WAYS.alone?.({ store: inner } as App, write) ?? Promise.resolve()),
  together: ({ store }, write) => store.writeAll?.([write]) ?? Promise.resolve(),
};

describe.each(Object.keys(WAYS))('changes that are written %s', (way) => {
  const to = writesTo(THINGS);
  const write = async (app: App, one: StoreWrite): Promise<unknown> => WAYS[way]?.(app, one);

  it.each(['fresh', 'stale'] as const)('are events of their sources: receivers %s', async (look) => {
    const app = setUp({ look, isWhole: true });
    await write(app, to.insert({ id: 'a', state: 'new' }));
    await write(app, to.insert({ id: 'a', state: 'other' }));
    await write(app, to.update('a', { state: 'old' }, { id: 'b' }));
    await write(app, to.update('b', { state: 'old' }));
    expect(app.seen.announced).toEqual(['key.created']);
    await write(app, to.update('a', { state: 'old' }));
    await write(app, to.update('a', { name: 'Ada' }));
    expect(app.seen.announced).toEqual(['key.created', 'key.revoked', 'file.clean']);
    expect(await app.stored()).toEqual(['file.clean', 'key.created', 'key.revoked']);
  });

  it('are events for receivers that want them', async () => {
    const app = setUp({ heard: ['key.revoked'], isWhole: true });
    await write(app, to.insert({ id: 'a', state: 'new' }));
    await write(app, to.update('a', { state: 'old', name: 'Ada' }));
    expect([app.seen.announced, await app.stored()]).toEqual([['key.revoked'], ['key.revoked']]);
  });

  it('are undone when an event cannot be stored', async () => {
    const app = setUp({ isFull: true, isWhole: true });
    await app.memory.collection(THINGS).insert({ id: 'a', state: 'new' });
    await expect(write(app, to.insert({ id: 'b', state: 'new' }))).rejects.toThrow('full');
    await expect(write(app, to.update('a', { state: 'old' }))).rejects.toThrow('full');
    expect(await app.memory.collection(THINGS).find({})).toEqual([{ id: 'a', state: 'new' }]);
    expect(app.seen.announced).toEqual([]);
  });
});

describe('changes without an event', () => {
  it.each([
    ['events have no receiver', { heard: [] }],
    ['a look finds no receiver', { heard: [], look: 'stale' }],
  ] as const)('need no transaction when %s', async (_, options) => {
    const { store, seen, memory } = setUp({ ...options, isWhole: true });
    const things = store.collection(THINGS);
    await things.insert({ id: 'a', state: 'new' });
    await things.update('a', { state: 'old' });
    await store.writeAll?.([writesTo(THINGS).update('a', { name: 'Ada' })]);
    expect(seen).toEqual({ transactions: 0, whole: 1, announced: [] });
    expect(await memory.collection(THINGS).find({})).toEqual([{ id: 'a', state: 'old', name: 'Ada' }]);
  });

  it('need no transaction when no source looks at them', async () => {
    const { store, seen } = setUp({ isWhole: true });
    await store.collection(NAMED).insert({ id: 'a', name: 'Ada' });
    await store.collection(NAMED).update('a', { state: 'new' });
    await store.collection(PLAIN).insert({ id: 'a', name: 'Ada' });
    await store.writeAll?.([
      writesTo(NAMED).insert({ id: 'b', name: 'Ada' }),
      writesTo(NAMED).update('b', { state: 'new' }),
      writesTo(NAMED).expect('b'),
      writesTo(PLAIN).update('a', { name: 'Grace' }),
    ]);
    expect(seen).toEqual({ transactions: 0, whole: 1, announced: [] });
  });

  it('are written in a transaction with others without an event', async () => {
    const { store, seen, stored } = setUp();
    await store.transaction(async (inner) => {
      await inner.collection(NAMED).insert({ id: 'a', name: 'Ada' });
      await inner.collection(NAMED).update('a', { state: 'new' });
      await inner.collection(PLAIN).insert({ id: 'a', name: 'Ada' });
    });
    expect([seen.announced, await stored()]).toEqual([[], []]);
  });

  it('are changes of a record that was absent before', async () => {
    const { store, stored } = setUp({
      wrap: (inner) => ({
        ...inner,
        transaction: (work, options) =>
          inner.transaction(
            (each) =>
              work({
                ...each,
                collection: (definition) =>
                  Object.assign(wrapCollection(each.collection(definition), {}), {
                    get: async () => undefined,
                  }),
              }),
            options,
          ),
      }),
    });
    await store.collection(THINGS).insert({ id: 'a', state: 'new' });
    expect(await store.collection(THINGS).update('a', { state: 'old' })).toEqual({ id: 'a', state: 'old' });
    expect(await stored()).toEqual(['key.created']);
  });
});

it('writes one watched change among others in a transaction', async () => {
  const { store, seen } = setUp({ isWhole: true });
  const isWritten = await store.writeAll?.([
    writesTo(PLAIN).insert({ id: 'a' }),
    writesTo(NAMED).insert({ id: 'a' }),
    writesTo(NAMED).update('a', { name: 'Ada' }),
    writesTo(PLAIN).expect('a'),
  ]);
  expect([isWritten, seen]).toEqual([true, { transactions: 1, whole: 0, announced: ['file.clean'] }]);
});

it('announces the events of the last try of a transaction', async () => {
  const { store, seen } = setUp({
    wrap: (inner) => ({
      ...inner,
      transaction: async (work, options) => {
        await inner
          .transaction(async (each) => {
            await work(each);
            throw new Error('repeat');
          })
          .catch(() => undefined);
        return inner.transaction(work, options);
      },
    }),
  });
  await store.collection(THINGS).insert({ id: 'a', state: 'new' });
  expect(seen.announced).toEqual(['key.created']);
});

it('offers `writeAll` only over a store that has it', () => {
  expect([setUp().store.writeAll, setUp({ isWhole: true }).store.writeAll]).toEqual([
    undefined,
    expect.any(Function),
  ]);
});
