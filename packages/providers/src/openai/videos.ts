import {
  filmSize,
  type GenerateOptions,
  type MediaJobs,
  ProviderError,
  type VideoRequest,
} from '@questline/core';
import { record } from '../content/fields.ts';
import { failedFilm, filmUnderWay, jobIdOf, jobRecord, outputField } from '../content/films.ts';
import { type FormField, multipart, typed } from '../http/multipart.ts';
import type { Upstream } from '../http/upstream.ts';
import { readOpenAIError } from './errors.ts';

/**
 * Films by `/videos`. The vendor has switched its own off (September 2026); gateways and servers that speak its protocol
 * go on.
 */
export function createVideos(
  upstream: Upstream,
  access: (options: GenerateOptions) => { readonly key: string; readonly headers: readonly string[] },
): MediaJobs<VideoRequest> {
  const at = (id: string): string => `/videos/${encodeURIComponent(id)}`;
  return {
    async submit(request, options) {
      const { key, headers } = access(options);
      const { contentType, body } = multipart(fieldsOf(request));
      const call = {
        path: '/videos',
        headers: typed(headers, contentType),
        body,
        key,
        signal: options.signal,
      };
      return jobIdOf(await upstream.job(call), 'id');
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
          : failedFilm(error.code ?? status, error.message);
      }
      return filmUnderWay(status === 'queued' ? 'waiting' : 'running', progress);
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

function fieldsOf(request: VideoRequest): FormField[] {
  const { model, prompt, durationSeconds, image } = request;
  const size = filmSize(request);
  if (size === undefined) {
    throw new ProviderError(
      'invalid_request',
      `there are no films of ${request.aspectRatio} at ${request.resolution}`,
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
