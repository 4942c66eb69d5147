import { type MediaJobStatus, type MediaStream, ProviderError, type VideoRequest } from '@questline/core';
import { record, text } from '../content/fields.ts';
import { failedFilm, filmUnderWay, jobIdOf, jobRecord } from '../content/films.ts';
import type { Upstream } from '../http/upstream.ts';
import { fileOf } from './files.ts';

/** What every call goes with. */
export interface Access {
  readonly key: string;
  readonly headers: readonly string[];
  readonly signal: AbortSignal | undefined;
}

const at = (id: string): string => `/interactions/${encodeURIComponent(id)}`;

/** Hands a film in. @returns the interaction's id. */
export async function orderInteraction(
  upstream: Upstream,
  { model, prompt, image, aspectRatio, resolution, durationSeconds }: VideoRequest,
  access: Access,
): Promise<string> {
  const words = { type: 'text', text: prompt };
  const picture = image && {
    type: 'image',
    data: Buffer.from(image.data).toString('base64'),
    mime_type: image.mediaType,
  };
  const body = JSON.stringify({
    model,
    input: picture === undefined ? prompt : [picture, words],
    // What runs in the background has to be kept, or nobody could ask for it.
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
      video_config: { task: picture === undefined ? 'text_to_video' : 'image_to_video' },
    },
  });
  return jobIdOf(await upstream.job({ ...access, path: '/interactions', body }), 'id');
}

export async function pollInteraction(
  upstream: Upstream,
  id: string,
  access: Access,
): Promise<MediaJobStatus> {
  const answer = await read(upstream, id, access);
  const { status } = answer;
  if (status === 'completed') {
    const film = filmOf(answer);
    if (film === undefined) return failedFilm('no film', saidIn(answer));
    // The API tends to answer with the film itself, whatever was asked for. A job's record is no place for it.
    return {
      state: 'done',
      output: film.uri === undefined ? { interaction: id } : { file: fileOf(film.uri) },
    };
  }
  if (status === 'queued' || status === 'in_progress' || status === undefined) {
    return filmUnderWay(status === 'queued' ? 'waiting' : 'running');
  }
  const { code, message } = record(answer.error);
  return failedFilm(code ?? status, message ?? saidIn(answer));
}

export async function cancelInteraction(upstream: Upstream, id: string, access: Access): Promise<void> {
  await upstream.job({ ...access, path: `${at(id)}/cancel`, body: '{}' });
}

export async function fetchInteraction(upstream: Upstream, id: string, access: Access): Promise<MediaStream> {
  const film = filmOf(await read(upstream, id, access));
  const base64 = text(film?.data);
  if (base64 === undefined) throw new ProviderError('failed', 'answered without the film');
  const data = Buffer.from(base64, 'base64');
  return {
    mediaType: text(film?.mime_type) ?? 'video/mp4',
    body: (async function* () {
      yield data;
    })(),
  };
}

async function read(upstream: Upstream, id: string, access: Access): Promise<Record<string, unknown>> {
  return jobRecord(await upstream.job({ ...access, path: at(id), method: 'GET' }));
}

function contentsOf({ steps }: Record<string, unknown>): readonly Record<string, unknown>[] {
  const outputs = (Array.isArray(steps) ? steps.map(record) : []).filter(
    ({ type }) => type === 'model_output',
  );
  return outputs.flatMap(({ content }) => (Array.isArray(content) ? content.map(record) : []));
}

function filmOf(answer: Record<string, unknown>): Record<string, unknown> | undefined {
  return contentsOf(answer).find(({ type }) => type === 'video');
}

/** What the model wrote in place of a film: mostly why there is none. */
function saidIn(answer: Record<string, unknown>): string {
  return contentsOf(answer)
    .flatMap((content) => text(content.text) ?? [])
    .join(' ');
}
