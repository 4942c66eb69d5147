import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as VideoModelV4CallOptions,
  Experimental_VideoModelV4VideoData as VideoModelV4VideoData,
} from '@ai-sdk/provider';
import { videoSize } from '@questline/core/internal';
import {
  type GenerateOptions,
  type Json,
  type MediaJobStatus,
  type MediaJobs,
  type MediaStream,
  ProviderError,
  type VideoRequest,
  type WebTools,
} from '@questline/core/ports';
import { asking, keyed } from './media.ts';
import type { MediaModelByType } from './media-models.ts';

export interface VideoServices {
  readonly provider: string;
  find(id: string): MediaModelByType<'video'>;
  readonly fetchFile: NonNullable<WebTools['fetchFile']>;
}

type Operation = Parameters<NonNullable<VideoModelV4['doStatus']>>[0]['operation'];

/** Content of a job id: the model, and the vendor's operation. */
interface Job {
  readonly model: string;
  readonly operation: Operation;
}

const MAX_BYTES = 512 * 2 ** 20;
/** Messages of vendors that reject a video because of their policy. */
const POLICY = /moderat|safety|policy|policies|prohibited|guidelines|sensitive|blocked/i;

/** Video jobs of SDK models: start, status and result. */
export function createVideos({ provider, find, fetchFile }: VideoServices): MediaJobs<VideoRequest> {
  const withProvider = (options: GenerateOptions) => ({ ...options, provider });

  async function look(job: Job, options: GenerateOptions) {
    const model = keyed(find(job.model), withProvider(options));
    const { signal } = options;
    return model.doStatus({ operation: job.operation, ...(signal !== undefined && { abortSignal: signal }) });
  }

  return {
    submit: (request, options) =>
      asking(withProvider(options), async () => {
        const entry = find(request.model);
        const call = toCall(request, options.signal);
        const prepared = entry.prepare?.(call, request) ?? call;
        const { operation } = await keyed(entry, withProvider(options)).doStart(prepared);
        return JSON.stringify({ model: entry.id, operation } satisfies Job);
      }),

    poll: (jobId, options) =>
      asking(withProvider(options), async (): Promise<MediaJobStatus> => {
        const status = await look(toJob(jobId), options);
        if (status.status === 'pending') return { state: 'running' };
        if (status.status === 'error') {
          return { state: POLICY.test(status.error) ? 'blocked' : 'failed', message: status.error };
        }
        const [video] = status.videos;
        if (video === undefined || video.type === 'uploaded') {
          return { state: 'failed', message: 'the job is done, but has no video' };
        }
        return { state: 'done', output: toOutput(video, jobId) };
      }),

    fetch: (output, options) =>
      asking(withProvider(options), async () => {
        const { url, job } = output as { readonly url?: string; readonly job?: string };
        if (url !== undefined) return fetched(fetchFile, url, options);
        const status = await look(toJob(job ?? ''), options);
        const [video] = status.status === 'completed' ? status.videos : [];
        if (video?.type === 'base64' || video?.type === 'binary') {
          const data = typeof video.data === 'string' ? Buffer.from(video.data, 'base64') : video.data;
          return toStream(video.mediaType, data);
        }
        throw new ProviderError('failed', `${provider}: the video is no longer available`);
      }),
  };
}

function toCall(request: VideoRequest, signal: AbortSignal | undefined): VideoModelV4CallOptions {
  const { prompt, durationSeconds, aspectRatio, audio, image } = request;
  const size = videoSize(request);
  const inputImage = image && { type: 'file' as const, mediaType: image.mediaType, data: image.data };
  return {
    prompt,
    n: 1,
    aspectRatio: aspectRatio as VideoModelV4CallOptions['aspectRatio'],
    resolution: size && `${size.width}x${size.height}`,
    duration: durationSeconds,
    fps: undefined,
    seed: undefined,
    image: inputImage,
    frameImages: undefined,
    inputReferences: undefined,
    generateAudio: audio,
    providerOptions: {},
    ...(signal !== undefined && { abortSignal: signal }),
  };
}

function toJob(jobId: string): Job {
  try {
    return JSON.parse(jobId) as Job;
  } catch (error) {
    throw new ProviderError('failed', 'this is not a job of a bridged model', { cause: error });
  }
}

/** The job record holds no video data: the result is requested again. */
function toOutput(video: VideoModelV4VideoData, job: string): Json {
  return video.type === 'url' ? { url: video.url } : { job };
}

async function fetched(
  fetchFile: VideoServices['fetchFile'],
  address: string,
  { signal }: GenerateOptions,
): Promise<MediaStream> {
  if (!/^https:/i.test(address)) throw new ProviderError('failed', 'the result URL does not use https');
  const fileOptions = { accept: ['video/', 'application/octet-stream'], maxBytes: MAX_BYTES };
  const { mediaType, data } = await fetchFile(address, fileOptions, signal === undefined ? {} : { signal });
  return toStream(mediaType.startsWith('video/') ? mediaType : 'video/mp4', data);
}

function toStream(mediaType: string, data: Uint8Array): MediaStream {
  return {
    mediaType,
    body: (async function* () {
      yield data;
    })(),
  };
}
