import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { FREE, HELD, ID, openGeneration } from '../../../test/generations.ts';
import { JobInterrupted } from '../../jobs/interruption.ts';
import { ProviderError } from '../../ports/models.ts';

const RUNNING = { state: 'running', step: 'submitted', submittedBy: 'j:1', providerJobId: 'job-1' } as const;

describe('the job of a generation', () => {
  it('has a lease of one poll', async () => {
    const lease = async (pollMs: number, leaseMs = 60_000) => {
      const settings = { generations: { pollMs, maxMs: 1000 }, worker: { leaseMs } };
      const { handler } = await openGeneration({ settings });
      return [handler.kind, handler.concurrency, handler.leaseMs];
    };
    expect(await lease(5000)).toEqual(['video-generation', 32, 5000]);
    expect(await lease(100)).toEqual(['video-generation', 32, 1000]);
    expect(await lease(90_000)).toEqual(['video-generation', 32, 60_000]);
  });

  it('does nothing for a generation without held credit, or one that is gone', async () => {
    const { run, generations, names } = await openGeneration({ record: { state: 'reserving' } });
    expect(await run()).toBeUndefined();
    await generations.take(ID);
    expect(await run()).toBeUndefined();
    expect(names()).toEqual([]);
  });

  it.each(['failed', 'blocked', 'succeeded'] as const)(
    'releases what a %s generation left',
    async (state) => {
      const { run, names, money } = await openGeneration({ record: { ...RUNNING, state } });
      expect(await run()).toBeUndefined();
      expect([names(), await money()]).toEqual([[], state === 'succeeded' ? HELD : FREE]);
    },
  );

  it.each([
    ['stopping', { afterMs: 0, countAttempt: false }],
    ['lease-lost', undefined],
  ] as const)('is given back when its process is %s', async (reason, end) => {
    const stop = new AbortController();
    const { run, get, incidents } = await openGeneration({
      record: RUNNING,
      jobs: {
        async poll() {
          stop.abort(new JobInterrupted(reason));
          throw new ProviderError('failed', 'aborted');
        },
      },
    });
    expect(await run(stop.signal)).toEqual(end);
    expect([(await get()).state, incidents]).toEqual(['running', []]);
  });

  it('ends when its generation is cancelled', async () => {
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      record: RUNNING,
      jobs: {
        async poll() {
          await opened.generations.update(ID, { state: 'cancelled' });
          opened.running.stop(ID);
          throw new ProviderError('failed', 'aborted');
        },
      },
    });
    expect(await opened.run()).toBeUndefined();
    expect([opened.names(), await opened.money()]).toEqual([['cancel'], FREE]);
    // It no longer listens.
    expect(() => opened.running.stop(ID)).not.toThrow();
  });

  it('leaves no listener at the signal of its worker', async () => {
    const { signal } = new AbortController();
    const { run } = await openGeneration({ record: RUNNING });
    await run(signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects with other errors', async () => {
    const { run } = await openGeneration({
      record: { ...RUNNING, state: 'storing', step: 'made' },
      jobs: { fetch: () => Promise.reject(new TypeError('broken')) },
    });
    await expect(run()).rejects.toThrow('broken');
  });
});
