import { createMemoryStore } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../test/delayed.ts';
import type { Collection, Json, Store, StoredRecord } from '../ports/store.ts';
import { createStoreEventLog, EVENT_BATCHES } from './store-event-log.ts';

const KEEP_MS = 1000;

function setUp(change: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const log = createStoreEventLog({ store: change(delayed(store)), clock });
  const add = (stream: string, after: number, events: readonly Json[], keepMs = KEEP_MS) =>
    log.append(stream, { attempt: 1, after, events, keepMs });
  /** Adds batches of one event each. */
  const addEach = async (stream: string, count: number) => {
    for (let after = 0; after < count; after += 1) await add(stream, after, [after + 1]);
  };
  const batches = store.collection(EVENT_BATCHES);
  return { clock, store, log, add, addEach, batches };
}

type ChangeVerbs = <R extends StoredRecord>(collection: Collection<R>) => Partial<Collection<R>>;

const withVerbs = (store: Store, change: ChangeVerbs): Store => ({
  ...store,
  collection: (definition) => {
    const collection = store.collection(definition);
    return { ...collection, ...change(collection) };
  },
});

describe('event log on a store', () => {
  it('keeps each batch in a record, with its position and its expiry', async () => {
    const { clock, add, batches } = setUp();
    await add('quest', 0, ['a', 'b']);
    await add('quest', 2, [{ type: 'text' }], 2 * KEEP_MS);
    const same = { stream: 'quest', attempt: 1 };
    expect(await batches.find({})).toEqual([
      {
        ...same,
        id: 'quest:000000000001',
        first: 1,
        last: 2,
        events: '["a","b"]',
        expiresAt: clock.now() + KEEP_MS,
      },
      {
        ...{ ...same, id: 'quest:000000000003', first: 3, last: 3 },
        ...{ events: '[{"type":"text"}]', expiresAt: clock.now() + 2 * KEEP_MS },
      },
    ]);
  });

  it('returns at most 16 batches in a page', async () => {
    const { log, addEach } = setUp();
    await addEach('quest', 40);
    for (const [after, last] of [
      [0, 16],
      [16, 31],
      [31, 40],
    ] as const) {
      const page = await log.read('quest', after);
      expect(page?.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: last - after }, (_, at) => after + at + 1),
      );
    }
  });

  it('joins all batches of a stream that is longer than a page of the store', async () => {
    const { log, addEach, batches } = setUp();
    await addEach('quest', 2001);
    await addEach('other', 2);
    await log.compact('quest', KEEP_MS);
    const [joined, ...rest] = await batches.find({ stream: 'quest' });
    expect([joined, rest]).toMatchObject([{ first: 1, last: 2001, attempt: 1 }, []]);
    expect(JSON.parse(joined?.events ?? '')).toHaveLength(2001);
    expect(await batches.count({ stream: 'other' })).toBe(2);
  });

  it('deletes all batches of a stream that is longer than a page of the store', async () => {
    const { log, addEach, batches, clock } = setUp();
    await addEach('quest', 1001);
    await clock.advance(KEEP_MS);
    expect(await log.expire()).toBe(1);
    expect(await batches.count({})).toBe(0);
  });

  it('deletes the streams of the 100 batches that have expired first', async () => {
    const { log, add, batches, clock } = setUp();
    for (let at = 0; at < 102; at += 1) await add(`quest ${at}`, 0, ['x'], KEEP_MS - at);
    await clock.advance(KEEP_MS);
    expect(await log.expire()).toBe(100);
    expect((await batches.find({})).map(({ stream }) => stream)).toEqual(['quest 0', 'quest 1']);
    expect(await log.expire()).toBe(2);
  });

  it('deletes a stream whose time is over, after one that is kept', async () => {
    const { log, add, batches, clock } = setUp();
    await add('kept', 0, ['x'], KEEP_MS - 1);
    await add('kept', 1, ['x'], KEEP_MS + 1);
    await add('over', 0, ['x']);
    await clock.advance(KEEP_MS);
    expect(await log.expire()).toBe(1);
    expect((await batches.find({})).map(({ stream }) => stream)).toEqual(['kept', 'kept']);
  });

  it('keeps a batch that is added while its stream is deleted', async () => {
    let late = async (): Promise<unknown> => undefined;
    const { log, add, batches, clock } = setUp((store) =>
      withVerbs(store, (collection) => ({
        async take(...call) {
          await late();
          return collection.take(...call);
        },
      })),
    );
    await add('quest', 0, ['old']);
    await clock.advance(KEEP_MS);
    late = async () => {
      late = async () => undefined;
      await batches.update('quest:000000000001', { expiresAt: clock.now() + 1 });
    };
    await log.expire();
    expect(await batches.count({})).toBe(1);
  });

  it('does nothing in a call that is aborted, before or while it reads', async () => {
    for (const isBefore of [true, false]) {
      const control = new AbortController();
      const { signal } = control;
      let find = (): void => undefined;
      const { log, add, batches, clock } = setUp((store) =>
        withVerbs(store, (collection) => ({
          async find(...call) {
            const found = await collection.find(...call);
            find();
            return found;
          },
        })),
      );
      await add('quest', 0, ['a']);
      await add('quest', 1, ['b']);
      await clock.advance(KEEP_MS);
      const before = await batches.find({});
      const abort = (): void => control.abort(new Error('left'));
      if (isBefore) abort();
      else find = abort;
      const batch = { attempt: 1, after: 2, events: ['c'], keepMs: KEEP_MS };
      await expect(log.append('quest', batch, { signal })).rejects.toThrow('left');
      await expect(log.append('new', { ...batch, after: 0 }, { signal })).rejects.toThrow('left');
      for (const call of [
        log.read('quest', 0, { signal }),
        log.compact('quest', KEEP_MS, { signal }),
        log.expire({ signal }),
      ])
        await expect(call).rejects.toThrow('left');
      expect(await batches.find({})).toEqual(before);
    }
  });
});
