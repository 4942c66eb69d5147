import { type MediaJobStatus, ProviderError, type VideoRequest } from '@questline/core/ports';
import { record } from '../content/fields.ts';
import { failedVideo, getJobId, jobRecord } from '../content/video-jobs.ts';
import type { Upstream } from '../http/upstream.ts';
import { makeFile } from './files.ts';
import type { Access } from './interactions.ts';

/** The name of an operation: a path below the base URL. */
const NAME = /^(?:[\w.-]+\/)*operations\/[\w.-]+$/;

/** Submits a video job with `predictLongRunning`. @returns the operation's name. */
export async function orderOperation(
  upstream: Upstream,
  { model, prompt, image, aspectRatio, resolution, durationSeconds }: VideoRequest,
  access: Access,
): Promise<string> {
  const inputImage = image && {
    bytesBase64Encoded: Buffer.from(image.data).toString('base64'),
    mimeType: image.mediaType,
  };
  const body = JSON.stringify({
    instances: [{ prompt, ...(inputImage !== undefined && { image: inputImage }) }],
    parameters: { aspectRatio, resolution, durationSeconds },
  });
  const path = `/models/${encodeURIComponent(model)}:predictLongRunning`;
  const name = getJobId(await upstream.job({ ...access, path, body }), 'name');
  if (!NAME.test(name)) throw new ProviderError('failed', 'accepted the work, but returned an invalid name');
  return name;
}

export async function pollOperation(
  upstream: Upstream,
  name: string,
  access: Access,
): Promise<MediaJobStatus> {
  if (!NAME.test(name)) throw new ProviderError('invalid_request', 'this is no operation');
  const answer = jobRecord(await upstream.job({ ...access, path: `/${name}`, method: 'GET' }));
  if (answer.done !== true) return { state: 'running' };
  if (answer.error !== undefined) {
    const { status, code, message } = record(answer.error);
    return failedVideo(status ?? String(code), message);
  }
  const { generatedSamples, raiMediaFilteredReasons } = record(record(answer.response).generateVideoResponse);
  const [sample] = Array.isArray(generatedSamples) ? generatedSamples.map(record) : [];
  if (sample !== undefined) return { state: 'done', output: { file: makeFile(record(sample.video).uri) } };
  return Array.isArray(raiMediaFilteredReasons)
    ? { state: 'blocked', message: raiMediaFilteredReasons.map(String).join(' ') }
    : { state: 'failed', message: 'the job is done, but has no video' };
}
