import type { ErrorFamily } from '../contract/operation.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type GenerateRequest,
  isProviderError,
  type ModelChunk,
  type ProviderErrorKind,
} from '../ports/models.ts';
import { type ApiError, isApiError } from '../shared/errors.ts';
import type { Incident } from '../shared/incident.ts';
import { readToFirstOutput } from './answer-stream.ts';
import { type CircuitBreaker, circuitOpen, getCircuit } from './breaker.ts';
import type { CallControl } from './call-control.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { callFailure, providerFailure } from './failures.ts';
import type { Meter } from './meter.ts';
import { payWithin } from './output-cap.ts';

/** Pauses before retries of the same model, if the provider sends no Retry-After. */
const RETRY_PAUSES_MS = [500, 2000];
/** Maximum Retry-After that is waited for. */
const MAX_PAUSE_MS = 10_000;

/** Failures that are retried on the same model. */
const RETRIED: readonly ProviderErrorKind[] = ['overloaded', 'failed', 'malformed_answer'];
/** Failures of the provider, not of the request: a fallback model may succeed. */
const PROVIDER_TROUBLE: readonly ProviderErrorKind[] = [
  'overloaded',
  'failed',
  'malformed_answer',
  'timeout',
  'rejected_key',
  'not_configured',
];

/** The billing of one model call, and its cancellation. */
export interface CallMoney {
  readonly meter: Meter;
  readonly control: CallControl;
  /** The call failed without output: no charge. */
  release(): Promise<void>;
  /** The client disconnected before the first output. */
  left(): Promise<void>;
}

/** A started answer. */
export interface Answering<M extends CallMoney> {
  readonly entry: CatalogueEntry;
  readonly money: M;
  /** All parts, including the first. */
  readonly chunks: AsyncIterator<ModelChunk>;
  /** The failure of the requested model, if a fallback answers. */
  readonly firstFailure: ApiError | undefined;
}

export interface ModelCallOptions<M extends CallMoney> {
  /**
   * Candidates in order, at least one: the next one is called if the previous one failed and the request is not the
   * cause.
   */
  readonly candidates: readonly CatalogueEntry[];
  readonly requestFor: (entry: CatalogueEntry) => GenerateRequest;
  /** False: the request has no output limit, so the limit may be lowered to what the credit covers. Default true. */
  readonly isCapNamed?: boolean;
  /** Holds the maximum cost of the call; rejects if the hold is rejected. */
  readonly pay: (entry: CatalogueEntry, request: GenerateRequest) => Promise<M>;
  /** The error family of failure messages. Default `public`. */
  readonly family?: ErrorFamily;
  readonly operation: string;
  readonly requestId: string;
  /** The user id of the caller. */
  readonly callerId: string;
  readonly signal: AbortSignal;
}

export interface AnsweringServices {
  readonly clock: Clock;
  readonly breaker: CircuitBreaker;
  readonly onError: (incident: Incident) => void;
}

/**
 * Calls models until one produces its first output. Before the first output a call may be retried or go to the next
 * model; after it, never.
 * @throws ApiError with the failure of the requested model, in a message for clients.
 */
export async function generateWithFallback<M extends CallMoney>(
  services: AnsweringServices,
  options: ModelCallOptions<M>,
): Promise<Answering<M>> {
  const { family = 'public' } = options;
  let firstFailure: ApiError | undefined;
  for (const entry of options.candidates) {
    const wait = services.breaker.retryAfterMs(getCircuit(entry, options.callerId));
    if (wait > 0) {
      firstFailure ??= providerFailure(circuitOpen(wait), family);
      continue;
    }
    let request = options.requestFor(entry);
    let money: M;
    try {
      const paid = await payWithin(request, options.isCapNamed !== false, (asked) =>
        options.pay(entry, asked),
      );
      ({ money, request } = paid);
    } catch (error) {
      // A fallback model may have a smaller context window.
      if (firstFailure !== undefined && isTooLong(error)) continue;
      throw error;
    }
    try {
      const chunks = await withRetry(services, options, entry, request, money);
      return { entry, money, chunks, firstFailure };
    } catch (error) {
      if (options.signal.aborted) {
        await money.left();
        throw options.signal.reason;
      }
      await money.release();
      const failure = callFailure(error, family);
      services.onError({ operation: options.operation, requestId: options.requestId, error });
      if (!isTrouble(error, PROVIDER_TROUBLE) || isOwnKeyRefused(entry, error)) throw failure;
      firstFailure ??= failure;
    }
  }
  throw firstFailure ?? new Error('there is no model to ask');
}

/** Calls one model, with retries. */
async function withRetry(
  services: AnsweringServices,
  { signal, callerId }: { readonly signal: AbortSignal; readonly callerId: string },
  entry: CatalogueEntry,
  request: GenerateRequest,
  money: CallMoney,
): Promise<AsyncIterator<ModelChunk>> {
  const { breaker, clock } = services;
  const circuit = getCircuit(entry, callerId);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await breaker.call(circuit, signal, () => readToFirstOutput(entry, request, money, signal));
    } catch (error) {
      signal.throwIfAborted();
      const pause = pauseBeforeRetry(error, attempt);
      if (pause === undefined || breaker.retryAfterMs(circuit) > 0) throw error;
      await sleep(clock, pause, signal);
    }
  }
}

function isTrouble(error: unknown, kinds: readonly ProviderErrorKind[]): boolean {
  return isProviderError(error) ? kinds.includes(error.kind) : !isApiError(error);
}

function isTooLong(error: unknown): boolean {
  return isApiError(error) && error.code === 'context_length_exceeded';
}

/** Report this failure to the client; do not charge it for a fallback model instead. */
function isOwnKeyRefused(entry: CatalogueEntry, error: unknown): boolean {
  return entry.ownKey === true && isTrouble(error, ['rejected_key']);
}

function pauseBeforeRetry(error: unknown, attempt: number): number | undefined {
  const usual = RETRY_PAUSES_MS[attempt];
  if (usual === undefined || !isTrouble(error, RETRIED)) return undefined;
  const wanted = isProviderError(error) ? error.retryAfterMs : undefined;
  if (wanted !== undefined && wanted > MAX_PAUSE_MS) return undefined;
  return Math.max(usual, wanted ?? 0);
}

function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.timer(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
