import { setImmediate as turn } from 'node:timers/promises';
import type { Services } from '@questline/core';
import { GENERATIONS, getGenerations } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createGenerationApp, createVideoStudio } from '../support/generations.ts';
import { openFrames } from '../support/live-events.ts';

const pause = async () => {
  for (let count = 0; count < 12; count += 1) await turn();
};

/** An app without a worker. @param change of its services. */
async function open(
  change: (own: Services) => Partial<Services> = () => ({}),
  options: Parameters<typeof createGenerationApp>[1] = {},
) {
  const app = await createGenerationApp(createVideoStudio(), {
    ...options,
    started: false,
    services: (own) => ({ ...own, ...change(own) }),
  });
  const generations = getGenerations(app.services.store);
  return { ...app, list: () => generations.find({}), generations };
}

/** A store that handles generations in another way. */
function changeStored(store: Store, change: (generations: ReturnType<Store['collection']>) => object): Store {
  return {
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      return definition.name === GENERATIONS.name ? { ...records, ...change(records as never) } : records;
    },
  };
}

/** A store whose guarded writes of generations take their time. */
const slowWrites = (store: Store): Store =>
  changeStored(store, ({ take, update }) => ({
    async take(...given: Parameters<typeof take>) {
      await pause();
      return take(...given);
    },
    async update(...given: Parameters<typeof update>) {
      await pause();
      return update(...given);
    },
  }));

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

describe('a generation of the caller', () => {
  it('is not found by other users', async () => {
    const { video, json, addUser, token, generations } = await open();
    const { body } = await video();
    const credential = await token(await addUser('bob@example.com'));
    const path = `/api/v1/video-generations/${body.id}`;
    for (const [method, end] of [
      ['GET', ''],
      ['GET', '/events'],
      ['POST', '/cancel'],
    ] as const) {
      const answer = await json(method, `${path}${end}`, { credential });
      expect([answer.status, answer.body.error]).toEqual([404, 'Video generation not found']);
    }
    expect((await generations.get(body.id))?.state).toBe('pending');
  });

  it('is not found before its credit is held', async () => {
    const { video, json, generations } = await open();
    const { body } = await video();
    await generations.update(body.id, { state: 'reserving' });
    expect((await json('GET', `/api/v1/video-generations/${body.id}`)).status).toBe(404);
    expect((await json('GET', '/api/v1/video-generations')).body.data).toEqual([]);
  });

  it('that has ended is answered to a cancellation', async () => {
    const { video, json } = await open();
    const { body } = await video();
    const path = `/api/v1/video-generations/${body.id}/cancel`;
    const first = await json('POST', path);
    expect(first).toMatchObject({ status: 200, body: { state: 'cancelled' } });
    expect((await json('POST', path)).body).toEqual(first.body);
  });

  it('has events after a position of the query', async () => {
    const { video, ask, generations, clock, settle } = await open();
    const { body } = await video();
    const { updatedAt = 0 } = (await generations.get(body.id)) ?? {};
    const path = `/api/v1/video-generations/${body.id}/events?after=${updatedAt}`;
    const reader = openFrames(await ask('GET', path));
    const first = reader.next();
    await settle();
    await clock.advance(1000);
    await settle();
    await generations.update(body.id, { state: 'running', updatedAt: updatedAt + 1 });
    await clock.advance(2000);
    await settle();
    expect((await first)?.data.state.state).toBe('running');
    await reader.close();
  });

  it('is listed in pages that read one record more', async () => {
    const limits: unknown[] = [];
    const { video, json } = await open(undefined, {
      store: (store) =>
        changeStored(store, ({ find }) => ({
          find(...[filter, options]: Parameters<typeof find>) {
            limits.push(options?.limit);
            return find(filter, options);
          },
        })),
    });
    await video();
    expect((await json('GET', '/api/v1/video-generations?limit=3')).body.data).toHaveLength(1);
    expect(limits).toEqual([4]);
  });
});
