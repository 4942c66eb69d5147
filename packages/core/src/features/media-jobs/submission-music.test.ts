import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { FREE, HELD, openGeneration } from '../../../test/generations.ts';
import { JobInterrupted } from '../../jobs/interruption.ts';
import { type ModelProvider, ProviderError } from '../../ports/models.ts';

describe('music of one long call', () => {
  const data = Buffer.from('ID3 a song');
  const SONG = { record: { kind: 'music', model: 'composer', providerModel: 'composer' } } as const;
  const input = { prompt: 'a waltz', durationSeconds: 8, instrumental: true, format: 'mp3' } as const;
  type Music = NonNullable<ModelProvider['music']>;
  const open = (music: Music, record: object = {}) =>
    openGeneration({
      provider: { musicJobs: undefined, music } as never,
      record: { ...SONG.record, input, ...record },
    });

  it('is stored and charged', async () => {
    const given: unknown[] = [];
    const { run, get, money, own } = await open(async (request) => {
      given.push(request);
      return { mediaType: 'audio/mpeg', data };
    });
    expect(await run()).toBeUndefined();
    const { file, ...record } = await get();
    expect(record).toMatchObject({ state: 'succeeded', step: 'kept', settled: 8_000_000 });
    expect(file?.mimeType).toBe('audio/mpeg');
    expect((await own.library.get('ada', file?.id ?? ''))?.name).toBe('music-aaaaaa.mp3');
    expect(await money()).toEqual({ charged: 8_000_000, held: 0 });
    const about = { model: 'composer', prompt: 'a waltz', format: 'mp3', instrumental: true };
    expect(given).toEqual([{ ...about, lengthMs: 8000 }]);
  });

  it('fails without a charge if it is refused, and after its maximum time', async () => {
    const refused = await open(() => Promise.reject(new ProviderError('failed', 'secret')));
    expect(await refused.run()).toBeUndefined();
    expect([(await refused.get()).state, await refused.money()]).toEqual(['failed', FREE]);
    const signals: (AbortSignal | undefined)[] = [];
    const slow = await open((_request, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    const running = slow.run();
    await settle();
    await slow.clock.advance(3_600_000);
    await running;
    expect(await slow.get()).toMatchObject({ state: 'failed', error: { code: 'provider_timeout' } });
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  it('is charged what its provider reports', async () => {
    const { run, money } = await open(async () => ({
      ...{ mediaType: 'audio/mpeg', data, usage: { seconds: 3 } },
    }));
    await run();
    expect(await money()).toEqual({ charged: 3_000_000, held: 0 });
  });

  it.each([
    ['file_too_large', 'output_too_large'],
    ['storage_limit', 'limit_exceeded'],
    ['error', 'provider_error'],
  ] as const)('that cannot be stored is free: %s', async (skipped, code) => {
    const seen: unknown[] = [];
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      provider: {
        musicJobs: undefined,
        music: async () => {
          await opened.clock.advance(7);
          return { mediaType: 'audio/mpeg', data };
        },
      } as never,
      record: { ...SONG.record, input },
      change: ({ library }) => ({
        library: {
          ...library,
          async save() {
            const { state, updatedAt } = await opened.get();
            seen.push([state, opened.clock.now() - updatedAt]);
            return { skipped };
          },
        },
      }),
    });
    expect(await opened.run()).toBeUndefined();
    expect(await opened.get()).toMatchObject({ state: 'failed', error: { code } });
    expect([seen, await opened.money()]).toEqual([[['storing', 0]], FREE]);
  });

  it('is charged if it is cancelled meanwhile', async () => {
    const opened: Awaited<ReturnType<typeof openGeneration>> = await open(async () => {
      await opened.generations.update(opened.record.id, { state: 'cancelled' });
      return { mediaType: 'audio/mpeg', data, usage: { seconds: 3 } };
    });
    expect(await opened.run()).toBeUndefined();
    const due = { amount: 3_000_000, usage: { seconds: 3, bytes: data.length } };
    expect(await opened.get()).toMatchObject({ state: 'cancelled', due, settled: 3_000_000 });
    expect(await opened.money()).toEqual({ charged: 3_000_000, held: 0 });
  });

  it.each(['stopping', 'lease-lost'] as const)(
    'is not repeated after an interruption: %s',
    async (reason) => {
      const stop = new AbortController();
      const { run, get, money } = await open((_request, { signal }) => {
        const ended = new Promise<never>((_, reject) => {
          signal?.addEventListener('abort', () => reject(new ProviderError('failed', 'aborted')));
        });
        stop.abort(new JobInterrupted(reason));
        return ended;
      });
      expect(await run(stop.signal)).toBeUndefined();
      const isLost = reason === 'lease-lost';
      expect([(await get()).state, await money()]).toEqual(isLost ? ['running', HELD] : ['failed', FREE]);
    },
  );
});
