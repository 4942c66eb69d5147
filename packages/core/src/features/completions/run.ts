import type { Call } from '../../contract/call.ts';
import { type AnsweringServices, readAnswer } from '../../models/answering.ts';
import { providerFailure } from '../../models/failures.ts';
import type { OpenStreams } from '../../operations/open-streams.ts';
import { storageAway } from '../../operations/pipeline.ts';
import type { AnswerChunk, AnswerPart } from '../../ports/models.ts';
import { isStorageUnavailable } from '../../ports/store.ts';
import { ApiError, isApiError } from '../../shared/errors.ts';
import { abortable, cancelIterator } from '../../shared/streams.ts';
import {
  type AnswerMoney,
  type AskedCompletion,
  askOne,
  type CompletionAnswer,
  generateInOrder,
} from './answer.ts';
import type { CompletionEncoder, CompletionEnd } from './encoder.ts';
import { firstStep } from './first-step.ts';
import type { CompletionMoneyServices } from './money.ts';
import { answerInRounds } from './server-tools/rounds.ts';
import type { ServerToolServices } from './server-tools/tools.ts';
import { CompletionStream } from './stream.ts';

/** The services of one answer, on any wire. */
export interface CompletionRunServices
  extends CompletionMoneyServices,
    AnsweringServices,
    ServerToolServices {
  readonly onError: AnsweringServices['onError'];
  readonly streams: OpenStreams;
}

/** Follows the end of an answer, for its `Idempotency-Key`. */
export interface AnswerWatch {
  /** A stream is complete. Called before its last frames are sent. */
  onComplete(): Promise<void>;
  /** The answer broke off. @param isCharged whether its beginning was charged. */
  onBreak(isCharged: boolean): Promise<void>;
}

/** The reason to stop a provider. */
const LEFT = new Error('the client has disconnected');

/**
 * Reserves credit, asks the model and streams its answer in the format of the encoder, then settles.
 * @param createEncoder called when the head can be sent, with what is known of the answer.
 * @param watch its failures are reported and change nothing.
 * @throws ApiError if the model fails before its first output.
 */
export async function streamCompletion(
  services: CompletionRunServices,
  call: Call,
  asked: AskedCompletion,
  createEncoder: (answer: Pick<CompletionAnswer, 'entry'>) => CompletionEncoder,
  watch?: AnswerWatch,
): Promise<AsyncIterableIterator<string>> {
  let answer: CompletionAnswer | undefined;
  try {
    answer = await begin(services, call, asked);
    const { step } = await firstStep(answer.source, services.clock, call.signal);
    return toStream({ services, call, asked, watch }, answer, step, createEncoder(answer));
  } catch (error) {
    const cost = await endBeforeHead(call, answer?.money);
    await watch?.onBreak(cost !== undefined);
    throw call.signal.aborted ? disconnected() : failure(error, asked);
  }
}

/**
 * Reserves credit, asks the model, reads its whole answer and settles.
 * @throws ApiError for a failure at any time; an answer that broke off after its first output is charged.
 */
export async function readCompletion(
  services: CompletionRunServices,
  call: Call,
  asked: AskedCompletion,
  onPart: (part: AnswerPart) => void,
  onCharge: () => void = () => undefined,
): Promise<CompletionEnd & Pick<CompletionAnswer, 'entry'>> {
  const stopping = new AbortController();
  const open = { stop: (): void => stopping.abort(restarting()) };
  const remove = services.streams.add(open);
  let answer: CompletionAnswer | undefined;
  try {
    answer = await begin(services, call, asked);
    await readWhole(answer, AbortSignal.any([call.signal, stopping.signal]), onPart);
    const cost = await answer.money?.end('finished');
    return { ...describeEnd(answer, cost), entry: answer.entry };
  } catch (error) {
    answer?.money?.control.stop(error);
    const cost = await answer?.money?.end(call.signal.aborted ? 'left' : 'broken');
    if (cost !== undefined) onCharge();
    if (call.signal.aborted) throw disconnected();
    if (stopping.signal.aborted) throw stopping.signal.reason;
    if (!isApiError(error)) {
      services.onError({ operation: asked.operation, requestId: call.requestId, error });
    }
    throw failure(error, asked);
  } finally {
    remove();
  }
}

function begin(
  services: CompletionRunServices,
  call: Call,
  asked: AskedCompletion,
): CompletionAnswer | Promise<CompletionAnswer> {
  if (asked.serverTools !== undefined) return answerInRounds(services, call, asked, asked.serverTools);
  return asked.standIns.length === 0 ? askOne(services, call, asked) : generateInOrder(services, call, asked);
}

/** The money of an answer with fallback models is known after its first step. */
async function readWhole(
  answer: CompletionAnswer,
  signal: AbortSignal,
  onPart: (part: AnswerPart) => void,
): Promise<void> {
  const { source } = answer;
  const first = await abortableStep(source, signal);
  if (first.done === true || answer.money === undefined) return;
  let isFirst = true;
  const chunks: AsyncIterator<AnswerChunk> = {
    next() {
      if (!isFirst) return source.next();
      isFirst = false;
      return Promise.resolve(first);
    },
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
  };
  await readAnswer({ chunks, money: answer.money }, signal, onPart);
}

function abortableStep(
  source: AsyncIterator<AnswerChunk>,
  signal: AbortSignal,
): Promise<IteratorResult<AnswerChunk>> {
  return abortable(source.next(), signal).catch((error: unknown) => {
    cancelIterator(source);
    throw error;
  });
}

interface StreamContext {
  readonly services: CompletionRunServices;
  readonly call: Call;
  readonly asked: AskedCompletion;
  readonly watch: AnswerWatch | undefined;
}

function toStream(
  { services, call, asked, watch }: StreamContext,
  answer: CompletionAnswer,
  first: Promise<IteratorResult<AnswerChunk>>,
  encoder: CompletionEncoder,
): AsyncIterableIterator<string> {
  const frames = new CompletionStream({
    source: answer.source,
    first,
    encoder,
    clock: services.clock,
    signal: call.signal,
    see: (part) => answer.money?.meter.record(part),
    awaitsReport: () => answer.money?.meter.awaitsReport ?? false,
    leave: (readOn) => answer.money?.control.cancelAfterDisconnect(LEFT, readOn) ?? Promise.resolve(),
    async finish() {
      const cost = await answer.money?.end('finished');
      const last = encoder.end(describeEnd(answer, cost));
      if (watch !== undefined) await watch.onComplete();
      return last;
    },
    async fail(error) {
      // A deliberate error, such as a shutdown, is not an incident.
      if (!isApiError(error)) {
        services.onError({ operation: asked.operation, requestId: call.requestId, error });
      }
      answer.money?.control.stop(error);
      const cost = await answer.money?.end('broken');
      if (watch !== undefined) await watch.onBreak(cost !== undefined);
      return encoder.fail(failure(error, asked), describeEnd(answer, cost));
    },
    async finalize(stream) {
      try {
        // After `finish` and `fail` nothing is left to end.
        if (stream.hasLeft) await stream.leave();
        const cost = await answer.money?.end('left');
        if (watch !== undefined) await watch.onBreak(cost !== undefined);
      } finally {
        remove();
      }
    },
  });
  const remove = services.streams.add(frames);
  return frames;
}

/** A client that disconnects before the head pays for what its provider accepted; every other failure is free. */
async function endBeforeHead(
  { signal }: Call,
  money: AnswerMoney | undefined,
): Promise<CompletionEnd['cost']> {
  money?.control.stop(LEFT);
  if (signal.aborted) return money?.end('left');
  await money?.release();
  return undefined;
}

function describeEnd({ money }: CompletionAnswer, cost: CompletionEnd['cost']): CompletionEnd {
  return { cost, isMetered: money?.isMetered === true, finishReason: money?.meter.finishReason };
}

function disconnected(): ApiError {
  return new ApiError(400, 'The client disconnected before the answer began');
}

function restarting(): ApiError {
  return new ApiError(503, 'The service is about to restart. Try again shortly.');
}

function failure(error: unknown, { family }: AskedCompletion): ApiError {
  if (isApiError(error)) return error;
  return isStorageUnavailable(error) ? storageAway(error) : providerFailure(error, family);
}
