import type { ApiError } from '@questline/core';
import { type CompletionEncoder, type CompletionEnd, toWireCredits } from '@questline/core/internal';
import type { ModelPart } from '@questline/core/ports';
import { toResponseUsage } from '../usage.ts';
import { toErrorEvent, toResponseError } from './failure.ts';
import { createEventFrames } from './frames.ts';
import { ItemWriter, type ItemWriterOptions } from './items.ts';
import { BEGUN, type ResponseState, toIncompleteDetails } from './wire.ts';

export interface ResponseEncoderOptions extends Omit<ItemWriterOptions, 'sink'> {
  /** The fields of the response that repeat its request. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly creditsPerUsd: number;
  /** Epoch seconds. */
  now(): number;
}

/** Writes an answer as the events of the Responses API. A class, because its methods run once per part. */
export class ResponseEncoder implements CompletionEncoder {
  readonly head: string;
  readonly #options: ResponseEncoderOptions;
  readonly #items: ItemWriter;
  readonly #frames = createEventFrames();

  constructor(options: ResponseEncoderOptions) {
    this.#options = options;
    this.#items = new ItemWriter({ ...options, sink: this.#frames.event });
    this.#lifecycle('response.created', BEGUN);
    this.#lifecycle('response.in_progress', BEGUN);
    this.head = this.#frames.take();
  }

  add(part: ModelPart): void {
    this.#items.add(part);
  }

  flush(): string {
    this.#items.flush();
    return this.#frames.take();
  }

  end(end: CompletionEnd): string {
    const state = toEndState(end, this.#items, this.#options);
    this.#lifecycle(`response.${state.status}`, state);
    return this.#frames.take();
  }

  /** The event `error` follows the failed response: several clients read only one of them. */
  fail(error: ApiError, end: CompletionEnd): string {
    this.#lifecycle('response.failed', {
      ...toEndState(end, this.#items, this.#options, { isCut: true }),
      status: 'failed',
      completed_at: null,
      error: toResponseError(error),
      incomplete_details: null,
    });
    this.#frames.event('error', toErrorEvent(error));
    return this.#frames.take();
  }

  #lifecycle(type: string, state: ResponseState): void {
    this.#frames.event(type, { response: { ...this.#options.request, ...state } });
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
