import { GENERATIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { openGenerationRequests as open, pause, slowWrites } from '../support/generation-requests.ts';

describe('the credit of a request', () => {
  it('is held under the id of the generation, for its operation and model', async () => {
    const held: unknown[] = [];
    const { video, account } = await open(({ ledger }) => ({
      ledger: {
        ...ledger,
        hold(request) {
          held.push(request);
          return ledger.hold(request);
        },
      },
    }));
    const { body, headers } = await video();
    expect(held).toMatchObject([
      {
        ...{ key: body.id, account, amount: 8_000_000 },
        details: {
          ...{ operation: 'createVideoGeneration', model: 'director' },
          requestId: headers.get('x-request-id'),
        },
      },
    ]);
  });

  it.each([
    ['the workspace', undefined, false],
    ['its owner', true, true],
  ])('is counted by budgets with the key of %s', async (_, ownKey, isOwnKey) => {
    const counted: unknown[] = [];
    const { video } = await open(({ budgets, getCatalogue }) => ({
      budgets: {
        ...budgets,
        forCall(call) {
          counted.push(call.isOwnKey);
          return budgets.forCall(call);
        },
      },
      async getCatalogue(caller) {
        const catalogue = await getCatalogue(caller);
        const entry = catalogue.find('director');
        return { ...catalogue, find: () => entry && { ...entry, ...(ownKey && { ownKey }) } };
      },
    }));
    expect((await video()).status).toBe(202);
    expect(counted).toEqual([isOwnKey]);
  });

  it('that is missing leaves nothing behind, before the answer', async () => {
    const { video, list } = await open(undefined, { credits: 7, store: slowWrites });
    expect([(await video()).status, await list()]).toEqual([422, []]);
  });

  it('that may be held in spite of an error leaves its generation to the maintenance', async () => {
    const { video, list } = await open(({ ledger }) => ({
      ledger: { ...ledger, hold: () => Promise.reject(new Error('away')) },
    }));
    expect((await video()).status).toBe(500);
    expect(await list()).toMatchObject([{ state: 'reserving' }]);
  });

  it('is noted before the answer', async () => {
    const { video, list, clock, services } = await open(undefined, { store: slowWrites });
    expect((await video()).status).toBe(202);
    const nextCheckAt = clock.now() + services.worker.leaseMs;
    expect(await list()).toMatchObject([{ state: 'pending', nextCheckAt, hold: { amount: 8_000_000 } }]);
  });

  it('begins nothing again that another request has begun', async () => {
    const { video, list } = await open(({ ledger, store }) => ({
      ledger: {
        ...ledger,
        async hold(request) {
          const outcome = await ledger.hold(request);
          await store.collection(GENERATIONS).update(request.key, { state: 'running' });
          return outcome;
        },
      },
    }));
    expect((await video()).status).toBe(202);
    expect(await list()).toMatchObject([{ state: 'running' }]);
  });

  it('that is refused deletes nothing that another request has begun', async () => {
    const { video, list } = await open(({ ledger, store }) => ({
      ledger: {
        ...ledger,
        async hold(request) {
          await store.collection(GENERATIONS).update(request.key, { state: 'pending' });
          return { outcome: 'insufficient_credits', available: 0, required: request.amount };
        },
      },
    }));
    expect((await video()).status).toBe(422);
    expect(await list()).toMatchObject([{ state: 'pending' }]);
  });
});

describe('a request that the queue rejects', () => {
  it('has its credit back before the answer', async () => {
    const { video, list, spent } = await open(({ ledger, queue }) => ({
      queue: { ...queue, enqueue: () => Promise.reject(new Error('away')) },
      ledger: {
        ...ledger,
        async release(hold) {
          await pause();
          return ledger.release(hold);
        },
      },
    }));
    expect((await video()).status).toBe(500);
    expect([await list(), await spent()]).toEqual([[], 0]);
  });

  it('keeps what a worker has begun', async () => {
    const { video, list, spent } = await open(({ queue, store }) => ({
      queue: {
        ...queue,
        async enqueue({ payload }) {
          const { generationId } = payload as { generationId: string };
          await store.collection(GENERATIONS).update(generationId, { state: 'running' });
          throw new Error('away');
        },
      },
    }));
    expect((await video()).status).toBe(500);
    expect([await list(), await spent()]).toMatchObject([[{ state: 'running' }], 8]);
  });
});

describe('a request', () => {
  it('is refused while the service shuts down', async () => {
    const { video, list, services } = await open();
    services.admissionControl.close();
    expect([(await video()).status, await list()]).toEqual([503, []]);
  });

  it.each([
    ['is stored', {}, [true]],
    ['is refused', { model: 'other' }, [false]],
  ])('enters the line of work, and leaves it when it %s', async (_, body, ends) => {
    const left: boolean[] = [];
    const { video, user, list } = await open(() => ({
      workLine: {
        open: (ownerId) => ({
          async enter() {
            await pause();
            expect([ownerId, await list()]).toEqual([user.id, []]);
          },
          end: (isStored) => void left.push(isStored),
        }),
      },
    }));
    await video(body);
    expect(left).toEqual(ends);
  });

  it('waits for its place in the line', async () => {
    const { video, list } = await open(() => ({
      workLine: {
        open: () => ({
          enter: () => Promise.reject(new Error('full')),
          end: () => undefined,
        }),
      },
    }));
    expect([(await video()).status, await list()]).toEqual([500, []]);
  });

  it('for music does not repeat one for a video', async () => {
    const { video, song } = await open();
    const more = { headers: { 'Idempotency-Key': 'one' } };
    expect((await video({}, more)).body.object).toBe('video_generation');
    expect((await song({}, more)).body.object).toBe('music_generation');
  });

  it('that is repeated after the end begins nothing', async () => {
    const jobs: unknown[] = [];
    const { video, generations } = await open(({ queue }) => ({
      queue: {
        ...queue,
        enqueue(job) {
          jobs.push(job.key);
          return queue.enqueue(job);
        },
      },
    }));
    const more = { headers: { 'Idempotency-Key': 'one' } };
    const { body } = await video({}, more);
    await generations.update(body.id, { state: 'succeeded' });
    expect((await video({}, more)).body).toEqual(body);
    expect(jobs).toHaveLength(1);
  });
});
