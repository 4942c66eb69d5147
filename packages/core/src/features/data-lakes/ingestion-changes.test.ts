import { describe, expect, it } from 'vitest';
import { openIngestion } from '../../../test/lake-ingestion.ts';
import { ADDED, LAKE, toId, VECTORS } from '../../../test/lakes.ts';

describe('a file that leaves its lake during the ingestion', () => {
  it.each([
    ['while its text is read', 'read'],
    ['while its vectors are stored', 'upsert'],
  ] as const)('leaves no chunks %s', async (_, place) => {
    const opened: Awaited<ReturnType<typeof openIngestion>> = await openIngestion({
      vectors: (vectors) => ({
        async upsert(...given) {
          await vectors.upsert(...given);
          if (place === 'upsert') await opened.lakeFiles.take(ADDED);
        },
      }),
      change: ({ library }) => ({
        library: {
          ...library,
          async read(...given) {
            if (place === 'read') await opened.lakeFiles.take(ADDED);
            return library.read(...given);
          },
        },
      }),
    });
    const { run, countChunks, vectors, requests, lakes } = opened;
    const other = {
      id: `${toId(5)}:0`,
      lakeId: LAKE,
      fileId: toId(5),
      place: 0,
      text: 'x',
      tags: [],
      words: [],
    };
    await vectors.upsert([{ ...other, vector: [1, 1] }]);
    const chunk = { id: `${ADDED}:9`, lakeId: LAKE, fileId: ADDED, place: 9, text: 'x', tags: [], words: [] };
    await vectors.upsert([{ ...chunk, vector: [1, 1] }]);
    await opened.add.lakeFile();
    expect(await run()).toBeUndefined();
    expect(await countChunks()).toBe(0);
    expect(await vectors.count({ lakeId: LAKE })).toBe(1);
    expect(requests).toHaveLength(place === 'read' ? 0 : 1);
    expect((await lakes.get(LAKE))?.lastSyncAt).toBeUndefined();
  });

  it('leaves no chunks at the end', async () => {
    const opened: Awaited<ReturnType<typeof openIngestion>> = await openIngestion({
      change: ({ store }) => ({
        store: {
          ...store,
          collection(definition) {
            const records = store.collection(definition);
            return {
              ...records,
              async update(id, patch, ...more) {
                const updated = await records.update(id, patch, ...more);
                if ((patch as { vectorizedCount?: number }).vectorizedCount === 1) {
                  await opened.lakeFiles.take(ADDED);
                }
                return updated;
              },
            };
          },
        },
      }),
    });
    await opened.run();
    expect(await opened.countChunks()).toBe(0);
    expect((await opened.lakes.get(LAKE))?.lastSyncAt).toBeUndefined();
  });

  it('keeps its chunks if it only stops', async () => {
    const opened: Awaited<ReturnType<typeof openIngestion>> = await openIngestion({
      vectors: (vectors) => ({
        async upsert(...given) {
          await vectors.upsert(...given);
          await opened.lakeFiles.update(ADDED, { status: 'failed' });
        },
      }),
    });
    await opened.run();
    expect([await opened.countChunks(), (await opened.getState()).status]).toEqual([1, 'failed']);
  });

  it('is removed from its lake if it is deleted', async () => {
    const { run, lakeFiles, lakes, services } = await openIngestion({ file: null });
    expect(await run()).toBeUndefined();
    expect(await lakeFiles.count({})).toBe(0);
    expect(await lakes.get(LAKE)).toMatchObject({ fileCount: 0, totalSize: 0 });
    const jobs = await services.queue.lease({ kinds: ['data-lakes.forget-file'], limit: 9, leaseMs: 1 });
    expect(jobs).toMatchObject([{ payload: { id: ADDED, lakeId: LAKE } }]);
  });

  it('fails if it can no longer be read by the user who added it', async () => {
    const { run, getState, incidents } = await openIngestion({ file: { ownerId: 'bob' } });
    expect(await run()).toBeUndefined();
    const error = 'The file can no longer be read.';
    expect(await getState()).toMatchObject({ status: 'failed', error, tries: 1 });
    expect(incidents).toEqual([]);
  });
});

describe('the model of a lake', () => {
  const OTHER = { ...VECTORS, id: 'other' };

  it('is that of the first ingested file', async () => {
    const lake = { embeddingModel: 'other' };
    const { run, requests, lakes } = await openIngestion({ models: [VECTORS, OTHER], lake });
    await run();
    expect(requests.map(({ model }) => model)).toEqual(['other']);
    expect((await lakes.get(LAKE))?.embeddingModel).toBe('other');
  });

  it('is one for two first files', async () => {
    const opened: Awaited<ReturnType<typeof openIngestion>> = await openIngestion({
      models: [VECTORS, OTHER],
      change: ({ adminSettings }) => ({
        adminSettings: {
          ...adminSettings,
          async current() {
            // Another worker chooses meanwhile.
            await opened?.lakes.update(LAKE, { embeddingModel: 'other' });
            return adminSettings.current();
          },
        },
      }),
    });
    await opened.run();
    expect(opened.requests.map(({ model }) => model)).toEqual(['other']);
    expect((await opened.lakes.get(LAKE))?.embeddingModel).toBe('other');
  });

  it('is that of the settings for a new lake', async () => {
    const models = [VECTORS, OTHER];
    const { run, requests } = await openIngestion({
      models,
      change: () => ({ lakeEmbeddingModel: 'other' }),
    });
    await run();
    expect(requests.map(({ model }) => model)).toEqual(['other']);
  });

  it('has a price while credits are enforced', async () => {
    const { prices: _, ...unpriced } = VECTORS;
    const { run, getState } = await openIngestion({
      models: [unpriced],
      change: ({ adminSettings }) => ({
        adminSettings: { ...adminSettings, current: async () => adminSettings.current() },
      }),
    });
    expect(await run()).toBeUndefined();
    expect(await getState()).toMatchObject({ status: 'paused', tries: 1 });
  });

  it('is missed without one', async () => {
    const { run, getState } = await openIngestion({ models: [] });
    expect(await run()).toBeUndefined();
    const deleted = await openIngestion({ models: [], file: null });
    await deleted.run();
    expect((await deleted.getState()).status).toBe('paused');
    const error = 'No embedding model is configured.';
    expect(await getState()).toMatchObject({ status: 'paused', error, tries: 1 });
  });

  it('is missed if it was taken away', async () => {
    const { run, getState } = await openIngestion({ lake: { embeddingModel: toId(7) } });
    expect(await run()).toBeUndefined();
    expect(await getState()).toMatchObject({
      status: 'paused',
      error: expect.stringContaining(toId(7)) as string,
    });
  });
});
