import { type Api, createApi, createServices, GENERATIONS, StorageUnavailable } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createGate, type Gate } from '../support/gate.ts';
import {
  createFilmStudio,
  createGenerationWorld,
  done,
  type FilmStudio,
  type GenerationWorld,
  POLL_MS,
  type StudioHooks,
} from '../support/generations.ts';
import { createSoundStudio, soundOf } from '../support/media.ts';
import { createBreakableStore } from '../support/store.ts';

interface Two {
  readonly world: GenerationWorld;
  /** Shut: the world's process is paused, or dead. */
  readonly gate: Gate;
  /** Another process behind the same store, ledger and objects, with the same providers. */
  readonly other: Api;
  readonly studio: FilmStudio;
}

async function twoProcesses(films: StudioHooks<unknown> = {}): Promise<Two> {
  const gate = createGate();
  const studio = createFilmStudio(films);
  const objects = createMemoryObjects();
  const world = await createGenerationWorld(studio, { store: gate.store, ledger: gate.ledger, objects });
  const { limiter, clock } = world.services;
  const services = createServices(
    { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [studio], objects },
    { jwtSecret: 'a'.repeat(64), generations: { pollMs: POLL_MS } },
  );
  return { world, gate, other: createApi(services), studio };
}

/** As the records say: the world's own process may be shut. */
async function recordOf({ gate }: Two, id: string) {
  return gate.shared.store.collection(GENERATIONS).get(id);
}

async function settledOf({ gate, world }: Two): Promise<number> {
  const charges = await gate.shared.ledger.charges({ account: world.account }, 100);
  return charges.filter(({ status }) => status === 'settled').length;
}

describe('a worker that vanished', () => {
  it('while its provider was being asked: nobody asks again, and it is free', async () => {
    let accept = (): void => undefined;
    let asked = 0;
    const two = await twoProcesses({
      onSubmit() {
        asked += 1;
        return new Promise<void>((resolve) => {
          accept = resolve;
        });
      },
    });
    const { world, gate, other, studio } = two;
    const { id } = (await world.film()).body;
    await world.settle();
    expect(await recordOf(two, id)).toMatchObject({ state: 'running', step: 'submitting' });
    gate.shut();
    await other.start();
    await world.pollsPass(13);
    expect(await recordOf(two, id)).toMatchObject({
      state: 'failed',
      error: {
        code: 'provider_error',
        message:
          'It was interrupted while its provider was being asked, and is not asked for twice. Try again.',
      },
    });
    expect(await gate.shared.ledger.balance(world.account)).toMatchObject({ held: 0, posted: 1000e6 });
    // It was only paused. What its provider has accepted meanwhile is nobody's any more.
    gate.open();
    accept();
    await world.pollsPass(3);
    expect(await recordOf(two, id)).toMatchObject({ state: 'failed' });
    expect([asked, studio.films.all.map(({ isCancelled }) => isCancelled)]).toEqual([1, [true]]);
    expect(await settledOf(two)).toBe(0);
    await other.close();
  });

  it('between two looks: another one goes on with the same job', async () => {
    const two = await twoProcesses();
    const { world, gate, other, studio } = two;
    const { id } = (await world.film()).body;
    await world.settle();
    gate.shut();
    await other.start();
    await world.pollsPass(2);
    const [job] = studio.films.all;
    if (job !== undefined) done(job);
    await world.pollsPass(2);
    expect(await recordOf(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.films.all.length, await settledOf(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('at a look: another one looks within two polls of the end, at the settings everybody has', async () => {
    const two = await twoProcesses({
      onPoll: (job) => (job.polls > 1 ? undefined : new Promise<void>(() => undefined)),
    });
    const { world, gate, other, studio } = two;
    const { id } = (await world.film()).body;
    await world.settle();
    await world.pollsPass();
    const [job] = studio.films.all;
    expect(job).toMatchObject({ polls: 1 });
    gate.shut();
    await other.start();
    if (job !== undefined) done(job);
    await world.pollsPass(2);
    expect(await recordOf(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.films.all.length, await settledOf(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('for a moment, while its provider was being asked: nobody takes over, and it goes on', async () => {
    let accept = (): void => undefined;
    const two = await twoProcesses({
      onSubmit: () =>
        new Promise<void>((resolve) => {
          accept = resolve;
        }),
      onJob: (job) => done(job),
    });
    const { world, gate, other, studio } = two;
    const { id } = (await world.film()).body;
    await world.settle();
    gate.shut();
    await other.start();
    await world.pollsPass(10);
    gate.open();
    accept();
    await world.pollsPass(3);
    expect(await recordOf(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.films.all.length, await settledOf(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('while it fetched the result: another one fetches it, and it is kept and paid once', async () => {
    let go = (): void => undefined;
    const two = await twoProcesses({
      onJob: (job) => done(job),
      onFetch: (job) =>
        job.fetches > 1
          ? undefined
          : new Promise<void>((resolve) => {
              go = resolve;
            }),
    });
    const { world, gate, other, studio } = two;
    const { id } = (await world.film()).body;
    await world.settle();
    await world.pollsPass();
    expect(await recordOf(two, id)).toMatchObject({ state: 'storing', step: 'made' });
    gate.shut();
    await other.start();
    await world.pollsPass(13);
    expect(await recordOf(two, id)).toMatchObject({ state: 'succeeded' });
    gate.open();
    go();
    await world.pollsPass(3);
    expect([studio.films.all.length, await settledOf(two)]).toEqual([1, 1]);
    const film = await world.look(id);
    expect(film.output).toMatchObject({ availability: 'ready' });
    const files = await world.json('GET', '/api/v1/files', { credential: await world.token() });
    expect(files.body.data).toHaveLength(1);
    await other.close();
  });

  it('before the work was queued: the keeper finds it', async () => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), {
      started: false,
    });
    const { id } = (await world.film()).body;
    const [lost] = await world.services.queue.lease({
      kinds: ['video-generation'],
      limit: 1,
      leaseMs: 1000,
    });
    if (lost !== undefined) await world.services.queue.finish(lost);
    await world.api.start();
    await world.clock.advance(95_000);
    await world.pollsPass(3);
    expect(await world.look(id)).toMatchObject({ state: 'succeeded' });
  });
});

describe('a process that stops in good order', () => {
  it('notes what its provider accepted meanwhile, and the next one goes on', async () => {
    let accept = (): void => undefined;
    const two = await twoProcesses({
      onSubmit: () =>
        new Promise<void>((resolve) => {
          accept = resolve;
        }),
      onJob: (job) => done(job),
    });
    const { world, other, studio } = two;
    const { id } = (await world.film()).body;
    await world.settle();
    const stopped = world.api.drain(0);
    await world.settle();
    accept();
    await world.settle();
    await stopped;
    expect(await recordOf(two, id)).toMatchObject({ state: 'running', step: 'submitted' });
    await other.start();
    await world.pollsPass(2);
    expect(await recordOf(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.films.all.length, await settledOf(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('gives back what it looks at, and breaks off no job', async () => {
    let isAsked = false;
    const two = await twoProcesses({
      onPoll: (job) => {
        if (job.polls > 1) return;
        isAsked = true;
        return new Promise<void>(() => undefined);
      },
      onJob: (job) => done(job),
    });
    const { world, other, studio } = two;
    const { id } = (await world.film()).body;
    await world.settle();
    await world.pollsPass();
    expect(isAsked).toBe(true);
    await world.api.drain(0);
    await other.start();
    await world.pollsPass();
    expect(await recordOf(two, id)).toMatchObject({ state: 'succeeded' });
    expect(studio.films.all[0]).toMatchObject({ polls: 2, isCancelled: false });
    await other.close();
  });

  it('does not ask twice for music that is made by one call', async () => {
    const sounds = createSoundStudio({ onSound: () => undefined });
    const world = await createGenerationWorld(createFilmStudio(), { models: [sounds] });
    const { id } = (await world.song({ model: 'band' })).body;
    await world.settle();
    await world.api.drain(0);
    await world.api.start();
    await world.pollsPass(2);
    sounds.sounds[0]?.answer(soundOf(10));
    await world.settle();
    expect(await world.look(id, 'music')).toMatchObject({ state: 'failed', credits: { settled: 0 } });
    expect([sounds.sounds.length, await world.spent()]).toEqual([1, 0]);
  });
});

describe('what is away for a while', () => {
  it('the store, just when a job was accepted: its id is written down all the same', async () => {
    const breakable = createBreakableStore();
    const world = await createGenerationWorld(
      createFilmStudio({
        onJob(job) {
          done(job);
          breakable.failure = new StorageUnavailable('away');
        },
      }),
      { store: breakable.wrap },
    );
    const { id } = (await world.film()).body;
    await world.settle();
    await world.clock.advance(1000);
    breakable.failure = undefined;
    await world.settle();
    await world.pollsPass(3);
    expect(await world.look(id)).toMatchObject({ state: 'succeeded' });
    expect(world.studio.films.all).toHaveLength(1);
  });

  it('the ledger, at the settlement: it is settled later, and once', async () => {
    let failures = 3;
    let settlements = 0;
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), {
      ledger: (ledger) => ({
        ...ledger,
        async settle(...args) {
          settlements += 1;
          failures -= 1;
          // Now and then it was done, and only the answer got lost.
          if (failures % 2 === 0) await ledger.settle(...args);
          if (failures >= 0) throw new StorageUnavailable('away');
          return ledger.settle(...args);
        },
      }),
    });
    const { id } = (await world.film()).body;
    await world.settle();
    await world.pollsPass(4);
    expect(await world.look(id)).toMatchObject({ state: 'succeeded', credits: { settled: 8 } });
    expect([settlements, await world.spent()]).toEqual([4, 8]);
    const entries = await world.ledger.entries(world.account, { limit: 100 });
    expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(1);
    expect(world.studio.films.all[0]?.fetches).toBe(1);
  });
});
