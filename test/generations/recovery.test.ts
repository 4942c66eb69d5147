import { type Api, createApi, createServices } from '@questline/core';
import { GENERATIONS } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import { StorageUnavailable } from '@questline/core/ports';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createGate, type Gate } from '../support/gate.ts';
import {
  createGenerationApp,
  createVideoStudio,
  done,
  type GenerationApp,
  POLL_MS,
  type StudioHooks,
  type VideoStudio,
} from '../support/generations.ts';
import { createSoundStudio, toAudio } from '../support/media.ts';
import { createBreakableStore } from '../support/store.ts';

interface Two {
  readonly app: GenerationApp;
  /** While the gate is shut, the app's process is paused or dead. */
  readonly gate: Gate;
  /** Another process on the same store, ledger and objects, with the same providers. */
  readonly other: Api;
  readonly studio: VideoStudio;
}

async function twoProcesses(videos: StudioHooks<unknown> = {}): Promise<Two> {
  const gate = createGate();
  const studio = createVideoStudio(videos);
  const objects = createMemoryObjects();
  const app = await createGenerationApp(studio, { store: gate.store, ledger: gate.ledger, objects });
  const { limiter, clock } = app.services;
  const services = createServices(
    { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [studio], objects },
    { jwtSecret: 'a'.repeat(64), generations: { pollMs: POLL_MS } },
  );
  return { app, gate, other: createApi(services), studio };
}

/** Reads the record directly: the app's own process may be paused. */
async function getRecord({ gate }: Two, id: string) {
  return gate.shared.store.collection(GENERATIONS).get(id);
}

async function getSettled({ gate, app }: Two): Promise<number> {
  const charges = await gate.shared.ledger.charges({ account: app.account }, 100);
  return charges.filter(({ status }) => status === 'settled').length;
}

describe('crashed generation worker', () => {
  it('is not replaced during submission, and the generation fails free of charge', async () => {
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
    const { app, gate, other, studio } = two;
    const { id } = (await app.video()).body;
    await app.settle();
    expect(await getRecord(two, id)).toMatchObject({ state: 'running', step: 'submitting' });
    gate.shut();
    await other.start();
    await app.pollsPass(13);
    expect(await getRecord(two, id)).toMatchObject({
      state: 'failed',
      error: {
        code: 'provider_error',
        message: 'The submission to the provider was interrupted, and is not repeated. Try again.',
      },
    });
    expect(await gate.shared.ledger.balance(app.account)).toMatchObject({ held: 0, posted: 1000e6 });
    // The process was only paused. The job that its provider accepted meanwhile belongs to no generation.
    gate.open();
    accept();
    await app.pollsPass(3);
    expect(await getRecord(two, id)).toMatchObject({ state: 'failed' });
    expect([asked, studio.videos.all.map(({ isCancelled }) => isCancelled)]).toEqual([1, [true]]);
    expect(await getSettled(two)).toBe(0);
    await other.close();
  });

  it('is replaced between two polls, and the same job continues', async () => {
    const two = await twoProcesses();
    const { app, gate, other, studio } = two;
    const { id } = (await app.video()).body;
    await app.settle();
    gate.shut();
    await other.start();
    await app.pollsPass(2);
    const [job] = studio.videos.all;
    if (job !== undefined) done(job);
    await app.pollsPass(2);
    expect(await getRecord(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.videos.all.length, await getSettled(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('is replaced during a poll within two polls of the end at default settings', async () => {
    const two = await twoProcesses({
      onPoll: (job) => (job.polls > 1 ? undefined : new Promise<void>(() => undefined)),
    });
    const { app, gate, other, studio } = two;
    const { id } = (await app.video()).body;
    await app.settle();
    await app.pollsPass();
    const [job] = studio.videos.all;
    expect(job).toMatchObject({ polls: 1 });
    gate.shut();
    await other.start();
    if (job !== undefined) done(job);
    await app.pollsPass(2);
    expect(await getRecord(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.videos.all.length, await getSettled(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('keeps its job when it was only paused during submission', async () => {
    let accept = (): void => undefined;
    const two = await twoProcesses({
      onSubmit: () =>
        new Promise<void>((resolve) => {
          accept = resolve;
        }),
      onJob: (job) => done(job),
    });
    const { app, gate, other, studio } = two;
    const { id } = (await app.video()).body;
    await app.settle();
    gate.shut();
    await other.start();
    await app.pollsPass(10);
    gate.open();
    accept();
    await app.pollsPass(3);
    expect(await getRecord(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.videos.all.length, await getSettled(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('is replaced during a download, and the result is stored and charged once', async () => {
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
    const { app, gate, other, studio } = two;
    const { id } = (await app.video()).body;
    await app.settle();
    await app.pollsPass();
    expect(await getRecord(two, id)).toMatchObject({ state: 'storing', step: 'made' });
    gate.shut();
    await other.start();
    await app.pollsPass(13);
    expect(await getRecord(two, id)).toMatchObject({ state: 'succeeded' });
    gate.open();
    go();
    await app.pollsPass(3);
    expect([studio.videos.all.length, await getSettled(two)]).toEqual([1, 1]);
    const video = await app.look(id);
    expect(video.output).toMatchObject({ availability: 'ready' });
    const files = await app.json('GET', '/api/v1/files', { credential: await app.token() });
    expect(files.body.data).toHaveLength(1);
    await other.close();
  });

  it('leaves an unqueued generation that maintenance enqueues', async () => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), {
      started: false,
    });
    const { id } = (await app.video()).body;
    const [lost] = await app.services.queue.lease({
      kinds: ['video-generation'],
      limit: 1,
      leaseMs: 1000,
    });
    if (lost !== undefined) await app.services.queue.finish(lost);
    await app.api.start();
    await app.clock.advance(95_000);
    await app.pollsPass(3);
    expect(await app.look(id)).toMatchObject({ state: 'succeeded' });
  });
});

describe('graceful shutdown during generations', () => {
  it('records the job that its provider accepted meanwhile, and the next process continues it', async () => {
    let accept = (): void => undefined;
    const two = await twoProcesses({
      onSubmit: () =>
        new Promise<void>((resolve) => {
          accept = resolve;
        }),
      onJob: (job) => done(job),
    });
    const { app, other, studio } = two;
    const { id } = (await app.video()).body;
    await app.settle();
    const stopped = app.api.drain(0);
    await app.settle();
    accept();
    await app.settle();
    await stopped;
    expect(await getRecord(two, id)).toMatchObject({ state: 'running', step: 'submitted' });
    await other.start();
    await app.pollsPass(2);
    expect(await getRecord(two, id)).toMatchObject({ state: 'succeeded' });
    expect([studio.videos.all.length, await getSettled(two)]).toEqual([1, 1]);
    await other.close();
  });

  it('returns the jobs it polls and cancels none', async () => {
    let isAsked = false;
    const two = await twoProcesses({
      onPoll: (job) => {
        if (job.polls > 1) return;
        isAsked = true;
        return new Promise<void>(() => undefined);
      },
      onJob: (job) => done(job),
    });
    const { app, other, studio } = two;
    const { id } = (await app.video()).body;
    await app.settle();
    await app.pollsPass();
    expect(isAsked).toBe(true);
    await app.api.drain(0);
    await other.start();
    await app.pollsPass();
    expect(await getRecord(two, id)).toMatchObject({ state: 'succeeded' });
    expect(studio.videos.all[0]).toMatchObject({ polls: 2, isCancelled: false });
    await other.close();
  });

  it('does not repeat music that is made by one call', async () => {
    const sounds = createSoundStudio({ onSound: () => undefined });
    const app = await createGenerationApp(createVideoStudio(), { models: [sounds] });
    const { id } = (await app.song({ model: 'band' })).body;
    await app.settle();
    await app.api.drain(0);
    await app.api.start();
    await app.pollsPass(2);
    sounds.sounds[0]?.answer(toAudio(10));
    await app.settle();
    expect(await app.look(id, 'music')).toMatchObject({ state: 'failed', credits: { settled: 0 } });
    expect([sounds.sounds.length, await app.spent()]).toEqual([1, 0]);
  });
});

describe('temporary outage during a generation', () => {
  it('records the id of an accepted job despite an outage of the store', async () => {
    const breakable = createBreakableStore();
    const app = await createGenerationApp(
      createVideoStudio({
        onJob(job) {
          done(job);
          breakable.failure = new StorageUnavailable('away');
        },
      }),
      { store: breakable.wrap },
    );
    const { id } = (await app.video()).body;
    await app.settle();
    await app.clock.advance(1000);
    breakable.failure = undefined;
    await app.settle();
    await app.pollsPass(3);
    expect(await app.look(id)).toMatchObject({ state: 'succeeded' });
    expect(app.studio.videos.all).toHaveLength(1);
  });

  it('settles later and once after an outage of the ledger', async () => {
    let failures = 3;
    let settlements = 0;
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), {
      ledger: (ledger) => ({
        ...ledger,
        async settle(...args) {
          settlements += 1;
          failures -= 1;
          // Every second failure happens after the settlement: only the answer is lost.
          if (failures % 2 === 0) await ledger.settle(...args);
          if (failures >= 0) throw new StorageUnavailable('away');
          return ledger.settle(...args);
        },
      }),
    });
    const { id } = (await app.video()).body;
    await app.settle();
    await app.pollsPass(4);
    expect(await app.look(id)).toMatchObject({ state: 'succeeded', credits: { settled: 8 } });
    expect([settlements, await app.spent()]).toEqual([4, 8]);
    const entries = await app.ledger.entries(app.account, { limit: 100 });
    expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(1);
    expect(app.studio.videos.all[0]?.fetches).toBe(1);
  });
});
