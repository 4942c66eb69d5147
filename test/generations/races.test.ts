import { setImmediate as turn } from 'node:timers/promises';
import { StorageUnavailable } from '@questline/core/ports';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createGenerationApp, createVideoStudio, done, POLL_MS } from '../support/generations.ts';

const MANY = 200;

describe('cancellation of a generation', () => {
  it('releases the credit at once and cancels the job at the next poll', async () => {
    const app = await createGenerationApp();
    const { id } = (await app.video()).body;
    await app.settle();
    const { status, body } = await app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    expect([status, body]).toMatchObject([
      200,
      { state: 'cancelled', error: { code: 'cancelled' }, credits: { reserved: null, settled: 0 } },
    ]);
    expect(await app.spent()).toBe(0);
    await app.pollsPass();
    expect(app.studio.videos.all[0]).toMatchObject({ isCancelled: true, polls: 0 });
    const again = await app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    expect([again.status, again.body]).toEqual([200, body]);
  });

  it('cancels a job that the provider accepts during submission', async () => {
    let accept = (): void => undefined;
    const app = await createGenerationApp(
      createVideoStudio({
        onSubmit: () =>
          new Promise<void>((resolve) => {
            accept = resolve;
          }),
      }),
    );
    const { id } = (await app.video()).body;
    await app.settle();
    await app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    accept();
    await app.settle();
    expect(app.studio.videos.all[0]).toMatchObject({ isCancelled: true });
    expect(await app.look(id)).toMatchObject({ state: 'cancelled' });
    expect(await app.spent()).toBe(0);
  });

  it('charges a video as requested when its provider cannot cancel it', async () => {
    const studio = createVideoStudio();
    const { cancel: _, ...video } = studio.videos;
    const app = await createGenerationApp({ ...studio, video });
    const { id } = (await app.video()).body;
    await app.settle();
    await app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    await app.pollsPass(3);
    expect(await app.look(id)).toMatchObject({
      state: 'cancelled',
      credits: { reserved: null, settled: 8 },
    });
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0, posted: 992e6 });
    await app.pollsPass(3);
    expect(await app.spent()).toBe(8);
  });

  it('charges a video when its provider fails to cancel it', async () => {
    const studio = createVideoStudio();
    const video = { ...studio.videos, cancel: () => Promise.reject(new Error('too late')) };
    const app = await createGenerationApp({ ...studio, video });
    const { id } = (await app.video()).body;
    await app.settle();
    await app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    await app.pollsPass(3);
    expect(await app.look(id)).toMatchObject({ state: 'cancelled', credits: { settled: 8 } });
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0, posted: 992e6 });
  });

  it('reports the charge when the store fails after the settlement, and the provider cancels it later', async () => {
    const studio = createVideoStudio();
    let tries = 0;
    const video = {
      ...studio.videos,
      async cancel() {
        tries += 1;
        if (tries === 1) throw new Error('down');
      },
    };
    let isLost = false;
    const app = await createGenerationApp(
      { ...studio, video },
      {
        store: (store) => ({
          ...store,
          collection: (definition) => {
            const collection = store.collection(definition);
            const update: typeof collection.update = (id, patch, guard) => {
              if (isLost || !('settled' in patch)) return collection.update(id, patch, guard);
              isLost = true;
              return Promise.reject(new StorageUnavailable('away'));
            };
            return { ...collection, update };
          },
        }),
      },
    );
    const { id } = (await app.video()).body;
    await app.settle();
    await app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    await app.pollsPass(30);
    expect(isLost).toBe(true);
    expect(await app.look(id)).toMatchObject({ state: 'cancelled', credits: { settled: 8 } });
    expect(await app.spent()).toBe(8);
  });

  it('does not call the provider before submission', async () => {
    const app = await createGenerationApp(createVideoStudio(), { started: false });
    const { id } = (await app.video()).body;
    await app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    await app.api.start();
    await app.settle();
    expect(app.studio.videos.all).toEqual([]);
  });

  it(`excludes completion in ${MANY} simultaneous attempts, and the charge follows the outcome`, async () => {
    const random = createRandom(5);
    const pauses = new Map<string, number>();
    const turns = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left -= 1) await turn();
    };
    const app = await createGenerationApp(
      createVideoStudio({
        onJob: (job) => done(job),
        onPoll: (job) => turns(pauses.get(job.request.prompt) ?? 0),
        onFetch: () => turns(1),
      }),
      { credits: 100_000 },
    );
    const ids: string[] = [];
    for (let number = 0; number < MANY; number += 1) {
      pauses.set(`video ${number}`, random.below(12));
      ids.push((await app.video({ prompt: `video ${number}` })).body.id);
    }
    await app.settle();
    await app.settle();
    expect(app.studio.videos.all).toHaveLength(MANY);

    const cancelled = ids.map(async (id) => {
      await turns(random.below(MANY / 4));
      return app.json('POST', `/api/v1/video-generations/${id}/cancel`);
    });
    await app.clock.advance(POLL_MS);
    const answers = await Promise.all(cancelled);
    await app.pollsPass(3);

    const ends: Record<string, number> = {};
    for (const [place, id] of ids.entries()) {
      const { state, credits } = await app.look(id);
      ends[state] = (ends[state] ?? 0) + 1;
      expect(credits).toEqual({ reserved: null, settled: state === 'succeeded' ? 8 : 0 });
      // The answer to a cancellation matches the final state.
      const reported = answers[place]?.body.state;
      expect([reported === 'cancelled', id]).toEqual([state === 'cancelled', id]);
    }
    const { succeeded = 0, cancelled: stopped = 0 } = ends;
    console.info(`${MANY} cancellations: ${succeeded} too late, ${stopped} in time`);
    expect(succeeded + stopped).toBe(MANY);
    expect(Math.min(succeeded, stopped)).toBeGreaterThan(10);
    const entries = await app.ledger.entries(app.account, { limit: 1000 });
    expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(succeeded);
    expect(await app.ledger.balance(app.account)).toMatchObject({
      held: 0,
      posted: 100_000e6 - succeeded * 8e6,
    });
    const charges = await app.ledger.charges({ userId: app.user.id }, 1000);
    expect(charges.filter(({ status }) => status === 'released')).toHaveLength(stopped);
  });
});

describe('many parallel generations', () => {
  it('run 500 generations with the configured workers without blocking any', async () => {
    let most = 0;
    let busy = 0;
    const counted = async (): Promise<void> => {
      busy += 1;
      most = Math.max(most, busy);
      await turn();
      busy -= 1;
    };
    const app = await createGenerationApp(createVideoStudio({ onSubmit: counted, onPoll: counted }), {
      credits: 100_000,
      settings: {
        worker: { concurrency: { 'video-generation': 4 }, maxPerOwner: { 'video-generation': 4 } },
      },
    });
    for (let number = 0; number < 500; number += 1) await app.video();
    for (let wait = 0; wait < 100 && app.studio.videos.all.length < 500; wait += 1) await app.settle();
    expect(app.studio.videos.all).toHaveLength(500);
    for (const job of app.studio.videos.all) done(job);
    for (let poll = 0; poll < 2; poll += 1) {
      await app.clock.advance(POLL_MS);
      for (let wait = 0; wait < 100; wait += 1) await app.settle();
    }
    expect((await app.ledger.balance(app.account)).posted).toBe(100_000e6 - 500 * 8e6);
    expect(most).toBe(4);
  });
});
