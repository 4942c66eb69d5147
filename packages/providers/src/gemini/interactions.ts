import {
  type MediaJobStatus,
  type MediaStream,
  ProviderError,
  type VideoRequest,
} from '@questline/core/ports';
import { record, text } from '../content/fields.ts';
import { failedVideo, getJobId, jobRecord, videoInProgress } from '../content/video-jobs.ts';
import type { Upstream } from '../http/upstream.ts';
import { makeFile } from './files.ts';

/** The parameters of every call. */
export interface Access {
  readonly key: string;
  readonly headers: readonly string[];
  readonly signal: AbortSignal | undefined;
}

const at = (id: string): string => `/interactions/${encodeURIComponent(id)}`;

/** Submits a video job. @returns the interaction's id. */
export async function orderInteraction(
  upstream: Upstream,
  { model, prompt, image, aspectRatio, resolution, durationSeconds }: VideoRequest,
  access: Access,
): Promise<string> {
  const words = { type: 'text', text: prompt };
  const inputImage = image && {
    type: 'image',
    data: Buffer.from(image.data).toString('base64'),
    mime_type: image.mediaType,
  };
  const body = JSON.stringify({
    model,
    input: inputImage === undefined ? prompt : [inputImage, words],
    // Background work must be stored, or its result could not be requested.
    background: true,
    store: true,
    response_format: {
      type: 'video',
      aspect_ratio: aspectRatio,
      resolution,
      duration: `${durationSeconds}s`,
      delivery: 'uri',
    },
    generation_config: {
      video_config: { task: inputImage === undefined ? 'text_to_video' : 'image_to_video' },
    },
  });
  return getJobId(await upstream.job({ ...access, path: '/interactions', body }), 'id');
}

export async function pollInteraction(
  upstream: Upstream,
  id: string,
  access: Access,
): Promise<MediaJobStatus> {
  const answer = await read(upstream, id, access);
  const { status } = answer;
  if (status === 'completed') {
    const video = getVideo(answer);
    if (video === undefined) return failedVideo('no video', saidIn(answer));
    // The API may return the video itself, whatever was requested. The job record must not hold it.
    return {
      state: 'done',
      output: video.uri === undefined ? { interaction: id } : { file: makeFile(video.uri) },
    };
  }
  if (status === 'queued' || status === 'in_progress' || status === undefined) {
    return videoInProgress(status === 'queued' ? 'waiting' : 'running');
  }
  const { code, message } = record(answer.error);
  return failedVideo(code ?? status, message ?? saidIn(answer));
}

export async function cancelInteraction(upstream: Upstream, id: string, access: Access): Promise<void> {
  await upstream.job({ ...access, path: `${at(id)}/cancel`, body: '{}' });
}

export async function fetchInteraction(upstream: Upstream, id: string, access: Access): Promise<MediaStream> {
  const video = getVideo(await read(upstream, id, access));
  const base64 = text(video?.data);
  if (base64 === undefined) throw new ProviderError('failed', 'the response contains no video');
  const data = Buffer.from(base64, 'base64');
  return {
    mediaType: text(video?.mime_type) ?? 'video/mp4',
    body: (async function* () {
      yield data;
    })(),
  };
}

async function read(upstream: Upstream, id: string, access: Access): Promise<Record<string, unknown>> {
  return jobRecord(await upstream.job({ ...access, path: at(id), method: 'GET' }));
}

function getContents({ steps }: Record<string, unknown>): readonly Record<string, unknown>[] {
  const outputs = (Array.isArray(steps) ? steps.map(record) : []).filter(
    ({ type }) => type === 'model_output',
  );
  return outputs.flatMap(({ content }) => (Array.isArray(content) ? content.map(record) : []));
}

function getVideo(answer: Record<string, unknown>): Record<string, unknown> | undefined {
  return getContents(answer).find(({ type }) => type === 'video');
}

/** The text that the model returned instead of a video: usually the reason. */
function saidIn(answer: Record<string, unknown>): string {
  return getContents(answer)
    .flatMap((content) => text(content.text) ?? [])
    .join(' ');
}
