import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { openIngestion } from '../../../test/lake-ingestion.ts';
import { ADDED, FILE, LAKE } from '../../../test/lakes.ts';

const READY = { status: 'ready', error: undefined, chunkCount: 1, vectorizedCount: 1, tries: 0 };
/** Of two sentences that fill a chunk each. */
const makeText = (chunks: number) =>
  Array.from({ length: chunks }, (_, at) => `${`word${at} `.repeat(250)}end. `).join('\n');

describe('the ingestion of a file', () => {
  it('stores its chunks with their tags, and charges for them', async () => {
    const { services, handler, lakeFiles, clock, run, reads, getState, vectors, lakes, requests, money } =
      await openIngestion();
    await clock.advance(5);
    const { signal } = new AbortController();
    expect(await run(1, signal)).toBeUndefined();
    expect((await lakes.get(LAKE))?.lastSyncAt).toBe(clock.now());
    expect(await getState()).toEqual(READY);
    expect(reads).toEqual([{ id: FILE, owner: 'ada', waits: false, signal }, Buffer.from('hello')]);
    expect(requests.map(({ inputs }) => inputs)).toEqual([['Some words.']]);
    const scope = { lakeIds: [LAKE] };
    const vector = [1, 11];
    const about = { id: `${ADDED}:0`, lakeId: LAKE, fileId: ADDED, place: 0, text: 'Some words.' };
    const near = await vectors.nearest({ scope, vector, limit: 9 });
    expect(near).toMatchObject([{ ...about, tags: ['datalake:papers', 'a'] }]);
    expect(near[0]?.score).toBeCloseTo(1);
    expect(await vectors.matching({ scope, vector, words: ['words'], limit: 9 })).toHaveLength(1);
    const charges = await services.ledger.charges({ account: 'user:ada' }, 9);
    expect(charges).toMatchObject([{ operation: 'addDataLakeFile', requestId: 'r', model: 'vectors' }]);
    expect([handler.kind, handler.concurrency]).toEqual(['data-lakes.ingest', 4]);
    expect((await lakeFiles.get(ADDED))?.updatedAt).toBe(clock.now());
    expect(await lakes.get(LAKE)).toMatchObject({ embeddingModel: 'vectors', lastSyncAt: clock.now() });
    expect(await money()).toEqual({ charged: 100, held: 0 });
  });

  it('stores long texts batch by batch', async () => {
    const outcome = { status: 'read', text: makeText(65) } as const;
    const { run, getState, countChunks, requests, vectors } = await openIngestion({ outcome });
    await run();
    const { chunkCount = 0 } = await getState();
    expect(chunkCount).toBeGreaterThan(64);
    expect(await countChunks()).toBe(chunkCount);
    expect(requests.map(({ inputs }) => inputs.length)).toEqual([64, chunkCount - 64]);
    const all = await vectors.nearest({ scope: { lakeIds: [LAKE] }, vector: [1, 1], limit: 999 });
    const places = all.map(({ place }) => place).sort((a, b) => a - b);
    expect(places).toEqual(Array.from({ length: chunkCount }, (_, at) => at));
    expect(all.every(({ id, place }) => id === `${ADDED}:${place}`)).toBe(true);
  });

  it('goes on behind the chunks that are stored', async () => {
    const outcome = { status: 'read', text: makeText(65) } as const;
    const first = await openIngestion({ outcome });
    await first.run();
    const { chunkCount } = await first.getState();
    const { run, getState, requests } = await openIngestion({
      ...{ outcome, lakeFile: { chunkCount, vectorizedCount: 64 } as never },
    });
    await run();
    expect(requests.map(({ inputs }) => inputs.length)).toEqual([(chunkCount ?? 0) - 64]);
    expect(await getState()).toMatchObject({ status: 'ready', vectorizedCount: chunkCount });
  });

  it('begins anew if the text is cut in another way', async () => {
    const removed: unknown[] = [];
    const { run, getState, requests } = await openIngestion({
      lakeFile: { chunkCount: 3, vectorizedCount: 1, error: 'before' },
      vectors: () => ({ remove: async (group) => void removed.push(group) }),
    });
    await run();
    expect(removed).toEqual([{ lakeId: LAKE, fileId: ADDED }]);
    expect([await getState(), requests.length]).toEqual([READY, 1]);
    const slow = await openIngestion({
      lakeFile: { chunkCount: 3, vectorizedCount: 1 },
      vectors: ({ remove }) => ({
        async remove(group) {
          for (let round = 0; round < 9; round += 1) await settle();
          await remove(group);
        },
      }),
    });
    await slow.run();
    for (let round = 0; round < 12; round += 1) await settle();
    expect(await slow.countChunks()).toBe(1);
    const fresh = await openIngestion({
      vectors: () => ({ remove: () => Promise.reject(new Error('nothing to remove')) }),
    });
    await fresh.run();
    expect(await fresh.getState()).toEqual(READY);
  });

  it('keeps at most 50 distinct tags', async () => {
    const tags = ['a', 'a', ...Array.from({ length: 60 }, (_, at) => `t${at}`)];
    const { run, vectors } = await openIngestion({ outcome: { status: 'read', text: 'Some words.', tags } });
    await run();
    const [one] = await vectors.nearest({ scope: { lakeIds: [LAKE] }, vector: [1, 1], limit: 1 });
    expect(one?.tags).toEqual(['datalake:papers', 'a', ...tags.slice(2, 50)]);
  });

  it('charges each batch under a key of its own, and of each try', async () => {
    const keys: string[] = [];
    const { run } = await openIngestion({
      lakeFile: { tries: 2 },
      outcome: { status: 'read', text: makeText(65) },
      change: ({ ledger }) => ({
        ledger: {
          ...ledger,
          hold(request) {
            keys.push(request.key);
            expect(request).toMatchObject({ account: 'user:ada' });
            return ledger.hold(request);
          },
        },
      }),
    });
    await run();
    expect(keys).toEqual([`lake:${ADDED}:0:2`, `lake:${ADDED}:64:2`]);
  });

  it('is charged to callers whose models were limited since', async () => {
    const modelLists = [{ source: 'key', models: ['other'] }] as const;
    const payer = { account: 'user:ada', userId: 'ada', modelLists };
    const callers: unknown[] = [];
    const { run, getState, money } = await openIngestion({
      lakeFile: { payer },
      change: ({ adminSettings, breaker }) => ({
        adminSettings: { ...adminSettings, current: async () => adminSettings.current() },
        breaker: {
          ...breaker,
          call(circuit, ...given) {
            callers.push(circuit.callerId);
            return breaker.call(circuit, ...given);
          },
        },
      }),
    });
    await run();
    expect([await getState(), await money()]).toEqual([READY, { charged: 100, held: 0 }]);
    // A text of one caller that makes a provider fail is no outage for others.
    expect(callers).toEqual(['user:ada']);
  });

  it('is repeated if it cannot be charged', async () => {
    const { run, getState } = await openIngestion({
      change: ({ ledger }) => ({ ledger: { ...ledger, settle: () => Promise.reject(new Error('away')) } }),
    });
    await expect(run()).rejects.toThrow('away');
    expect(await getState()).toMatchObject({ status: 'indexing', vectorizedCount: 0, tries: 0 });
  });

  it.each(['paused', 'ready', 'failed'] as const)('leaves a %s file as it is', async (status) => {
    const { run, getState, reads } = await openIngestion({ lakeFile: { status } });
    expect(await run()).toBeUndefined();
    expect([(await getState()).status, reads]).toEqual([status, []]);
  });

  it('leaves a lake that is being deleted', async () => {
    const { run, getState, reads } = await openIngestion({ lake: { status: 'deleting' } });
    expect(await run()).toBeUndefined();
    expect([(await getState()).status, reads]).toEqual(['indexing', []]);
  });

  it('waits for an archived lake', async () => {
    const { run, getState, reads, incidents } = await openIngestion({ lake: { status: 'archived' } });
    expect(await run()).toBeUndefined();
    expect(await getState()).toMatchObject({
      status: 'paused',
      error: 'The data lake is archived.',
      tries: 1,
    });
    expect([reads, incidents]).toEqual([[], []]);
  });
});
