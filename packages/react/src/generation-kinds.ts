import {
  type Client,
  checkQuest,
  type EventStream,
  follow,
  type Operation,
  poll,
  type Quest,
  QuestlineError,
} from '@questline/client';
import {
  type CreateMusicGenerationRequest,
  type CreateVideoGenerationRequest,
  cancelMusicGeneration,
  cancelQuest,
  cancelVideoGeneration,
  createMusicGeneration,
  createSession,
  createVideoGeneration,
  type GenerateImageRequest,
  type GetMusicGenerationResponse,
  type GetVideoGenerationResponse,
  generateImage,
  getMusicGeneration,
  getMusicGenerationEvents,
  getQuestEvents,
  getVideoGeneration,
  getVideoGenerationEvents,
} from '@questline/client/operations';
import { isNotFound } from './error.ts';

/** The request and the job of each kind. The job of an image is a quest. */
export interface GenerationTypes {
  readonly image: { readonly request: GenerateImageRequest; readonly job: Quest };
  readonly video: {
    readonly request: CreateVideoGenerationRequest;
    readonly job: GetVideoGenerationResponse;
  };
  readonly music: {
    readonly request: CreateMusicGenerationRequest;
    readonly job: GetMusicGenerationResponse;
  };
}

export type GenerationKind = keyof GenerationTypes;

/** How jobs of a kind are started, followed and read. */
export interface KindRules<Request, Job> {
  start(client: Client, request: Request): Promise<{ readonly id: string }>;
  follow(client: Client, id: string, signal: AbortSignal): AsyncIterable<Job>;
  cancel(client: Client, id: string): Promise<unknown>;
  /** From 0 to 1. */
  getProgress(job: Job): number | undefined;
  getUrls(job: Job): readonly string[];
  getOutcome(job: Job): 'running' | 'done' | 'failed' | 'stopped';
  getError(job: Job): QuestlineError | undefined;
}

type MediaJob = GetVideoGenerationResponse | GetMusicGenerationResponse;
interface ById {
  readonly params: { readonly id: string };
}

/** The operations of a kind whose jobs have their own records. */
interface MediaOperations<Request, Job> {
  readonly create: Operation<{ readonly body: Request }, Job>;
  readonly get: Operation<ById, Job>;
  readonly events: Operation<ById, EventStream<{ readonly type: string; readonly state: Job }> | undefined>;
  readonly cancel: Operation<ById, Job>;
}

/** A result can be used when its check has ended. */
const isChecked = ({ output }: MediaJob): boolean => output?.availability !== 'pending_scan';

function createMediaRules<Request, Job extends MediaJob>({
  create,
  get,
  events,
  cancel,
}: MediaOperations<Request, Job>): KindRules<Request, Job> {
  return {
    start: (client, body) => client.call<{ readonly body: Request }, Job>(create, { body }),
    async *follow(client, id, signal) {
      const input = { params: { id } };
      for await (const { state } of follow(client, events, input, { signal })) {
        yield state;
        if (!isChecked(state)) yield* poll(client, get, input, { signal, isFinal: isChecked });
      }
    },
    cancel: (client, id) => client.call(cancel, { params: { id } }),
    getProgress: ({ progress }) => progress ?? undefined,
    getUrls: ({ output }) => (output === null || output.url === null ? [] : [output.url]),
    getOutcome({ state }) {
      if (state === 'succeeded') return 'done';
      if (state === 'cancelled') return 'stopped';
      return state === 'failed' || state === 'blocked' ? 'failed' : 'running';
    },
    getError(job) {
      if (job.error === null) return undefined;
      const { code, message } = job.error;
      return new QuestlineError(message, { code, charge: { credits: job.credits.settled ?? 0 }, body: job });
    },
  };
}

/** Without a `sessionId`, images are added to the latest session of the user. The first one makes it. */
async function startImage(client: Client, body: GenerateImageRequest): Promise<{ readonly id: string }> {
  try {
    return await client.call(generateImage, { body });
  } catch (error) {
    if (!isNotFound(error) || isGiven(body.sessionId) || isGiven(body.organizationId)) throw error;
    const { id: sessionId } = await client.call(createSession, { body: { name: body.prompt.slice(0, 80) } });
    return client.call(generateImage, { body: { ...body, sessionId } });
  }
}

const isGiven = (id: string | null | undefined): boolean => id !== undefined && id !== null;

export const RULES: {
  readonly [K in GenerationKind]: KindRules<GenerationTypes[K]['request'], GenerationTypes[K]['job']>;
} = {
  image: {
    start: startImage,
    async *follow(client, id, signal) {
      for await (const event of follow(client, getQuestEvents, { params: { id } }, { signal }))
        if (event.type === 'snapshot' || event.type === 'end') yield event.state;
    },
    cancel: (client, id) => client.call(cancelQuest, { params: { id } }),
    getProgress: () => undefined,
    getUrls: ({ files }) => files.map(({ url }) => url),
    getOutcome({ status, type }) {
      if (status === 'stopped') return 'stopped';
      if (status !== 'done') return 'running';
      return type === 'error' ? 'failed' : 'done';
    },
    getError(quest) {
      try {
        checkQuest(quest);
        return undefined;
      } catch (error) {
        return error instanceof QuestlineError ? error : undefined;
      }
    },
  },
  video: createMediaRules({
    create: createVideoGeneration,
    get: getVideoGeneration,
    events: getVideoGenerationEvents,
    cancel: cancelVideoGeneration,
  }),
  music: createMediaRules({
    create: createMusicGeneration,
    get: getMusicGeneration,
    events: getMusicGenerationEvents,
    cancel: cancelMusicGeneration,
  }),
};
