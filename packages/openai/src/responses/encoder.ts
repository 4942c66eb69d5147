import type { ApiError } from '@questline/core';
import { type CompletionEncoder, type CompletionEnd, toWireCredits } from '@questline/core/internal';
import type { ModelPart } from '@questline/core/ports';
import { toWireError } from '../errors.ts';
import { toResponseUsage } from '../usage.ts';
import { ItemWriter, type ItemWriterOptions } from './items.ts';
import { BEGUN, type ResponseState, toIncompleteDetails } from './wire.ts';

export interface ResponseEncoderOptions extends Omit<ItemWriterOptions, 'sink'> {
  /** The fields of the response that repeat its request. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly creditsPerUsd: number;
  /** Epoch seconds. */
  now(): number;
}

/** The codes that clients know. Others are `server_error`. */
const FAILURES: readonly (string | null)[] = [
  'context_length_exceeded',
  'insufficient_quota',
  'rate_limit_exceeded',
];

/** Writes an answer as the events of the Responses API. A class, because its methods run once per part. */
export class ResponseEncoder implements CompletionEncoder {
  readonly head: string;
  readonly #options: ResponseEncoderOptions;
  readonly #items: ItemWriter;
  #sequence = 0;
  #frames = '';

  constructor(options: ResponseEncoderOptions) {
    this.#options = options;
    this.#items = new ItemWriter({ ...options, sink: (type, fields) => this.#event(type, fields) });
    this.#lifecycle('response.created', BEGUN);
    this.#lifecycle('response.in_progress', BEGUN);
    this.head = this.#take();
  }

  add(part: ModelPart): void {
    this.#items.add(part);
  }

  flush(): string {
    this.#items.flush();
    return this.#take();
  }

  end(end: CompletionEnd): string {
    const state = toEndState(end, this.#items, this.#options);
    this.#lifecycle(`response.${state.status}`, state);
    return this.#take();
  }

  /** The event `error` follows the failed response: several clients read only one of them. */
  fail(error: ApiError, end: CompletionEnd): string {
    const { code, message, param, type } = toWireError(error);
    const name = FAILURES.includes(code) && code !== null ? code : 'server_error';
    this.#lifecycle('response.failed', {
      ...toEndState(end, this.#items, this.#options, { isCut: true }),
      status: 'failed',
      completed_at: null,
      error: { code: name, message },
      incomplete_details: null,
    });
    this.#event('error', { code, message, param, error: { type, code, message, param } });
    return this.#take();
  }

  #lifecycle(type: string, state: ResponseState): void {
    this.#event(type, { response: { ...this.#options.request, ...state } });
  }

  #event(type: string, fields: Readonly<Record<string, unknown>>): void {
    const data = JSON.stringify({ type, sequence_number: this.#sequence, ...fields });
    this.#sequence += 1;
    this.#frames += `event: ${type}\ndata: ${data}\n\n`;
  }

  #take(): string {
    const frames = this.#frames;
    this.#frames = '';
    return frames;
  }
}

/** Ends the items, and describes the response. @param isCut an answer that broke off: its open item stays open. */
export function toEndState(
  end: CompletionEnd,
  items: ItemWriter,
  { creditsPerUsd, now }: Pick<ResponseEncoderOptions, 'creditsPerUsd' | 'now'>,
  { isCut = false }: { readonly isCut?: boolean } = {},
): ResponseState {
  const incomplete = toIncompleteDetails(end.finishReason);
  if (!isCut) items.close(incomplete === null ? 'completed' : 'incomplete');
  const credits = toWireCredits(end, creditsPerUsd);
  return {
    status: incomplete === null ? 'completed' : 'incomplete',
    output: items.output,
    completed_at: incomplete === null ? now() : null,
    error: null,
    incomplete_details: incomplete,
    usage: toResponseUsage(end),
    ...(credits !== undefined && { credits }),
  };
}
