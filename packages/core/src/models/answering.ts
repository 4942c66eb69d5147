import { type ApiError, isApiError } from '../errors.ts';
import type { Incident } from '../incident.ts';
import type { ErrorFamily } from '../operation.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type GenerateRequest,
  isProviderError,
  type ModelChunk,
  type ModelPart,
  ProviderError,
  type ProviderErrorKind,
} from '../ports/models.ts';
import { eventually, leave, untilAborted } from '../streams.ts';
import type { Breaker } from './breaker.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { providerFailure } from './failures.ts';

/** Pauses before a model is asked once more, if its provider does not say how long. */
const RETRY_PAUSES_MS = [500, 2000];
/** A provider that wants a longer pause is not waited for. */
const LONGEST_PAUSE_MS = 10_000;

/** Worth another try on the same model. */
const RETRIED: readonly ProviderErrorKind[] = ['overloaded', 'failed'];
/** The provider's trouble, not the caller's request: another model may do better. */
const PROVIDER_TROUBLE: readonly ProviderErrorKind[] = [
  'overloaded',
  'failed',
  'timeout',
  'rejected_key',
  'not_configured',
];
/** What says that a provider is down. */
const DOWN: readonly ProviderErrorKind[] = ['overloaded', 'failed', 'timeout'];

/** What a model call costs, as far as this file needs to know. */
export interface CallMoney {
  /** The call came to nothing: it is free. */
  release(): Promise<void>;
}

/** A model that has begun to answer. */
export interface Answering<M extends CallMoney> {
  readonly entry: CatalogueEntry;
  readonly money: M;
  /** From the first part on. */
  readonly chunks: AsyncIterator<ModelChunk>;
  /** Why the first model asked did not answer, when it was another one. */
  readonly firstFailure: ApiError | undefined;
}

export interface AskTerms<M extends CallMoney> {
  /** In order: the next one is asked when the one before has failed through no fault of the request. At least one. */
  readonly candidates: readonly CatalogueEntry[];
  readonly requestFor: (entry: CatalogueEntry) => GenerateRequest;
  /** Holds what the call may cost; rejects when that is refused. */
  readonly pay: (entry: CatalogueEntry, request: GenerateRequest) => Promise<M>;
  /** Whose words failures are told in. Default `public`. */
  readonly family?: ErrorFamily;
  readonly operation: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export interface AnsweringServices {
  readonly clock: Clock;
  readonly breaker: Breaker;
  readonly onError: (incident: Incident) => void;
}

/**
 * Asks models until one has said its first word. Before that word a call may be repeated, or go to the next model;
 * after it, never.
 * @throws ApiError in words for callers: the first model's failure.
 */
export async function askModels<M extends CallMoney>(
  services: AnsweringServices,
  terms: AskTerms<M>,
): Promise<Answering<M>> {
  const { family = 'public' } = terms;
  let firstFailure: ApiError | undefined;
  for (const entry of terms.candidates) {
    if (!services.breaker.allows(entry.provider.id)) {
      firstFailure ??= providerFailure(new ProviderError('overloaded', 'left alone for a while'), family);
      continue;
    }
    const request = terms.requestFor(entry);
    const money = await terms.pay(entry, request);
    try {
      const chunks = await insist(services, terms, entry, request);
      return { entry, money, chunks, firstFailure };
    } catch (error) {
      await money.release();
      if (terms.signal.aborted) throw terms.signal.reason;
      const failure = isApiError(error) ? error : providerFailure(error, family);
      services.onError({ operation: terms.operation, requestId: terms.requestId, error });
      if (!isTrouble(error, PROVIDER_TROUBLE) || isOwnKeyRefused(entry, error)) throw failure;
      firstFailure ??= failure;
    }
  }
  throw firstFailure ?? new Error('there is no model to ask');
}

/** One model, again and again while that makes sense. */
async function insist(
  services: AnsweringServices,
  { signal }: { readonly signal: AbortSignal },
  entry: CatalogueEntry,
  request: GenerateRequest,
): Promise<AsyncIterator<ModelChunk>> {
  const { breaker, clock } = services;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const chunks = await firstWord(entry, request, signal);
      if (entry.ownKey !== true) breaker.succeeded(entry.provider.id);
      return chunks;
    } catch (error) {
      signal.throwIfAborted();
      // What happens to one person's key says nothing about the provider for everybody else.
      if (entry.ownKey !== true) {
        if (isTrouble(error, DOWN)) breaker.failed(entry.provider.id);
        else breaker.succeeded(entry.provider.id);
      }
      const pause = pauseBeforeRetry(error, attempt);
      if (pause === undefined || !breaker.allows(entry.provider.id)) throw error;
      await sleep(clock, pause, signal);
    }
  }
}

/**
 * Calls the provider and reads as far as the first thing it says, so that a failure before it can still be undone. One
 * that does not hear the signal is not waited for.
 */
async function firstWord(
  entry: CatalogueEntry,
  request: GenerateRequest,
  signal: AbortSignal,
): Promise<AsyncIterator<ModelChunk>> {
  const source = eventually(async () => {
    const chunks = await entry.provider.generate(request, { signal });
    return chunks[Symbol.asyncIterator]();
  });
  try {
    return await untilAborted(untilFirstWord(source), signal);
  } catch (error) {
    leave(source);
    throw error;
  }
}

async function untilFirstWord(source: AsyncIterator<ModelChunk>): Promise<AsyncIterator<ModelChunk>> {
  const read: ModelChunk[] = [];
  for (;;) {
    const step = await source.next();
    if (step.done === true) return joined(read, source);
    read.push(step.value);
    const parts = Array.isArray(step.value) ? step.value : [step.value as ModelPart];
    if (parts.some((part: ModelPart) => part.type !== 'usage')) return joined(read, source);
  }
}

function joined(read: readonly ModelChunk[], rest: AsyncIterator<ModelChunk>): AsyncIterator<ModelChunk> {
  let place = 0;
  return {
    async next() {
      const value = read[place];
      if (value === undefined) return rest.next();
      place += 1;
      return { done: false, value };
    },
    async return() {
      place = read.length;
      await rest.return?.();
      return { done: true, value: undefined };
    },
  };
}

function isTrouble(error: unknown, kinds: readonly ProviderErrorKind[]): boolean {
  return isProviderError(error) ? kinds.includes(error.kind) : !isApiError(error);
}

/** The caller has to know, and is not to be charged for another model instead. */
function isOwnKeyRefused(entry: CatalogueEntry, error: unknown): boolean {
  return entry.ownKey === true && isTrouble(error, ['rejected_key']);
}

function pauseBeforeRetry(error: unknown, attempt: number): number | undefined {
  const usual = RETRY_PAUSES_MS[attempt];
  if (usual === undefined || !isTrouble(error, RETRIED)) return undefined;
  const wanted = isProviderError(error) ? error.retryAfterMs : undefined;
  if (wanted !== undefined && wanted > LONGEST_PAUSE_MS) return undefined;
  return Math.max(usual, wanted ?? 0);
}

function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.timer(ms, () => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
    signal.addEventListener('abort', leave, { once: true });
  });
}
