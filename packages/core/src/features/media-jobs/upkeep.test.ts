import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { FREE, ID, meanwhile, openGeneration } from '../../../test/generations.ts';
import { personalGenerations } from './cancellation.ts';
import { createGenerationMaintenance } from './maintenance.ts';
import type { GenerationRecord } from './records.ts';
import { generationRetention } from './retention.ts';

const RUNNING = { state: 'running', step: 'submitted', providerJobId: 'job-1' } as const;

describe('the end of an account', () => {
  it('cancels what runs, and counts what has not ended', async () => {
    const { services, get, own, generations, record } = await openGeneration({ record: RUNNING });
    const other = { ...record, kind: 'music' as const };
    await generations.insert({ ...other, id: 'b'.repeat(24), state: 'succeeded', nextCheckAt: undefined });
    await generations.insert({ ...other, id: 'c'.repeat(24), ownerId: 'bob' });
    await generations.insert({ ...other, id: 'd'.repeat(24), state: 'storing', step: 'made' });
    const { stop } = personalGenerations(services);
    expect(await stop?.('ada')).toBe(2);
    expect((await get()).state).toBe('cancelled');
    expect((await generations.get('c'.repeat(24)))?.state).toBe('running');
    await generations.update(ID, { nextCheckAt: undefined });
    expect(await stop?.('ada')).toBe(1);
    expect(own.clock.now()).toBeGreaterThan(0);
  });

  it('releases the credit for a video, also if the provider cannot cancel music', async () => {
    const { services, money } = await openGeneration({
      record: RUNNING,
      provider: { musicJobs: { cancel: undefined } } as never,
    });
    await personalGenerations(services).stop?.('ada');
    expect(await money()).toEqual(FREE);
  });
});

describe('the deletion by age', () => {
  it.each(['succeeded', 'failed', 'blocked', 'cancelled'] as const)(
    'takes a %s generation',
    async (state) => {
      const { services, generations, record } = await openGeneration({
        record: { state, nextCheckAt: undefined },
      });
      const { kind, byAge } = generationRetention(services);
      if (byAge === undefined || !('find' in byAge)) throw new Error('no list');
      expect([kind, (await byAge.find(record.createdAt + 1, 9, undefined)).length]).toEqual([
        'generations',
        1,
      ]);
      const isInUse = async () => false;
      expect(await byAge.remove(ID, { before: record.createdAt, isInUse })).toBe(false);
      await generations.update(ID, { nextCheckAt: 5 });
      expect(await byAge.remove(ID, { before: record.createdAt + 1, isInUse })).toBe(false);
      await generations.update(ID, { nextCheckAt: undefined });
      expect(await byAge.remove(ID, { before: record.createdAt + 1, isInUse })).toBe(true);
      expect(await generations.count({})).toBe(0);
    },
  );

  it.each(['pending', 'running', 'storing', 'reserving'] as const)(
    'takes no %s generation',
    async (state) => {
      const { services, record } = await openGeneration({ record: { state, nextCheckAt: undefined } });
      const { byAge } = generationRetention(services);
      if (byAge === undefined || !('find' in byAge)) throw new Error('no list');
      expect(await byAge.find(record.createdAt + 1, 9, undefined)).toEqual([]);
      expect(await byAge.remove(ID, { before: record.createdAt + 1, isInUse: async () => false })).toBe(
        false,
      );
    },
  );
});

describe('the maintenance', () => {
  const maintain = async (
    record: Partial<GenerationRecord>,
    passed = 60_000,
    between?: Partial<GenerationRecord>,
  ) => {
    const renewed: unknown[] = [];
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      record,
      change: ({ ledger, store }) => ({
        ...(between !== undefined && {
          store: meanwhile(store, 'find', () => opened.generations.update(ID, between)),
        }),
        ledger: {
          ...ledger,
          async renew(hold, until) {
            await settle();
            renewed.push(until);
            return ledger.renew(hold, until);
          },
        },
      }),
    });
    await opened.clock.advance(passed);
    const task = createGenerationMaintenance(opened.services);
    await task.run();
    const kinds = ['video-generation', 'music-generation'];
    const jobs = await opened.own.queue.lease({ kinds, limit: 9, leaseMs: 1 });
    return { ...opened, task, renewed, jobs };
  };

  it('enqueues the job again, and renews the hold', async () => {
    const { clock, task, get, jobs, renewed } = await maintain(RUNNING);
    expect(jobs).toMatchObject([
      { kind: 'video-generation', key: `generation:${ID}`, owner: 'ada', payload: { generationId: ID } },
    ]);
    const [until = 0] = renewed as number[];
    expect([renewed.length, (await get()).nextCheckAt]).toEqual([1, clock.now() + (until - clock.now()) / 3]);
    expect([task.name, task.everyMs]).toEqual([
      'tend-generations',
      Math.min(30_000, (until - clock.now()) / 15),
    ]);
  });

  it('knows music, and work without a hold', async () => {
    const { jobs, renewed } = await maintain({ ...RUNNING, kind: 'music', hold: undefined as never });
    expect([jobs.map(({ kind }) => kind), renewed]).toEqual([['music-generation'], []]);
  });

  it('leaves what is not due, or over', async () => {
    expect((await maintain(RUNNING, 59_999)).jobs).toEqual([]);
    expect((await maintain({ state: 'succeeded', nextCheckAt: undefined })).jobs).toEqual([]);
  });

  it('deletes what never had credit', async () => {
    const { generations, jobs } = await maintain({ state: 'reserving' });
    expect([await generations.count({}), jobs]).toEqual([0, []]);
  });

  it.each<Partial<GenerationRecord>>([{ state: 'pending' }, { nextCheckAt: 9e15 }])(
    'does not delete what has credit by now: %j',
    async (between) => {
      const { get } = await maintain({ state: 'reserving' }, undefined, between);
      expect(await get()).toMatchObject(between);
    },
  );

  it('leaves what another process has maintained', async () => {
    const { get, jobs, renewed } = await maintain(RUNNING, undefined, { nextCheckAt: 9e15 });
    expect([(await get()).nextCheckAt, jobs, renewed]).toEqual([9e15, [], []]);
  });

  it('begins with what has waited longest, and leaves nothing that is due', async () => {
    const { clock, services, generations, record, own } = await openGeneration({
      settings: { worker: { leaseMs: 400_000 } },
    });
    const times = [3, 1, 2];
    for (const [place, time] of times.entries()) {
      await generations.insert({ ...record, id: `${place}`.repeat(24), nextCheckAt: clock.now() + time });
    }
    for (let number = 0; number < 500; number += 1) {
      const id = `${number}`.padStart(24, 'e');
      await generations.insert({ ...record, id, state: 'reserving', nextCheckAt: clock.now() });
    }
    await clock.advance(3);
    const order: unknown[] = [];
    const task = createGenerationMaintenance({
      ...services,
      store: own.store,
      queue: { ...own.queue, enqueue: async ({ key = '' }) => ({ id: `${order.push(key)}`, added: true }) },
    });
    await task.run();
    expect(order).toEqual([1, 2, 0].map((place) => `generation:${`${place}`.repeat(24)}`));
    expect(await generations.count({ state: 'reserving' })).toBe(0);
    expect(task.everyMs).toBe(60_000);
  });
});
