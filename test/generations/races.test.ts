import { setImmediate as turn } from 'node:timers/promises';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createFilmStudio, createGenerationWorld, done, POLL_MS } from '../support/generations.ts';

const MANY = 200;

describe('cancelling', () => {
  it('frees the credit at once, and stops the provider at the next look', async () => {
    const world = await createGenerationWorld();
    const { id } = (await world.film()).body;
    await world.settle();
    const { status, body } = await world.json('POST', `/api/v1/video-generations/${id}/cancel`);
    expect([status, body]).toMatchObject([
      200,
      { state: 'cancelled', error: { code: 'cancelled' }, credits: { reserved: null, settled: 0 } },
    ]);
    expect(await world.spent()).toBe(0);
    await world.pollsPass();
    expect(world.studio.films.all[0]).toMatchObject({ isCancelled: true, polls: 0 });
    const again = await world.json('POST', `/api/v1/video-generations/${id}/cancel`);
    expect([again.status, again.body]).toEqual([200, body]);
  });

  it('while the provider is being asked stops what it accepts', async () => {
    let accept = (): void => undefined;
    const world = await createGenerationWorld(
      createFilmStudio({
        onSubmit: () =>
          new Promise<void>((resolve) => {
            accept = resolve;
          }),
      }),
    );
    const { id } = (await world.film()).body;
    await world.settle();
    await world.json('POST', `/api/v1/video-generations/${id}/cancel`);
    accept();
    await world.settle();
    expect(world.studio.films.all[0]).toMatchObject({ isCancelled: true });
    expect(await world.look(id)).toMatchObject({ state: 'cancelled' });
    expect(await world.spent()).toBe(0);
  });

  it('before anything was asked for leaves the provider alone', async () => {
    const world = await createGenerationWorld(createFilmStudio(), { started: false });
    const { id } = (await world.film()).body;
    await world.json('POST', `/api/v1/video-generations/${id}/cancel`);
    await world.api.start();
    await world.settle();
    expect(world.studio.films.all).toEqual([]);
  });

  it(`at the very moment of its completion, ${MANY} times: one of both happens, and the money follows it`, async () => {
    const random = createRandom(5);
    const pauses = new Map<string, number>();
    const turns = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left -= 1) await turn();
    };
    const world = await createGenerationWorld(
      createFilmStudio({
        onJob: (job) => done(job),
        onPoll: (job) => turns(pauses.get(job.request.prompt) ?? 0),
        onFetch: () => turns(1),
      }),
      { credits: 100_000 },
    );
    const ids: string[] = [];
    for (let number = 0; number < MANY; number += 1) {
      pauses.set(`film ${number}`, random.below(12));
      ids.push((await world.film({ prompt: `film ${number}` })).body.id);
    }
    await world.settle();
    await world.settle();
    expect(world.studio.films.all).toHaveLength(MANY);

    const cancelled = ids.map(async (id) => {
      await turns(random.below(MANY / 4));
      return world.json('POST', `/api/v1/video-generations/${id}/cancel`);
    });
    await world.clock.advance(POLL_MS);
    const answers = await Promise.all(cancelled);
    await world.pollsPass(3);

    const ends: Record<string, number> = {};
    for (const [place, id] of ids.entries()) {
      const { state, credits } = await world.look(id);
      ends[state] = (ends[state] ?? 0) + 1;
      expect(credits).toEqual({ reserved: null, settled: state === 'succeeded' ? 8 : 0 });
      // Whoever was told that it is cancelled was told the truth.
      const told = answers[place]?.body.state;
      expect([told === 'cancelled', id]).toEqual([state === 'cancelled', id]);
    }
    const { succeeded = 0, cancelled: stopped = 0 } = ends;
    console.info(`${MANY} cancellations: ${succeeded} came too late, ${stopped} in time`);
    expect(succeeded + stopped).toBe(MANY);
    expect(Math.min(succeeded, stopped)).toBeGreaterThan(10);
    const entries = await world.ledger.entries(world.account, { limit: 1000 });
    expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(succeeded);
    expect(await world.ledger.balance(world.account)).toMatchObject({
      held: 0,
      posted: 100_000e6 - succeeded * 8e6,
    });
    const charges = await world.ledger.charges({ userId: world.user.id }, 1000);
    expect(charges.filter(({ status }) => status === 'released')).toHaveLength(stopped);
  });
});

describe('many at once', () => {
  it('500 generations need no more than the workers there are, and none waits with them', async () => {
    let most = 0;
    let busy = 0;
    const counted = async (): Promise<void> => {
      busy += 1;
      most = Math.max(most, busy);
      await turn();
      busy -= 1;
    };
    const world = await createGenerationWorld(createFilmStudio({ onSubmit: counted, onPoll: counted }), {
      credits: 100_000,
      settings: { worker: { concurrency: { 'video-generation': 4 } } },
    });
    for (let number = 0; number < 500; number += 1) await world.film();
    for (let wait = 0; wait < 100 && world.studio.films.all.length < 500; wait += 1) await world.settle();
    expect(world.studio.films.all).toHaveLength(500);
    for (const job of world.studio.films.all) done(job);
    for (let poll = 0; poll < 2; poll += 1) {
      await world.clock.advance(POLL_MS);
      for (let wait = 0; wait < 100; wait += 1) await world.settle();
    }
    expect((await world.ledger.balance(world.account)).posted).toBe(100_000e6 - 500 * 8e6);
    expect(most).toBe(4);
  });
});
