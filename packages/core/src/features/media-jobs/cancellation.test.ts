import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import {
  changeStored,
  FREE,
  type GenerationOptions,
  HELD,
  ID,
  openGeneration,
} from '../../../test/generations.ts';
import { ProviderError } from '../../ports/models.ts';
import { cancelGeneration } from './cancellation.ts';
import type { GenerationRecord } from './records.ts';
import { VIDEO } from './video.ts';

const RUNNING = { state: 'running', step: 'submitted', providerJobId: 'job-1' } as const;
const CANCELLED = { ...RUNNING, state: 'cancelled' } as const;
const NO_CANCEL = { cancel: undefined } as never;

describe('a cancellation', () => {
  const cancel = async (options: GenerationOptions = {}, guard: object = { ownerId: 'ada' }) => {
    const opened = await openGeneration(options);
    await opened.clock.advance(7);
    const answer = await cancelGeneration(opened.services, VIDEO, ID, guard);
    return { ...opened, answer };
  };
  const error = { code: 'cancelled', message: 'This generation was cancelled.' };

  it('before the submission releases the credit, and leaves nothing to do', async () => {
    const { clock, answer, get, money, published } = await cancel();
    expect(answer).toMatchObject({ state: 'cancelled', error, updatedAt: clock.now() });
    expect([await get(), (await get()).nextCheckAt]).toEqual([answer, undefined]);
    expect([await money(), published]).toEqual([FREE, [['stopped', ID]]]);
  });

  it('after the submission leaves the rest to the worker', async () => {
    const { clock, answer, get, money, published, names } = await cancel({ record: RUNNING });
    expect(answer).toMatchObject({ state: 'cancelled', error, nextCheckAt: clock.now() + 60_000 });
    expect(await get()).toEqual(answer);
    expect([await money(), published, names()]).toEqual([FREE, [['stopped', ID]], []]);
  });

  it('before the submission is free, whatever the provider can stop', async () => {
    expect(await (await cancel({ jobs: NO_CANCEL })).money()).toEqual(FREE);
  });

  it('keeps the credit if the provider cannot stop', async () => {
    const { answer, money } = await cancel({ record: RUNNING, jobs: NO_CANCEL });
    expect([answer?.state, await money()]).toEqual(['cancelled', HELD]);
    const gone = await cancel({ record: { ...RUNNING, model: 'other' }, jobs: NO_CANCEL });
    expect(await gone.money()).toEqual(FREE);
  });

  it.each<Partial<GenerationRecord>>([
    { state: 'storing', step: 'made' },
    { state: 'succeeded' },
    { state: 'failed' },
  ])('does not concern a generation of another state: %j', async (record) => {
    const { answer, get, money, published } = await cancel({ record });
    expect([answer, (await get()).state, await money(), published]).toEqual([
      undefined,
      record.state,
      HELD,
      [],
    ]);
  });

  it('does not concern generations of others', async () => {
    const { answer, get } = await cancel({}, { ownerId: 'bob' });
    expect([answer, (await get()).state]).toEqual([undefined, 'pending']);
    const running = await cancel({ record: RUNNING }, { ownerId: 'bob' });
    expect([running.answer, (await running.get()).state]).toEqual([undefined, 'running']);
  });
});

describe('a cancelled generation', () => {
  it('is cancelled at its provider, without a charge', async () => {
    const { run, get, calls, money } = await openGeneration({ record: CANCELLED });
    expect(await run()).toBeUndefined();
    expect([calls, await money(), (await get()).nextCheckAt]).toEqual([
      [['cancel', 'job-1']],
      FREE,
      undefined,
    ]);
  });

  it('that was not submitted is free', async () => {
    const { run, names, money } = await openGeneration({ record: { state: 'cancelled' }, jobs: NO_CANCEL });
    await run();
    expect([names(), await money()]).toEqual([[], FREE]);
  });

  it.each([
    ['cannot cancel', { jobs: NO_CANCEL }, 0],
    ['fails to cancel', { jobs: { cancel: () => Promise.reject(new ProviderError('failed', 'x')) } }, 1],
  ])('is charged as requested if its provider %s', async (_, options, reports) => {
    const { run, get, incidents, money } = await openGeneration({ record: CANCELLED, ...options });
    expect(await run()).toBeUndefined();
    expect(await get()).toMatchObject({ state: 'cancelled', settled: 8_000_000, due: { amount: 8_000_000 } });
    expect([(await get()).nextCheckAt, incidents.length, await money()]).toEqual([
      ...[undefined, reports, { charged: 8_000_000, held: 0 }],
    ]);
  });

  it('is charged what is due already', async () => {
    const due = { amount: 2_000_000, usage: { seconds: 2 } };
    for (const jobs of [NO_CANCEL, {}]) {
      const { run, money } = await openGeneration({ record: { ...CANCELLED, due }, jobs });
      await run();
      expect(await money()).toEqual({ charged: 2_000_000, held: 0 });
    }
  });

  it('is charged what is stored, and maintained until that is noted', async () => {
    const dues: unknown[] = [];
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      record: CANCELLED,
      jobs: NO_CANCEL,
      change: ({ ledger, store }) => ({
        store: changeStored(store, ({ update }) => ({
          async update(id, patch, ...more) {
            await settle();
            if ('settled' in patch) throw new Error('away');
            return update(id, patch, ...more);
          },
        })),
        ledger: {
          ...ledger,
          async settle(...given) {
            dues.push((await opened.get()).due?.amount);
            return ledger.settle(...given);
          },
        },
      }),
    });
    await expect(opened.run()).rejects.toThrow('away');
    expect([dues, (await opened.get()).nextCheckAt]).toEqual([[8_000_000], opened.record.nextCheckAt]);
  });

  it('has its credit back when its job ends', async () => {
    const { run, money } = await openGeneration({
      record: CANCELLED,
      change: ({ ledger }) => ({
        ledger: {
          ...ledger,
          async release(...given) {
            await settle();
            return ledger.release(...given);
          },
        },
      }),
    });
    await run();
    expect(await money()).toEqual(FREE);
  });

  it('is free if its provider was removed', async () => {
    const { run, money, incidents } = await openGeneration({ record: { ...CANCELLED, provider: 'other' } });
    await run();
    expect([await money(), incidents]).toEqual([FREE, []]);
  });

  it('waits 30 seconds for its provider', async () => {
    const { clock, run, get, money } = await openGeneration({
      record: CANCELLED,
      jobs: { cancel: () => new Promise(() => undefined) },
    });
    const running = run();
    for (let step = 0; step < 12; step += 1) await clock.advance(0);
    await clock.advance(29_999);
    expect((await get()).settled).toBeUndefined();
    await clock.advance(1);
    await running;
    expect(await money()).toEqual({ charged: 8_000_000, held: 0 });
  });

  it('is maintained while the ledger does not answer', async () => {
    const { run, incidents, get, own } = await openGeneration({
      record: CANCELLED,
      change: ({ ledger }) => ({ ledger: { ...ledger, release: () => Promise.reject(new Error('away')) } }),
    });
    await run();
    const error = new Error('away');
    expect(incidents).toEqual([{ operation: 'createVideoGeneration', requestId: 'r', error }]);
    expect([(await get()).nextCheckAt, own.clock.now() > 0]).toEqual([undefined, true]);
  });
});
