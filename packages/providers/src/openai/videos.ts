import { videoSize } from '@questline/core/internal';
import {
  type GenerateOptions,
  type MediaJobs,
  ProviderError,
  type VideoRequest,
} from '@questline/core/ports';
import { record } from '../content/fields.ts';
import { failedVideo, getJobId, jobRecord, outputField, videoInProgress } from '../content/video-jobs.ts';
import { type FormField, multipart, typed } from '../http/multipart.ts';
import type { Upstream } from '../http/upstream.ts';
import { readOpenAIError } from './errors.ts';

/**
 * Videos with `/videos`. OpenAI ended its service in September 2026; compatible gateways and servers
 * still offer it.
 */
export function createVideos(
  upstream: Upstream,
  access: (options: GenerateOptions) => { readonly key: string; readonly headers: readonly string[] },
): MediaJobs<VideoRequest> {
  const at = (id: string): string => `/videos/${encodeURIComponent(id)}`;
  return {
    async submit(request, options) {
      const { key, headers } = access(options);
      const { contentType, body } = multipart(toFields(request));
      const call = {
        path: '/videos',
        headers: typed(headers, contentType),
        body,
        key,
        signal: options.signal,
      };
      return getJobId(await upstream.job(call), 'id');
    },

    async poll(jobId, options) {
      const call = { ...access(options), path: at(jobId), method: 'GET', signal: options.signal } as const;
      const answer = jobRecord(await upstream.job(call));
      const { status, progress, seconds } = answer;
      const error = record(answer.error);
      if (status === 'completed') {
        const durationSeconds = Number(seconds);
        return {
          state: 'done',
          output: { id: jobId },
          ...(durationSeconds > 0 && durationSeconds < 86_400 && { durationSeconds }),
        };
      }
      if (status === 'failed' || status === 'cancelled' || status === 'expired') {
        return readOpenAIError(answer, 0).kind === 'content_blocked'
          ? { state: 'blocked', message: String(error.code) }
          : failedVideo(error.code ?? status, error.message);
      }
      return videoInProgress(status === 'queued' ? 'waiting' : 'running', progress);
    },

    async cancel(jobId, options) {
      const call = { ...access(options), path: at(jobId), method: 'DELETE', signal: options.signal } as const;
      await upstream.job(call);
    },

    fetch: async (output, options) =>
      upstream.download(
        { ...access(options), signal: options.signal },
        `${at(outputField(output, 'id'))}/content`,
      ),
  };
}

function toFields(request: VideoRequest): FormField[] {
  const { model, prompt, durationSeconds, image } = request;
  const size = videoSize(request);
  if (size === undefined) {
    throw new ProviderError(
      'invalid_request',
      `there are no videos of ${request.aspectRatio} at ${request.resolution}`,
    );
  }
  const ending = image?.mediaType.split('/')[1] ?? 'png';
  return [
    { name: 'model', value: model },
    { name: 'prompt', value: prompt },
    { name: 'seconds', value: String(durationSeconds) },
    { name: 'size', value: `${size.width}x${size.height}` },
    ...(image === undefined ? [] : [{ name: 'input_reference', filename: `image.${ending}`, ...image }]),
  ];
}
