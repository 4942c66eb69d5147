import { describe, expect, it } from 'vitest';
import { openIngestion } from '../../../test/lake-ingestion.ts';
import { ProviderError, type ProviderErrorKind } from '../../ports/models.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ReadOutcome } from '../files/documents.ts';

const cause = new Error('why');

describe('a file that is not read', () => {
  it.each<[ReadOutcome, string, unknown]>([
    [{ status: 'gone' }, 'The file can no longer be read.', undefined],
    [{ status: 'unsupported' }, 'Text extraction does not support files of the type text/plain.', undefined],
    [{ status: 'refused', reason: 'it is deep', cause }, 'The file could not be read: it is deep.', cause],
    [{ status: 'refused', reason: 'it is deep' }, 'The file could not be read: it is deep.', undefined],
    [{ status: 'unreadable', cause }, 'The file could not be read as text/plain.', cause],
    [{ status: 'read', text: ' ... ' }, 'The file contains no text.', undefined],
  ])('fails with a reason: %j', async (outcome, error, reported) => {
    const { run, getState, incidents, requests } = await openIngestion({ outcome });
    expect(await run()).toBeUndefined();
    expect(await getState()).toMatchObject({ status: 'failed', error, tries: 1 });
    const operation = 'job:data-lakes.ingest';
    expect(incidents).toEqual(reported === undefined ? [] : [{ operation, requestId: 'r', error: reported }]);
    expect(requests).toEqual([]);
  });

  it('waits for a slot', async () => {
    const { run, getState } = await openIngestion({ outcome: { status: 'busy' } });
    expect(await run()).toEqual({ afterMs: 1000, countAttempt: false });
    expect(await getState()).toMatchObject({ status: 'indexing', tries: 0 });
  });

  it('is tried again by its job', async () => {
    const { run, getState } = await openIngestion({ outcome: { status: 'unavailable', cause } });
    await expect(run()).rejects.toBe(cause);
    expect(await getState()).toMatchObject({ status: 'indexing', tries: 0 });
    const other = await openIngestion({ outcome: { status: 'unavailable', cause: 'why' } });
    await expect(other.run()).rejects.toThrow('no document can be read');
  });

  it('has at most 100 MiB', async () => {
    const limits: unknown[] = [];
    const { run } = await openIngestion({
      change: ({ library }) => ({
        library: {
          ...library,
          read(userId, id, limit, options) {
            limits.push([userId, limit, options]);
            return library.read(userId, id, limit, options);
          },
        },
      }),
    });
    const { signal } = new AbortController();
    await run(1, signal);
    expect(limits).toEqual([['ada', 100 * 2 ** 20, { signal }]]);
  });
});

describe('a model that fails', () => {
  const fail = (kind: ProviderErrorKind, retryAfterMs?: number) =>
    openIngestion({
      embed: () =>
        Promise.reject(new ProviderError(kind, 'why', retryAfterMs === undefined ? {} : { retryAfterMs })),
    });

  it.each([
    ['invalid_request', 'failed', 'The embedding model rejected the text of this file.'],
    ['context_length', 'failed', 'The embedding model rejected the text of this file.'],
    ['content_blocked', 'failed', 'The embedding model rejected the text of this file.'],
    ['rejected_key', 'paused', 'No configured key gives access to the embedding model.'],
    ['not_configured', 'paused', 'No configured key gives access to the embedding model.'],
  ] as const)('for a reason that stays stops the file: %s', async (kind, status, error) => {
    const { run, getState, incidents, money } = await fail(kind);
    expect(await run()).toBeUndefined();
    expect(await getState()).toMatchObject({ status, error, tries: 1 });
    expect(incidents).toMatchObject([
      { operation: 'job:data-lakes.ingest', requestId: 'r', error: { kind } },
    ]);
    expect(await money()).toEqual({ charged: 0, held: 0 });
  });

  it.each(['overloaded', 'timeout', 'failed', 'malformed_answer'] as const)(
    'for a time is asked again, four times: %s',
    async (kind) => {
      const { run, getState } = await fail(kind);
      for (const [index, afterMs] of [2000, 10_000, 60_000, 300_000].entries()) {
        expect(await run(index + 1)).toEqual({ afterMs, countAttempt: true });
        expect(await getState()).toMatchObject({ status: 'indexing', error: undefined, tries: index + 1 });
      }
      expect(await run(5)).toBeUndefined();
      const error = 'The embedding model did not respond.';
      expect(await getState()).toMatchObject({ status: 'paused', error, tries: 5 });
    },
  );

  it('is asked again after the time that it names', async () => {
    expect(await (await fail('overloaded', 5000)).run()).toEqual({ afterMs: 5000, countAttempt: true });
    expect(await (await fail('overloaded', 1000)).run()).toEqual({ afterMs: 2000, countAttempt: true });
  });

  it('without a vector for a text rejects the file', async () => {
    const embed = async () => ({ embeddings: [[0, 0]], tokens: 1 });
    const { run, getState, countChunks, money } = await openIngestion({ embed });
    await run();
    expect(await getState()).toMatchObject({ status: 'failed' });
    expect([await countChunks(), await money()]).toEqual([0, { charged: 0, held: 0 }]);
  });

  it('without a vector for one of the texts rejects the file', async () => {
    const text = Array.from({ length: 2 }, (_, at) => `${`word${at} `.repeat(250)}end.`).join('\n');
    const embed = async ({ inputs }: { readonly inputs: readonly string[] }) => ({
      ...{ embeddings: inputs.map((_, at) => [at, 0]), tokens: 1 },
    });
    const { run, getState, countChunks } = await openIngestion({ embed, outcome: { status: 'read', text } });
    await run();
    expect([(await getState()).status, await countChunks()]).toEqual(['failed', 0]);
  });

  it('waits for credit', async () => {
    const { run, getState, incidents } = await openIngestion({ credit: 0 });
    expect(await run()).toBeUndefined();
    const error = expect.stringContaining('Insufficient credits') as string;
    expect(await getState()).toMatchObject({ status: 'paused', error, tries: 1 });
    expect(incidents).toEqual([]);
  });
});

describe('an interrupted ingestion', () => {
  it('rejects, and counts no try', async () => {
    const stop = new AbortController();
    const { run, getState } = await openIngestion({
      embed: async () => {
        stop.abort(new Error('shut down'));
        throw new ProviderError('failed', 'aborted');
      },
    });
    await expect(run(1, stop.signal)).rejects.toThrow();
    expect(await getState()).toMatchObject({ status: 'indexing', tries: 0 });
  });

  it('stops no file for a reason of its end', async () => {
    const stop = new AbortController();
    const read = async () => {
      stop.abort(new Error('shut down'));
      return undefined;
    };
    const { run, getState } = await openIngestion({
      outcome: { status: 'unreadable', cause },
      change: ({ library }) => ({ library: { ...library, read } }),
    });
    await expect(run(1, stop.signal)).rejects.toThrow('could not be read');
    expect(await getState()).toMatchObject({ status: 'indexing', tries: 0 });
  });

  it('cuts no further text', async () => {
    const stop = new AbortController();
    const read = async () => {
      stop.abort(new Error('shut down'));
      return undefined;
    };
    const { run, getState } = await openIngestion({
      outcome: { status: 'read', text: `${'字'.repeat(399)}。`.repeat(100) },
      change: ({ library }) => ({ library: { ...library, read } }),
    });
    await expect(run(1, stop.signal)).rejects.toThrow('shut down');
    expect(await getState()).toMatchObject({ status: 'indexing', chunkCount: 0 });
  });

  it('asks for no further batch', async () => {
    const { run, requests } = await openIngestion();
    await expect(run(1, AbortSignal.abort(new Error('shut down')))).rejects.toThrow('shut down');
    expect(requests).toEqual([]);
  });

  it.each([
    ['of another status', new ApiError(503, 'away')],
    ['of another kind', Object.assign(new Error('away'), { status: 422 })],
  ])('rejects with an error %s', async (_, error) => {
    const { run, getState } = await openIngestion({
      change: ({ adminSettings }) => ({
        adminSettings: { ...adminSettings, current: () => Promise.reject(error) },
      }),
    });
    await expect(run()).rejects.toThrow('away');
    expect((await getState()).status).toBe('indexing');
  });

  it('rejects with other failures', async () => {
    const { run, getState } = await openIngestion({
      vectors: () => ({ upsert: () => Promise.reject(new Error('the index is away')) }),
    });
    await expect(run()).rejects.toThrow('the index is away');
    expect(await getState()).toMatchObject({ status: 'indexing', tries: 0 });
  });
});
