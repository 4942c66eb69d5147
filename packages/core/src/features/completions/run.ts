import { type Call, getStopSignal } from '../../contract/call.ts';
import { readAnswer } from '../../models/answer-stream.ts';
import type { AnsweringServices } from '../../models/answering.ts';
import { callFailure } from '../../models/failures.ts';
import type { OpenStreams } from '../../operations/open-streams.ts';
import type { AnswerChunk, AnswerPart } from '../../ports/models.ts';
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
import { describeEnd, LEFT } from './ends.ts';
import { firstStep } from './first-step.ts';
import type { CompletionMoneyServices } from './money.ts';
import { answerInRounds } from './server-tools/rounds.ts';
import type { ServerToolServices } from './server-tools/tools.ts';
import { StreamedAnswer } from './streamed-answer.ts';

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

/**
 * Reserves credit, asks the model and streams its answer in the format of the encoder, then settles.
 * @param createEncoder called when the head can be sent, with what is known of the answer.
 * @param watch reports its own failures: it never rejects.
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
    const { step } = await firstStep(answer.source, services.clock, getStopSignal(call));
    return new StreamedAnswer({ services, call, asked, watch }, answer, createEncoder(answer)).open(step);
  } catch (error) {
    // The client may leave while the answer ends; this changes neither its failure nor its charge.
    const hasLeft = getStopSignal(call).aborted;
    const cost = await endBeforeHead(answer?.money, hasLeft);
    await watch?.onBreak(cost !== undefined);
    throw hasLeft ? disconnected() : callFailure(error, asked.family);
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
    // As above. A stop of the process is an `ApiError` itself.
    const hasLeft = call.signal.aborted;
    answer?.money?.control.stop(error);
    const cost = await answer?.money?.end(hasLeft ? 'left' : 'broken');
    if (cost !== undefined) onCharge();
    if (hasLeft) throw disconnected();
    if (!isApiError(error)) {
      services.onError({ operation: asked.operation, requestId: call.requestId, error });
    }
    throw callFailure(error, asked.family);
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
  const { money } = answer;
  if (money === undefined) return;
  let isFirst = true;
  const chunks: AsyncIterator<AnswerChunk> = {
    next() {
      if (!isFirst) return source.next();
      isFirst = false;
      return Promise.resolve(first);
    },
    return: () => source.return(),
  };
  await readAnswer({ chunks, money }, signal, onPart);
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

/** A client that disconnects before the head pays for what its provider accepted; every other failure is free. */
async function endBeforeHead(
  money: AnswerMoney | undefined,
  hasLeft: boolean,
): Promise<CompletionEnd['cost']> {
  money?.control.stop(LEFT);
  if (hasLeft) return money?.end('left');
  await money?.release();
  return undefined;
}

function disconnected(): ApiError {
  return new ApiError(400, 'The client disconnected before the answer began');
}

function restarting(): ApiError {
  return new ApiError(503, 'The service is about to restart. Try again shortly.');
}
