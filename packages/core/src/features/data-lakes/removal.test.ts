import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { openLakeRecords as setUp } from '../../../test/lake-records.ts';
import { ADDED, FILE, LAKE, makeLake, makeLakeFile, toId } from '../../../test/lakes.ts';
import type { Store } from '../../ports/store.ts';
import { STORAGE_USAGE } from '../storage/usage.ts';
import { leaveOrganization } from './access.ts';
import { personalLakes } from './personal.ts';
import { createForgetFileHandler, createLakePurgeHandler, forgetFileJob, lakePurgeJob } from './purge.ts';
import { LAKE_FILES, LAKES } from './records.ts';
import { removeFile, removeFromLakes } from './remove-file.ts';
import { createLakeSweep } from './sweep.ts';

/** A store in whose transactions one collection cannot be changed. */
function inTransactions(store: Store, name: string): Store {
  const away = () => Promise.reject(new Error('away'));
  return {
    collection: (definition) => store.collection(definition),
    transaction: (work, options) =>
      store.transaction(
        (inside) =>
          work({
            ...inside,
            collection(definition) {
              const records = inside.collection(definition);
              if (definition.name !== name) return records;
              return {
                ...records,
                update: (...given: Parameters<typeof records.update>) => records.update(...given),
                add: away,
              };
            },
          }),
        options,
      ),
  } as Store;
}

const run = (handler: ReturnType<typeof createForgetFileHandler>, payload: unknown, attempt = 1) =>
  handler.run({ payload, attempt } as never, new AbortController().signal, async () => undefined);
const FORGET = { key: `data-lakes.forget-file:${ADDED}`, owner: 'ada', payload: { id: ADDED, lakeId: LAKE } };
const PURGE = { key: `data-lakes.purge:${LAKE}`, owner: 'ada', payload: { lakeId: LAKE } };

describe('a file that leaves its lake', () => {
  it('leaves the sums of the lake and of its owner, and a job for its chunks', async () => {
    const { clock, services, lakes, files, lease, countBytes } = await setUp([{}], [{}]);
    await clock.advance(7);
    const lake = await removeFile(services, makeLakeFile());
    expect(lake).toMatchObject({ fileCount: 0, totalSize: 0, updatedAt: clock.now() });
    expect(await lakes.get(LAKE)).toEqual(lake);
    expect([await files.count({}), await countBytes(), await lease()]).toEqual([0, 0, [FORGET]]);
    expect(await removeFile(services, makeLakeFile())).toEqual(lake);
    expect(await lakes.get(LAKE)).toMatchObject({ fileCount: 0 });
  });

  it('gives no storage back that was not counted', async () => {
    const { services, countBytes } = await setUp([{}], [{ countedTo: undefined as never }]);
    await removeFile(services, makeLakeFile());
    expect(await countBytes()).toBe(5);
  });

  it('is removed from all lakes if it is deleted', async () => {
    const fileRecords = [1, 2].map((at) => ({ id: toId(1000 + at), lakeId: toId(2000 + at) }));
    const other = { id: toId(9), lakeId: LAKE, fileId: toId(8) };
    const { services, files } = await setUp([], [...fileRecords, other]);
    await removeFromLakes(services, FILE);
    expect((await files.find({})).map(({ id }) => id)).toEqual([toId(9)]);
  });

  it('is removed from all lakes, however many have it', async () => {
    const records = Array.from({ length: 201 }, (_, at) => ({
      id: toId(1000 + at),
      lakeId: toId(2000 + at),
    }));
    const { services, files } = await setUp([], records);
    await removeFromLakes(services, FILE);
    expect(await files.count({})).toBe(0);
  });

  it('stays as long as no job can delete its chunks', async () => {
    const { services, files, countBytes } = await setUp([{}], [{}]);
    const queue = { ...services.queue, enqueue: () => Promise.reject(new Error('away')) };
    await expect(removeFile({ ...services, queue }, makeLakeFile())).rejects.toThrow('away');
    expect([await files.count({}), await countBytes()]).toEqual([1, 5]);
  });

  it.each([
    ['its owner', STORAGE_USAGE],
    ['the lake', LAKES],
  ])('stays as long as the sums of %s cannot be changed', async (_, { name }) => {
    const { services, files, lakes, countBytes } = await setUp([{}], [{}]);
    const store = inTransactions(services.store, name);
    await expect(removeFile({ ...services, store }, makeLakeFile())).rejects.toThrow('away');
    expect([await files.count({}), await countBytes()]).toEqual([1, 5]);
    expect(await lakes.get(LAKE)).toMatchObject({ fileCount: 1, totalSize: 5 });
  });

  it('has its chunks deleted by a job, once it is gone', async () => {
    const { services, files, countChunks } = await setUp([{}], [{}, { id: toId(9), fileId: toId(8) }]);
    const handler = createForgetFileHandler(services);
    expect([handler.kind, handler.concurrency]).toEqual(['data-lakes.forget-file', 2]);
    const { payload, runAt } = forgetFileJob(makeLakeFile(), 5);
    expect(runAt).toBe(5);
    expect(await run(handler, payload)).toEqual({ afterMs: 1000, countAttempt: true });
    expect(await run(handler, payload, 3)).toBeUndefined();
    expect(await countChunks(LAKE, ADDED)).toBe(1);
    await files.take(ADDED);
    expect(await run(handler, payload)).toBeUndefined();
    expect([await countChunks(LAKE, ADDED), await countChunks(LAKE, toId(9))]).toEqual([0, 1]);
  });
});

describe('a deleted lake', () => {
  it('goes with its files, chunks and storage', async () => {
    const fileRecords = Array.from({ length: 200 }, (_, at) => ({
      id: toId(1000 + at),
      fileId: toId(2000 + at),
    }));
    const uncounted = { id: toId(9), fileId: toId(8), countedTo: undefined as never };
    const elsewhere = { id: toId(7), lakeId: toId(6) };
    const { services, lakes, files, cleaned, countBytes, countChunks } = await setUp(
      [{ status: 'deleting' }, { id: toId(6) }],
      [...fileRecords, uncounted, elsewhere],
    );
    const handler = createLakePurgeHandler(services);
    expect([handler.kind, handler.concurrency]).toEqual(['data-lakes.purge', 1]);
    expect(await run(handler, lakePurgeJob(makeLake()).payload)).toBeUndefined();
    expect((await lakes.find({})).map(({ id }) => id)).toEqual([toId(6)]);
    expect((await files.find({})).map(({ id }) => id)).toEqual([toId(7)]);
    expect([await countChunks(), await countChunks(toId(6)), cleaned]).toEqual([0, 1, [LAKE]]);
    expect(await countBytes()).toBe(10);
  });

  it('goes alone, with any number of files in other lakes', async () => {
    const elsewhere = Array.from({ length: 200 }, (_, at) => ({
      ...{ id: toId(1000 + at), fileId: toId(2000 + at), lakeId: toId(6) },
    }));
    const { services, files } = await setUp([{ status: 'deleting' }], [{}, ...elsewhere]);
    await run(createLakePurgeHandler(services), PURGE.payload);
    expect([await files.count({ lakeId: LAKE }), await files.count({})]).toEqual([0, 200]);
  });

  it('stays as long as its parts cannot be deleted', async () => {
    const { services, lakes, files, cleaned } = await setUp([{ status: 'deleting' }], [{}]);
    const vectors = { ...services.vectors, remove: () => Promise.reject(new Error('away')) };
    const store = inTransactions(services.store, STORAGE_USAGE.name);
    await expect(run(createLakePurgeHandler({ ...services, store }), PURGE.payload)).rejects.toThrow('away');
    expect(await files.count({})).toBe(1);
    await expect(run(createLakePurgeHandler({ ...services, vectors }), PURGE.payload)).rejects.toThrow(
      'away',
    );
    expect([await lakes.count({}), cleaned]).toEqual([1, []]);
  });

  it('stays while it is not deleted', async () => {
    const { services, lakes, files, cleaned, countChunks } = await setUp([{}], [{}]);
    await run(createLakePurgeHandler(services), PURGE.payload);
    expect([await lakes.count({}), await files.count({}), await countChunks(), cleaned]).toEqual([
      1,
      1,
      1,
      [],
    ]);
  });

  it('of an organization stays with its owner', async () => {
    const lakeRecords = Array.from({ length: 201 }, (_, at) => ({
      id: toId(1000 + at),
      organizationId: 'o',
    }));
    const { services, lakes } = await setUp([...lakeRecords, { id: toId(6), organizationId: 'p' }], []);
    await leaveOrganization(services, 'o');
    expect(await lakes.count({ organizationId: 'o' })).toBe(0);
    expect([await lakes.count({ organizationId: 'p' }), await lakes.count({})]).toEqual([1, 202]);
  });
});

it('enqueues again what has been quiet for two minutes', async () => {
  const quiet = createFakeClock().now() - 120_001;
  const { services, lease } = await setUp(
    [
      { status: 'deleting', updatedAt: quiet },
      { id: toId(6), status: 'deleting', updatedAt: quiet + 1 },
      { id: toId(5), status: 'active', updatedAt: quiet },
    ],
    [
      { updatedAt: quiet },
      { id: toId(8), fileId: toId(8), updatedAt: quiet + 1 },
      { id: toId(9), fileId: toId(9), status: 'paused', updatedAt: quiet },
    ],
  );
  const sweep = createLakeSweep(services);
  expect([sweep.name, sweep.everyMs]).toEqual(['sweep-data-lakes', 60_000]);
  await sweep.run();
  const ingest = { key: `data-lakes.ingest:${ADDED}`, owner: 'ada', payload: { id: ADDED } };
  expect((await lease()).sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([ingest, PURGE]);
});

it('fails if the queue is away', async () => {
  const updatedAt = createFakeClock().now() - 120_001;
  const deleting = { status: 'deleting', updatedAt } as const;
  for (const { services } of [await setUp([deleting], []), await setUp([], [{ updatedAt }])]) {
    const queue = { ...services.queue, enqueue: () => Promise.reject(new Error('away')) };
    await expect(createLakeSweep({ ...services, queue }).run()).rejects.toThrow('away');
  }
});

describe('the end of an account', () => {
  it('deletes a lake after its chunks, and what belongs to it after the lake', async () => {
    const { services, lakes, cleaned, countChunks } = await setUp([{}], [{}]);
    const away = () => Promise.reject(new Error('away'));
    const erase = (changed: object) =>
      personalLakes({ ...services, ...changed }).erase?.[0]?.erase({ id: LAKE }, 'ada');
    await expect(erase({ vectors: { ...services.vectors, remove: away } })).rejects.toThrow('away');
    expect([await lakes.count({}), cleaned]).toEqual([1, []]);
    const collection = () => ({ take: away }) as never;
    await expect(erase({ store: { ...services.store, collection } })).rejects.toThrow('away');
    expect([await countChunks(), cleaned]).toEqual([0, []]);
  });

  it('deletes its lakes', async () => {
    const { services, lakes, cleaned, countChunks } = await setUp([{}, { id: toId(6) }], [{}]);
    const { parts, erase } = personalLakes(services);
    expect(parts).toEqual([{ whole: LAKES, part: LAKE_FILES, field: 'lakeId' }]);
    expect(erase?.[0]?.shape).toBe(LAKES);
    await erase?.[0]?.erase({ id: LAKE }, 'ada');
    expect([await lakes.count({}), await countChunks(), cleaned]).toEqual([1, 0, [LAKE]]);
  });

  it('takes the files of the user out of other lakes', async () => {
    const { services, files, lakes, countChunks } = await setUp(
      [{ fileCount: 3, totalSize: 15 }],
      [
        { addedBy: 'bob', countedTo: 'ada' },
        { id: toId(8), fileId: toId(8), addedBy: 'ada', countedTo: 'bob' },
        { id: toId(9), fileId: toId(9), addedBy: 'ada', countedTo: 'ada' },
      ],
    );
    expect(await personalLakes(services).eraseTraces?.('bob', new Set())).toBeUndefined();
    expect((await files.find({})).map(({ id }) => id)).toEqual([toId(9)]);
    expect(await lakes.get(LAKE)).toMatchObject({ fileCount: 1, totalSize: 5 });
    expect(await countChunks()).toBe(1);
  });
});
