import { type Call, getStopSignal } from '../../contract/call.ts';
import type { ErrorFamily } from '../../contract/operation.ts';
import { beginCall } from '../../models/answer-stream.ts';
import { type AnsweringServices, generateWithFallback } from '../../models/answering.ts';
import { circuitOpen, getCircuit } from '../../models/breaker.ts';
import type { CallControl } from '../../models/call-control.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { Meter } from '../../models/meter.ts';
import { payWithin } from '../../models/output-cap.ts';
import type { PaidTextCall } from '../../models/paid-text-call.ts';
import type { AnswerChunk, GenerateRequest } from '../../ports/models.ts';
import { lazyIterator } from '../../shared/streams.ts';
import { type CompletionMoneyServices, holdFor } from './money.ts';
import { forStandIn } from './request.ts';
import type { ServerTools } from './server-tools/tools.ts';

/** One answer to ask for, whatever wire it came over. */
export interface AskedCompletion {
  /** The id of the operation, for charges and incidents. */
  readonly operation: string;
  /** The family of the messages about provider failures. */
  readonly family: ErrorFamily;
  readonly entry: CatalogueEntry;
  readonly request: GenerateRequest;
  /** Fallback models, in order. */
  readonly standIns: readonly CatalogueEntry[];
  /** False: the request has no output limit, so the limit may be lowered to what the credit covers. */
  readonly isCapNamed: boolean;
  /** The tools that the server runs within the answer. Absent: none. */
  readonly serverTools?: ServerTools | undefined;
}

/** The money of an answer, of one call of a model or of several. */
export interface AnswerMoney extends Pick<PaidTextCall, 'isMetered' | 'end' | 'release'> {
  readonly meter: Pick<Meter, 'record' | 'awaitsReport' | 'finishReason'>;
  readonly control: Pick<CallControl, 'stop' | 'cancelAfterDisconnect'>;
}

/** A model's output, and the money of its calls. */
export interface CompletionAnswer {
  readonly source: Required<Pick<AsyncIterator<AnswerChunk>, 'next' | 'return'>>;
  /** Final once the source has yielded a step; undefined before any credit is held. */
  readonly money: AnswerMoney | undefined;
  /** The model that answers. Final once the source has yielded a step. */
  readonly entry: CatalogueEntry;
}

/** An answer whose first step decides who gives it. */
interface OpenAnswer extends CompletionAnswer {
  money: PaidTextCall | undefined;
  entry: CatalogueEntry;
}

/**
 * Calls one model, once: waits for the first step of the source, so that the response head knows whether the call works.
 * @throws ProviderError while its circuit breaker is open, before any credit is held.
 */
export async function askOne(
  services: CompletionMoneyServices & Pick<AnsweringServices, 'breaker'>,
  call: Call,
  asked: AskedCompletion,
): Promise<CompletionAnswer> {
  const { breaker } = services;
  const { entry, operation, isCapNamed } = asked;
  const circuit = getCircuit(entry, call.caller.userId);
  const wait = breaker.retryAfterMs(circuit);
  if (wait > 0) throw circuitOpen(wait);
  const { money, request } = await payWithin(asked.request, isCapNamed, (candidate) =>
    holdFor(services, call, entry, candidate, { operation, key: call.id }),
  );
  const source = beginCall(entry, request, money.meter, money.control.signal);
  const begin = (): Promise<IteratorResult<AnswerChunk>> =>
    breaker.call(circuit, getStopSignal(call), () => source.next());
  return { source: new GuardedSource(source, begin), money, entry };
}

/** A source whose first step is guarded. A class, because every open stream keeps one. */
class GuardedSource implements AsyncIterator<AnswerChunk> {
  readonly #source: CompletionAnswer['source'];
  /** Undefined after the first call. */
  #begin: (() => Promise<IteratorResult<AnswerChunk>>) | undefined;

  constructor(source: CompletionAnswer['source'], begin: () => Promise<IteratorResult<AnswerChunk>>) {
    this.#source = source;
    this.#begin = begin;
  }

  next(): Promise<IteratorResult<AnswerChunk>> {
    const begin = this.#begin;
    if (begin === undefined) return this.#source.next();
    this.#begin = undefined;
    return begin();
  }

  return(): Promise<IteratorResult<AnswerChunk>> {
    return this.#source.return();
  }
}

/**
 * Checks that the account covers a call of the model, for work that comes before the call.
 * @throws ApiError as `holdFor`.
 */
export async function checkCredit(
  services: CompletionMoneyServices,
  call: Call,
  { entry, operation, request, isCapNamed }: AskedCompletion,
): Promise<void> {
  const { money } = await payWithin(request, isCapNamed, (candidate) =>
    holdFor(services, call, entry, candidate, { operation, key: `${call.id}:check` }),
  );
  await money.release();
}

/**
 * Calls a model, and its fallbacks when it fails before its first output for a reason other than the request.
 * @param holdKey begins the keys of its holds.
 */
export function generateInOrder(
  services: CompletionMoneyServices & AnsweringServices,
  call: Call,
  { operation, family, entry, request, standIns, isCapNamed }: AskedCompletion,
  holdKey: string = call.id,
): CompletionAnswer {
  const leaving = new AbortController();
  let holds = 0;

  const chunks = lazyIterator(async () => {
    const generation = await generateWithFallback(services, {
      candidates: [entry, ...standIns],
      requestFor: (candidate) => (candidate === entry ? request : forStandIn(request, candidate)),
      async pay(candidate, candidateRequest) {
        const key = holds === 0 ? holdKey : `${holdKey}:${holds}`;
        holds += 1;
        const money = await holdFor(services, call, candidate, candidateRequest, { operation, key });
        answer.money = money;
        answer.entry = candidate;
        return money;
      },
      isCapNamed,
      family,
      operation,
      requestId: call.requestId,
      callerId: call.caller.userId,
      signal: AbortSignal.any([call.signal, leaving.signal]),
    });
    return generation.chunks;
  });

  const answer: OpenAnswer = {
    source: {
      next: () => chunks.next(),
      return() {
        leaving.abort();
        return chunks.return();
      },
    },
    money: undefined,
    entry,
  };
  return answer;
}
