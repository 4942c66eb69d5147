import { type Json, type Media, type MediaJobStatus, ProviderError } from '@questline/core/ports';
import { record, text } from './fields.ts';

/** Messages of providers that reject a video because of their policy. */
const POLICY =
  /moderat|safety|policy|policies|prohibited|guidelines|sensitive|blocked|responsible ai|filtered/i;

/** The status of a failed job. */
export function failedVideo(code: unknown, message: unknown): MediaJobStatus {
  const said = [text(code), text(message)].filter((one) => one !== undefined).join(': ');
  return { state: POLICY.test(said) ? 'blocked' : 'failed', message: said === '' ? 'no reason given' : said };
}

/** The status of a running job. @param percent 0 to 100, if reported. */
export function videoInProgress(state: 'waiting' | 'running', percent?: unknown): MediaJobStatus {
  const isTold = typeof percent === 'number' && percent >= 0 && percent <= 100;
  return isTold ? { state, progress: percent / 100 } : { state };
}

/** Reads a field of the output that `poll` returned. */
export function outputField(output: Json, name: string): string {
  const value = text(record(output)[name]);
  if (value === undefined) throw new ProviderError('failed', `the result has no ${name}`);
  return value;
}

/** Reads the id in the response to a new job. */
export function getJobId(answer: unknown, name: string): string {
  const id = text(record(answer)[name]);
  if (id === undefined) throw new ProviderError('failed', `accepted the work without its ${name}`);
  return id;
}

/** The fields of a job response; it must be an object. */
export function jobRecord(answer: unknown): Record<string, unknown> {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return record(answer);
  throw new ProviderError('failed', 'the job response is not an object');
}

export function dataUrl({ mediaType, data }: Media): string {
  return `data:${mediaType};base64,${Buffer.from(data).toString('base64')}`;
}
