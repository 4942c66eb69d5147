import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { CHARGED, changeStored, FREE, HELD, ID, openGeneration, POLL } from '../../../test/generations.ts';
import type { Services } from '../../app/services.ts';
import type { MediaJobStatus } from '../../ports/media.ts';
import { ProviderError } from '../../ports/models.ts';

const RUNNING = { state: 'running', step: 'submitted', submittedBy: 'j:1', providerJobId: 'job-1' } as const;
const open = (status: MediaJobStatus, more: object = {}) =>
  openGeneration({ record: RUNNING, status, ...more });
const failing = (error: unknown) =>
  openGeneration({ record: RUNNING, jobs: { poll: () => Promise.reject(error) } });

describe('a poll', () => {
  it('of work in progress is followed by another', async () => {
    const { run, get, calls, money } = await open({ state: 'running' });
    expect(await run()).toEqual(POLL);
    expect([calls, await money()]).toEqual([[['poll', 'job-1']], HELD]);
    expect((await get()).progress).toBeUndefined();
  });

  it.each([
    [0.5, 0.5],
    [-1, 0],
    [2, 1],
    [Number.NaN, undefined],
  ])('notes a progress of %s', async (progress, noted) => {
    const { clock, run, get } = await open({ state: 'running', progress });
    await clock.advance(7);
    expect(await run()).toEqual(POLL);
    const { progress: known, updatedAt, createdAt } = await get();
    expect([known, updatedAt - createdAt]).toEqual([noted, noted === undefined ? 0 : 7]);
    await clock.advance(7);
    await run();
    expect((await get()).updatedAt).toBe(updatedAt);
  });

  it('keeps the progress that a provider names no more', async () => {
    const { run, get } = await open({ state: 'running' }, { record: { ...RUNNING, progress: 0.5 } });
    expect(await run()).toEqual(POLL);
    expect((await get()).progress).toBe(0.5);
  });

  it('stores a result, and charges for it', async () => {
    const { clock, run, get, names, money, published } = await open({ state: 'done', output: 'x' });
    await clock.advance(7);
    expect(await run()).toBeUndefined();
    expect(await get()).toMatchObject({ state: 'succeeded', step: 'kept', result: 'x', settled: 8_000_000 });
    expect((await get()).updatedAt).toBe(clock.now());
    expect((await get()).nextCheckAt).toBeUndefined();
    expect([names(), await money(), published]).toEqual([['poll', 'fetch'], CHARGED, [['ended', ID]]]);
  });

  it('notes a result before it is fetched, and each stage of its storage', async () => {
    const seen: unknown[] = [];
    const opened: Awaited<ReturnType<typeof openGeneration>> = await open(
      { state: 'done', output: 'x' },
      {
        jobs: {
          async fetch() {
            await look();
            const body = (async function* () {
              yield Buffer.from('hello');
            })();
            return { mediaType: 'video/mp4', body };
          },
        },
        change: ({ ledger }: Services) => ({
          ledger: {
            ...ledger,
            async settle(...given: Parameters<typeof ledger.settle>) {
              await look();
              return ledger.settle(...given);
            },
          },
        }),
      },
    );
    const look = async () => {
      const { state, step, updatedAt } = await opened.get();
      seen.push([state, step, opened.clock.now() - updatedAt]);
      await opened.clock.advance(7);
    };
    await opened.clock.advance(7);
    await opened.run();
    await look();
    expect(seen).toEqual([
      ['storing', 'made', 0],
      ['storing', 'kept', 0],
      ['succeeded', 'kept', 0],
    ]);
  });

  it.each([
    [4, 4_000_000, 4],
    [9, 8_000_000, 9],
    [1, 1_000_000, 1],
    [0, 8_000_000, undefined],
  ])('charges for a result of %i seconds', async (durationSeconds, charged, resultSeconds) => {
    const { run, get, money } = await open({ state: 'done', output: 'x', durationSeconds });
    await run();
    expect(await money()).toEqual({ charged, held: 0 });
    expect((await get()).resultSeconds).toBe(resultSeconds);
  });

  it.each([
    ['failed', 'provider_error', 'The model provider could not generate it.'],
    ['blocked', 'content_blocked', "The model provider's safety rules blocked this."],
  ] as const)('ends work that the provider reports as %s', async (state, code, message) => {
    const { run, get, incidents, money } = await open({ state, message: 'secret' });
    expect(await run()).toBeUndefined();
    expect(await get()).toMatchObject({ state, error: { code, message } });
    expect(incidents).toMatchObject([{ operation: 'job:video-generation', requestId: 'r' }]);
    expect(String(incidents[0]?.error)).toContain('videos: secret');
    expect(await money()).toEqual(FREE);
  });

  it.each([
    ['a provider that is away', new ProviderError('failed', 'x')],
    ['work that is not visible yet', new ProviderError('invalid_request', 'x', { status: 404 })],
    ['another error', new TypeError('x')],
  ])('is repeated after %s', async (_, error) => {
    const { run, get, incidents } = await failing(error);
    expect(await run()).toEqual(POLL);
    expect((await get()).state).toBe('running');
    expect(incidents).toHaveLength(1);
  });

  it.each([
    [new ProviderError('content_blocked', 'x'), 'blocked', 'content_blocked'],
    [new ProviderError('invalid_request', 'x', { status: 400 }), 'failed', 'invalid_request'],
    [new ProviderError('invalid_request', 'x'), 'failed', 'invalid_request'],
  ] as const)('that is refused for good ends the work: %s', async (error, state, code) => {
    const { run, get, money } = await failing(error);
    expect(await run()).toBeUndefined();
    expect([await get(), await money()]).toMatchObject([{ state, error: { code } }, FREE]);
  });

  it('ends after a minute', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { clock, run } = await openGeneration({
      record: RUNNING,
      jobs: {
        poll(_id, { signal }) {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    });
    let isOver = false;
    const running = run().finally(() => {
      isOver = true;
    });
    await settle();
    await clock.advance(59_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await running).toEqual(POLL);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  it('is made for an hour, and then the work ends', async () => {
    const { clock, run, get, names, money } = await open({ state: 'waiting' }, { record: { ...RUNNING } });
    await clock.advance(3_599_999);
    expect(await run()).toEqual(POLL);
    await clock.advance(1);
    expect(await run()).toBeUndefined();
    const message = 'The model provider timed out.';
    expect(await get()).toMatchObject({ state: 'failed', error: { code: 'provider_timeout', message } });
    expect([names(), await money()]).toEqual([['poll', 'poll', 'cancel'], FREE]);
  });

  it('that ends the work by its time cancels it at a provider after that is noted', async () => {
    const { clock, run, names } = await open(
      { state: 'waiting' },
      {
        change: ({ store }: Services) => ({
          store: changeStored(store, ({ update }) => ({
            async update(...given) {
              await settle();
              return update(...given);
            },
          })),
        }),
      },
    );
    await clock.advance(3_600_000);
    await run();
    expect(names()).toEqual(['poll', 'cancel']);
  });

  it('counts the hour from the submission', async () => {
    const { clock, run, record, generations } = await open({ state: 'waiting' });
    await generations.update(ID, { submittedAt: record.createdAt + 10 });
    await clock.advance(3_600_009);
    expect(await run()).toEqual(POLL);
    await clock.advance(1);
    expect(await run()).toBeUndefined();
  });

  it.each([{ provider: 'other' }, { providerJobId: undefined as never }])(
    'needs its provider: %j',
    async (more) => {
      const { run, get, names } = await openGeneration({ record: { ...RUNNING, ...more } });
      expect(await run()).toBeUndefined();
      expect([await get(), names()]).toMatchObject([
        { state: 'failed', error: { code: 'model_unavailable' } },
        [],
      ]);
    },
  );

  it.each<MediaJobStatus>([
    { state: 'running', progress: 0.5 },
    { state: 'done', output: 'x' },
    { state: 'failed', message: 'x' },
  ])('changes nothing of a generation that is cancelled meanwhile: %j', async (status) => {
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      record: RUNNING,
      jobs: {
        async poll() {
          await opened.generations.update(ID, { state: 'cancelled' });
          return status;
        },
      },
    });
    expect(await opened.run()).toBeUndefined();
    expect((await opened.get()).state).toBe('cancelled');
    expect(opened.names()).toEqual(status.state === 'failed' ? [] : ['cancel']);
  });
});
