import type {
  MediaJobStatus,
  MediaJobs,
  ModelInfo,
  ModelProvider,
  MusicRequest,
  VideoRequest,
} from '@questline/core/ports';
import type { AnswerBody } from './answers.ts';
import { type ChatApp, type ChatAppOptions, createChatApp, type JsonAnswer } from './chat.ts';
import type { AskOptions } from './test-app.ts';

/** A generation of a video or of music. */
export type Generation = AnswerBody<'GET', `/api/v1/${'video' | 'music'}-generations/${string}`>;

const MEDIA = { provider: 'videos', contextWindow: 0, maxOutputTokens: 0 } as const;

export const FILM_MODEL: ModelInfo = {
  ...MEDIA,
  id: 'director',
  name: 'Director',
  type: 'video',
  video: {
    modes: ['text_to_video', 'image_to_video'],
    duration: { kind: 'discrete', values: [4, 8] },
    aspectRatios: ['16:9', '9:16'],
    resolutions: ['720p', '1080p'],
    defaults: { durationSeconds: 8, aspectRatio: '16:9', resolution: '720p' },
    audio: 'optional',
  },
  // One or three credits per second.
  prices: { second: 0.01, secondByResolution: { '1080p': 0.03 } },
};

export const SONG_MODEL: ModelInfo = {
  ...MEDIA,
  id: 'composer',
  name: 'Composer',
  type: 'music',
  audio: { formats: ['mp3', 'wav'], maxCharacters: 1000, duration: { min: 5, max: 60 } },
  prices: { second: 0.01 },
};

/** The signature of a video, followed by zeros. */
export function getVideo(bytes = 64): Buffer {
  return Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(bytes - 12, '.')]);
}

/** A job at the provider. The test changes its state. */
export interface StudioJob<R> {
  readonly id: string;
  readonly request: R;
  status: MediaJobStatus;
  content: { readonly mediaType: string; readonly parts: readonly Uint8Array[] };
  polls: number;
  fetches: number;
  isCancelled: boolean;
}

export interface StudioHooks<R> {
  /** Called before the job is accepted; may delay or reject it. */
  readonly onSubmit?: (request: R) => void | Promise<void>;
  /** Called after the job is accepted. */
  readonly onJob?: (job: StudioJob<R>) => void;
  readonly onPoll?: (job: StudioJob<R>) => void | Promise<void>;
  readonly onFetch?: (job: StudioJob<R>) => void | Promise<void>;
}

export interface Jobs<R> extends MediaJobs<R> {
  readonly all: readonly StudioJob<R>[];
}

/** A provider of jobs whose state changes only by the test. */
function createJobs<R>(mediaType: string, content: Uint8Array, hooks: StudioHooks<R> = {}): Jobs<R> {
  const all: StudioJob<R>[] = [];
  const find = (id: unknown): StudioJob<R> => {
    const job = all.find((one) => one.id === id);
    if (job === undefined) throw new Error(`there is no job ${id}`);
    return job;
  };
  return {
    all,
    async submit(request) {
      await hooks.onSubmit?.(request);
      const job: StudioJob<R> = {
        id: `job-${all.length}`,
        request,
        status: { state: 'waiting' },
        content: { mediaType, parts: [content] },
        polls: 0,
        fetches: 0,
        isCancelled: false,
      };
      all.push(job);
      hooks.onJob?.(job);
      return job.id;
    },
    async poll(id) {
      const job = find(id);
      job.polls += 1;
      await hooks.onPoll?.(job);
      return job.status;
    },
    async cancel(id) {
      find(id).isCancelled = true;
    },
    async fetch(output) {
      const job = find(output);
      job.fetches += 1;
      await hooks.onFetch?.(job);
      const { parts } = job.content;
      return {
        mediaType: job.content.mediaType,
        body: (async function* () {
          yield* parts;
        })(),
      };
    },
  };
}

/** Completes the job, so that it can be fetched. */
export function done(job: StudioJob<unknown>, durationSeconds?: number): void {
  job.status = {
    state: 'done',
    output: job.id,
    ...(durationSeconds !== undefined && { durationSeconds }),
  };
}

export interface VideoStudio extends ModelProvider {
  readonly videos: Jobs<VideoRequest>;
  readonly songs: Jobs<MusicRequest>;
}

export function createVideoStudio(
  videos: StudioHooks<VideoRequest> = {},
  songs: StudioHooks<MusicRequest> = {},
  models: readonly ModelInfo[] = [FILM_MODEL, SONG_MODEL],
): VideoStudio {
  const video = createJobs<VideoRequest>('video/mp4', getVideo(), videos);
  const musicJobs = createJobs<MusicRequest>('audio/mpeg', Buffer.from('ID3 a song'), songs);
  return {
    id: 'videos',
    models: () => models,
    generate: () => Promise.reject(new Error('says nothing')),
    videos: video,
    songs: musicJobs,
    video,
    musicJobs,
  };
}

/** Poll interval of the apps in these tests. */
export const POLL_MS = 5000;

export interface GenerationApp extends ChatApp {
  readonly studio: VideoStudio;
  /** Requests a video. */
  video(
    body?: object,
    options?: AskOptions,
  ): Promise<JsonAnswer<AnswerBody<'POST', '/api/v1/video-generations'>>>;
  song(
    body?: object,
    options?: AskOptions,
  ): Promise<JsonAnswer<AnswerBody<'POST', '/api/v1/music-generations'>>>;
  /** The current state of the generation. */
  look(id: string, kind?: 'video' | 'music'): Promise<Generation>;
  /** Advances the clock by this number of poll intervals. */
  pollsPass(times?: number): Promise<void>;
  /** Spent and held credits. */
  spent(): Promise<number>;
}

export async function createGenerationApp(
  studio: VideoStudio = createVideoStudio(),
  options: Partial<ChatAppOptions> = {},
): Promise<GenerationApp> {
  const app = await createChatApp({
    models: [studio],
    ...options,
    settings: { generations: { pollMs: POLL_MS }, ...options.settings },
  });
  const credits = options.credits ?? 1000;
  return {
    ...app,
    studio,
    video: (body = {}, more) =>
      app.json('POST', '/api/v1/video-generations', {
        body: { model: 'director', prompt: 'A red panda walks', ...body },
        ...more,
      }),
    song: (body = {}, more) =>
      app.json('POST', '/api/v1/music-generations', {
        body: { model: 'composer', prompt: 'A waltz', ...body },
        ...more,
      }),
    look: async (id, kind = 'video') =>
      (await app.json('GET', `/api/v1/${kind}-generations/${id}` as const)).body,
    async pollsPass(times = 1) {
      for (let count = 0; count < times; count += 1) {
        await app.clock.advance(POLL_MS);
        await app.settle();
      }
    },
    spent: async () => credits - (await app.ledger.balance(app.account)).available / 1e6,
  };
}
