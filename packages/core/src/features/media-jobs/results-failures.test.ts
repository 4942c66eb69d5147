import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { FREE, HELD, ID, openGeneration, VIDEO_INPUT } from '../../../test/generations.ts';
import { ProviderError } from '../../ports/models.ts';
import { FILE_USAGE } from '../files/records.ts';

const MADE = { state: 'storing', step: 'made', result: 'x', providerJobId: 'job-1' } as const;
const open = (options: Parameters<typeof openGeneration>[0] = {}) =>
  openGeneration({ ...options, record: { ...MADE, ...options.record } });
const failing = (error: unknown) => open({ jobs: { fetch: () => Promise.reject(error) } });

describe('a result that is not stored', () => {
  it.each([
    ['file_too_large', 'output_too_large', 'The result exceeds the maximum file size.'],
    ['storage_limit', 'limit_exceeded', 'The storage quota for your files is used up.'],
  ] as const)('that cannot be stored is free: %s', async (skipped, code, message) => {
    const { run, get, money } = await open({
      change: ({ library }) => ({ library: { ...library, save: async () => ({ skipped }) } }),
    });
    expect(await run()).toBeUndefined();
    expect([await get(), await money()]).toMatchObject([{ state: 'failed', error: { code, message } }, FREE]);
  });

  it('is fetched five times, with growing pauses', async () => {
    const { clock, run, get, incidents, money } = await failing(new ProviderError('failed', 'x'));
    for (const [index, afterMs] of [5000, 10_000, 20_000, 40_000].entries()) {
      await clock.advance(1);
      expect(await run()).toEqual({ afterMs, countAttempt: false });
      const { state, failures, updatedAt } = await get();
      expect([state, failures, updatedAt]).toEqual(['storing', index + 1, clock.now()]);
    }
    expect(await money()).toEqual(HELD);
    expect(await run()).toBeUndefined();
    const message = 'The result could not be fetched or stored.';
    expect(await get()).toMatchObject({ state: 'failed', error: { code: 'provider_error', message } });
    expect([incidents.length > 0, await money()]).toEqual([true, FREE]);
  });

  it('is fetched again if it could not be stored', async () => {
    const { run, get } = await open({
      change: ({ library }) => ({
        library: { ...library, save: async () => ({ skipped: 'error' as const }) },
      }),
    });
    expect(await run()).toEqual({ afterMs: 5000, countAttempt: false });
    expect((await get()).failures).toBe(1);
  });

  it('is fetched for 15 minutes', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { clock, run } = await open({
      jobs: {
        fetch(_output, { signal }) {
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
    await clock.advance(15 * 60_000 - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await running).toEqual({ afterMs: 5000, countAttempt: false });
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  it('that is blocked ends without a charge', async () => {
    const { run, get, money } = await failing(new ProviderError('content_blocked', 'x'));
    expect(await run()).toBeUndefined();
    expect([(await get()).state, await money()]).toEqual(['blocked', FREE]);
  });

  it('without its provider is lost', async () => {
    const { run, get, names } = await open({ record: { ...MADE, provider: 'other' } });
    expect(await run()).toBeUndefined();
    expect([await get(), names()]).toMatchObject([
      { state: 'failed', error: { code: 'model_unavailable' } },
      [],
    ]);
  });

  it.each(['kept', 'failed'] as const)('changes nothing that is over meanwhile: %s', async (kind) => {
    const opened: Awaited<ReturnType<typeof openGeneration>> = await open({
      jobs: {
        async fetch() {
          await opened.generations.update(ID, kind === 'kept' ? { step: 'kept' } : { state: 'failed' });
          if (kind === 'failed') throw new ProviderError('failed', 'x');
          const body = (async function* () {
            yield Buffer.from('hello');
          })();
          return { mediaType: 'video/mp4', body };
        },
      },
    });
    expect(await opened.run()).toBeUndefined();
    const { state, step, failures } = await opened.get();
    expect([state, step, failures]).toEqual([
      kind === 'kept' ? 'storing' : 'failed',
      kind === 'kept' ? 'kept' : 'made',
      undefined,
    ]);
    expect(await opened.money()).toEqual(kind === 'kept' ? HELD : FREE);
  });

  it('is not fetched at all by the end of a process', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    const { run, get, names } = await open();
    expect(await run(signal)).toBeUndefined();
    expect([(await get()).state, names()]).toEqual(['storing', []]);
  });

  it('needs room for its bytes', async () => {
    const { run, own, get } = await open({ record: { ...MADE, input: VIDEO_INPUT } });
    await own.store.collection(FILE_USAGE).insert({ id: 'ada', bytes: 10 * 2 ** 30 });
    await run();
    expect((await get()).error?.code).toBe('limit_exceeded');
  });
});
