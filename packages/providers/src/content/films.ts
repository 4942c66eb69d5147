import { type Json, type Media, type MediaJobStatus, ProviderError } from '@questline/core';
import { record, text } from './fields.ts';

/** How providers say, each in its own way, that their policy refused a film. */
const POLICY =
  /moderat|safety|policy|policies|prohibited|guidelines|sensitive|blocked|responsible ai|filtered/i;

/** The end of a job that came to nothing. */
export function failedFilm(code: unknown, message: unknown): MediaJobStatus {
  const said = [text(code), text(message)].filter((one) => one !== undefined).join(': ');
  return { state: POLICY.test(said) ? 'blocked' : 'failed', message: said === '' ? 'no reason given' : said };
}

/** A job under way. @param percent 0 to 100, as far as it is told. */
export function filmUnderWay(state: 'waiting' | 'running', percent?: unknown): MediaJobStatus {
  const isTold = typeof percent === 'number' && percent >= 0 && percent <= 100;
  return isTold ? { state, progress: percent / 100 } : { state };
}

/** A field of what `poll` found, given back to `fetch`. */
export function outputField(output: Json, name: string): string {
  const value = text(record(output)[name]);
  if (value === undefined) throw new ProviderError('failed', `the result has no ${name}`);
  return value;
}

/** The id that the answer to a new job must hold. */
export function jobIdOf(answer: unknown, name: string): string {
  const id = text(record(answer)[name]);
  if (id === undefined) throw new ProviderError('failed', `accepted the work without its ${name}`);
  return id;
}

/** An answer about a job that is no object says nothing. */
export function jobRecord(answer: unknown): Record<string, unknown> {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return record(answer);
  throw new ProviderError('failed', 'answered without telling how the work is');
}

export function dataUrl({ mediaType, data }: Media): string {
  return `data:${mediaType};base64,${Buffer.from(data).toString('base64')}`;
}
