import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as VideoModelV4CallOptions,
  Experimental_VideoModelV4VideoData as VideoModelV4VideoData,
} from '@ai-sdk/provider';
import {
  filmSize,
  type GenerateOptions,
  type Json,
  type MediaJobStatus,
  type MediaJobs,
  type MediaStream,
  ProviderError,
  type VideoRequest,
  type WebTools,
} from '@questline/core';
import { asking, keyed } from './media.ts';
import type { MediaModelOf } from './media-models.ts';

export interface VideoServices {
  readonly provider: string;
  find(id: string): MediaModelOf<'video'>;
  readonly fetchFile: NonNullable<WebTools['fetchFile']>;
}

type Operation = Parameters<NonNullable<VideoModelV4['doStatus']>>[0]['operation'];

/** What a job's id holds: the model that it is asked at, and what that calls it. */
interface Job {
  readonly model: string;
  readonly operation: Operation;
}

const MOST_BYTES = 512 * 2 ** 20;
/** How vendors say, each in its own way, that their policy refused a film. */
const POLICY = /moderat|safety|policy|policies|prohibited|guidelines|sensitive|blocked/i;

/** Films of SDK models: started, asked about, and fetched. */
export function createVideos({ provider, find, fetchFile }: VideoServices): MediaJobs<VideoRequest> {
  const terms = (options: GenerateOptions) => ({ ...options, provider });

  async function look(job: Job, options: GenerateOptions) {
    const model = keyed(find(job.model), terms(options));
    const { signal } = options;
    return model.doStatus({ operation: job.operation, ...(signal !== undefined && { abortSignal: signal }) });
  }

  return {
    submit: (request, options) =>
      asking(terms(options), async () => {
        const entry = find(request.model);
        const call = callOf(request, options.signal);
        const prepared = entry.prepare?.(call, request) ?? call;
        const { operation } = await keyed(entry, terms(options)).doStart(prepared);
        return JSON.stringify({ model: entry.id, operation } satisfies Job);
      }),

    poll: (jobId, options) =>
      asking(terms(options), async (): Promise<MediaJobStatus> => {
        const status = await look(jobOf(jobId), options);
        if (status.status === 'pending') return { state: 'running' };
        if (status.status === 'error') {
          return { state: POLICY.test(status.error) ? 'blocked' : 'failed', message: status.error };
        }
        const [film] = status.videos;
        if (film === undefined || film.type === 'uploaded') {
          return { state: 'failed', message: 'it is done, and there is no film' };
        }
        return { state: 'done', output: outputOf(film, jobId) };
      }),

    fetch: (output, options) =>
      asking(terms(options), async () => {
        const { url, job } = output as { readonly url?: string; readonly job?: string };
        if (url !== undefined) return fetched(fetchFile, url, options);
        const status = await look(jobOf(job ?? ''), options);
        const [film] = status.status === 'completed' ? status.videos : [];
        if (film?.type === 'base64' || film?.type === 'binary') {
          const data = typeof film.data === 'string' ? Buffer.from(film.data, 'base64') : film.data;
          return streamOf(film.mediaType, data);
        }
        throw new ProviderError('failed', `${provider}: the film is gone`);
      }),
  };
}

function callOf(request: VideoRequest, signal: AbortSignal | undefined): VideoModelV4CallOptions {
  const { prompt, durationSeconds, aspectRatio, audio, image } = request;
  const size = filmSize(request);
  const picture = image && { type: 'file' as const, mediaType: image.mediaType, data: image.data };
  return {
    prompt,
    n: 1,
    aspectRatio: aspectRatio as VideoModelV4CallOptions['aspectRatio'],
    resolution: size && `${size.width}x${size.height}`,
    duration: durationSeconds,
    fps: undefined,
    seed: undefined,
    image: picture,
    frameImages: undefined,
    inputReferences: undefined,
    generateAudio: audio,
    providerOptions: {},
    ...(signal !== undefined && { abortSignal: signal }),
  };
}

function jobOf(jobId: string): Job {
  try {
    return JSON.parse(jobId) as Job;
  } catch (error) {
    throw new ProviderError('failed', 'this is no job of a bridged model', { cause: error });
  }
}

/** A film itself is no part of a job's record: it is asked for once more. */
function outputOf(film: VideoModelV4VideoData, job: string): Json {
  return film.type === 'url' ? { url: film.url } : { job };
}

async function fetched(
  fetchFile: VideoServices['fetchFile'],
  address: string,
  { signal }: GenerateOptions,
): Promise<MediaStream> {
  if (!/^https:/i.test(address)) throw new ProviderError('failed', 'names a result that is not at https');
  const terms = { accept: ['video/', 'application/octet-stream'], maxBytes: MOST_BYTES };
  const { mediaType, data } = await fetchFile(address, terms, signal === undefined ? {} : { signal });
  return streamOf(mediaType.startsWith('video/') ? mediaType : 'video/mp4', data);
}

function streamOf(mediaType: string, data: Uint8Array): MediaStream {
  return {
    mediaType,
    body: (async function* () {
      yield data;
    })(),
  };
}
