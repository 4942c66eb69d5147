import {
  type GenerateOptions,
  type MediaJobs,
  ProviderError,
  type VideoRequest,
} from '@questline/core/ports';
import { record, text } from '../content/fields.ts';
import {
  dataUrl,
  failedVideo,
  getJobId,
  jobRecord,
  outputField,
  videoInProgress,
} from '../content/video-jobs.ts';
import type { Upstream } from '../http/upstream.ts';

/** Videos by `/videos/generations`. The API cannot cancel, and its result URLs expire. */
export function createVideos(
  upstream: Upstream,
  access: (options: GenerateOptions) => { readonly key: string; readonly headers: readonly string[] },
): MediaJobs<VideoRequest> {
  return {
    async submit(request, options) {
      const { model, prompt, durationSeconds, aspectRatio, resolution, image } = request;
      const body = JSON.stringify({
        model,
        prompt,
        duration: durationSeconds,
        aspect_ratio: aspectRatio,
        resolution,
        ...(image !== undefined && { image: { url: dataUrl(image) } }),
      });
      const call = { ...access(options), path: '/videos/generations', body, signal: options.signal };
      return getJobId(await upstream.job(call), 'request_id');
    },

    async poll(jobId, options) {
      const path = `/videos/${encodeURIComponent(jobId)}`;
      const call = { ...access(options), path, method: 'GET', signal: options.signal } as const;
      const answer = jobRecord(await upstream.job(call));
      const { status, progress } = answer;
      const error = record(answer.error);
      const video = record(answer.video);
      const url = text(video.url);
      if (status === 'failed' || status === 'expired')
        return failedVideo(error.code ?? status, error.message);
      if (video.respect_moderation === false)
        return { state: 'blocked', message: 'respect_moderation: false' };
      if (status !== 'done' && (status !== undefined || url === undefined)) {
        return videoInProgress(status === 'pending' ? 'waiting' : 'running', progress);
      }
      if (url === undefined) return { state: 'failed', message: 'the job is done, but has no video' };
      const { duration } = video;
      const isTold = typeof duration === 'number' && duration > 0;
      return { state: 'done', output: { url }, ...(isTold && { durationSeconds: duration }) };
    },

    async fetch(output, options) {
      const address = outputField(output, 'url');
      if (!URL.canParse(address)) throw new ProviderError('failed', 'names a result without an address');
      return upstream.download({ ...access(options), signal: options.signal }, new URL(address));
    },
  };
}
