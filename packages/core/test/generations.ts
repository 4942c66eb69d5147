import { createFakeClock, createFakeIds } from '@questline/testing';
import { createServices } from '../src/app/create-services.ts';
import type { Services } from '../src/app/services.ts';
import { priceModel } from '../src/credits/pricing.ts';
import { holdCredit } from '../src/credits/reservations.ts';
import { createGenerationHandlers } from '../src/features/media-jobs/job.ts';
import type { GenerationRecord, MusicInput, VideoInput } from '../src/features/media-jobs/records.ts';
import { GENERATIONS, getGenerations, type StoredGeneration } from '../src/features/media-jobs/stored.ts';
import { createMemoryPorts } from '../src/memory/ports.ts';
import type { CatalogueEntry } from '../src/models/catalogue.ts';
import type { MediaJobStatus, MediaJobs, MediaProvider } from '../src/ports/media.ts';
import type { ModelInfo, ModelProvider } from '../src/ports/models.ts';
import type { Collection, Store } from '../src/ports/store.ts';
import { createRunningQuests } from '../src/runs/running.ts';
import type { Incident } from '../src/shared/incident.ts';
import { delayed } from './delayed.ts';

export const ID = 'a'.repeat(24);
const MEDIA = { provider: 'videos', contextWindow: 0, maxOutputTokens: 0 } as const;

/** One credit per second, three at the larger resolution. */
export const VIDEO_MODEL: ModelInfo = {
  ...MEDIA,
  ...{ id: 'director', name: 'Director', type: 'video' },
  video: {
    modes: ['text_to_video', 'image_to_video'],
    duration: { kind: 'discrete', values: [4, 8] },
    aspectRatios: ['16:9', '9:16'],
    resolutions: ['720p', '1080p'],
    defaults: { durationSeconds: 8, aspectRatio: '16:9', resolution: '720p' },
    audio: 'optional',
  },
  prices: { second: 0.01, secondByResolution: { '1080p': 0.03 } },
};

export const MUSIC_MODEL: ModelInfo = {
  ...MEDIA,
  ...{ id: 'composer', name: 'Composer', type: 'music', prices: { second: 0.01 } },
  audio: { formats: ['mp3', 'wav'], maxCharacters: 10, duration: { min: 5, max: 60 } },
};

export const VIDEO_INPUT: VideoInput = {
  ...{ prompt: 'a boat', mode: 'text_to_video', durationSeconds: 8, aspectRatio: '16:9', resolution: '720p' },
};
export const MUSIC_INPUT: MusicInput = {
  prompt: 'a waltz',
  durationSeconds: 8,
  instrumental: false,
  format: 'mp3',
};

const PROVIDER = { id: 'videos', video: {}, musicJobs: {} } as unknown as ModelProvider;
/** A model of the catalogue. */
export const toEntry = (info: ModelInfo, more: object = {}): CatalogueEntry =>
  ({
    info,
    provider: PROVIDER,
    providerModel: info.id,
    prices: priceModel(info.type, info.prices),
    ...more,
  }) as never;

export interface GenerationOptions {
  readonly record?: Partial<GenerationRecord>;
  /** Replaces verbs of the provider's jobs. */
  readonly jobs?: Partial<MediaJobs<unknown>>;
  readonly provider?: Partial<ModelProvider>;
  readonly models?: readonly ModelInfo[];
  readonly status?: MediaJobStatus;
  readonly settings?: object;
  /** Whether eight credits are held. Default: true. */
  readonly isHeld?: boolean;
  readonly change?: (services: Services) => Partial<Services>;
}

/** A generation in a store, its job and its provider. All calls of the store and the ledger have their effects later. */
export async function openGeneration(options: GenerationOptions = {}) {
  const clock = createFakeClock();
  const incidents: Incident[] = [];
  const calls: unknown[][] = [];
  const note = (...call: unknown[]) => void calls.push(call);
  const jobs: MediaJobs<never> = {
    async submit(request, { signal }) {
      note('submit', request, signal?.aborted);
      return 'job-1';
    },
    async poll(id) {
      note('poll', id);
      return options.status ?? { state: 'waiting' };
    },
    async cancel(id) {
      note('cancel', id);
    },
    async fetch(output) {
      note('fetch', output);
      const body = (async function* () {
        yield Buffer.from('hel');
        yield Buffer.from('lo');
      })();
      return { mediaType: 'video/mp4', body };
    },
    ...(options.jobs as Partial<MediaJobs<never>>),
  };
  const media: MediaProvider = { video: jobs, musicJobs: jobs };
  const models = options.models ?? [VIDEO_MODEL, MUSIC_MODEL];
  const provider: ModelProvider = {
    ...{ id: 'videos', models: () => models, generate: () => Promise.reject(new Error('no')) },
    ...media,
    ...options.provider,
  };
  const own = createServices(
    { ...createMemoryPorts({ clock }), models: [provider], clock, ids: createFakeIds(), moderator: null },
    {
      ...{ jwtSecret: 'a'.repeat(64), secretEncryptionKey: 'b'.repeat(64) },
      onError: (incident) => incidents.push(incident),
      generations: { pollMs: 5000, maxMs: 3_600_000 },
      ...options.settings,
    },
  );
  const published: unknown[] = [];
  const questEvents = {
    ...own.questEvents,
    ended: (id: string) => void published.push(['ended', id]),
    stopped: (id: string) => void published.push(['stopped', id]),
  };
  const services = {
    ...own,
    ...{ questEvents, store: delayed(own.store), ledger: delayed(own.ledger), queue: delayed(own.queue) },
    ...options.change?.(own),
  };
  const account = 'user:ada';
  await own.ledger.grant({ account, amount: 100_000_000, key: 'start', reason: 'start' });
  const payer = { account, userId: 'ada' };
  const about = { operation: 'o', model: 'director', requestId: 'r', metered: true, isOwnKey: false };
  const hold =
    options.isHeld === false
      ? undefined
      : await holdCredit(own, { key: ID, payer, amount: 8_000_000, ...about });
  const prices = priceModel('video', VIDEO_MODEL.prices);
  const record: GenerationRecord = {
    ...{ id: ID, kind: 'video', ownerId: 'ada', state: 'pending', source: 'api', model: 'director', payer },
    ...{
      input: VIDEO_INPUT,
      provider: 'videos',
      providerModel: 'director',
      requestId: 'r',
      reserved: 8_000_000,
    },
    ...(prices !== undefined && { prices }),
    ...(hold !== undefined && { hold }),
    ...{
      nextCheckAt: clock.now() + 60_000,
      createdAt: clock.now(),
      updatedAt: clock.now(),
      ...options.record,
    },
  };
  const generations = getGenerations(own.store);
  await generations.insert(record);
  const running = createRunningQuests();
  const [video, music] = createGenerationHandlers(services, running);
  const handler = record.kind === 'video' ? video : music;
  if (handler === undefined) throw new Error('no handler');
  const run = (signal = new AbortController().signal, extendLease = async () => note('extend')) =>
    handler.run(
      { id: 'j', fence: 1, attempt: 1, payload: { generationId: ID } } as never,
      signal,
      async () => {
        await extendLease();
      },
    );
  return {
    ...{ clock, services, own, incidents, calls, published, generations, handler, running, run, record },
    get: async () => (await generations.get(ID)) as GenerationRecord,
    /** Names of the calls of the provider, in their order. */
    names: () => calls.map(([name]) => name),
    async money() {
      const { posted, held } = await own.ledger.balance(account);
      return { charged: 100_000_000 - posted, held };
    },
  };
}

type StoredGenerations = Collection<StoredGeneration>;

/** A store that handles generations in another way. */
export function changeStored(
  store: Store,
  change: (generations: StoredGenerations) => Partial<StoredGenerations>,
): Store {
  return {
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      if (definition.name !== GENERATIONS.name) return records;
      return { ...records, ...change(records as never) } as never;
    },
  };
}

/** A store in which other work is done between the first call of a verb and its answer. */
export function meanwhile(store: Store, verb: 'get' | 'find', work: () => Promise<unknown>): Store {
  let isDone = false;
  return changeStored(store, (generations) => {
    const call = generations[verb] as (...given: unknown[]) => Promise<unknown>;
    const changed = async (...given: unknown[]) => {
      const answer = await call(...given);
      const isFirst = !isDone;
      isDone = true;
      if (isFirst) await work();
      return answer;
    };
    return { [verb]: changed };
  });
}

export const HELD = { charged: 0, held: 8_000_000 };
export const FREE = { charged: 0, held: 0 };
export const CHARGED = { charged: 8_000_000, held: 0 };
export const POLL = { afterMs: 5000, countAttempt: false };
