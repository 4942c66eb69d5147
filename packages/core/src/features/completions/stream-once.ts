import type { Call } from '../../contract/call.ts';
import { KEEP_ALIVE } from '../../http/sse.ts';
import type { Claim, Idempotency, IdempotentRequest, ReportEnd } from '../../operations/idempotency.ts';
import type { ModelPart } from '../../ports/models.ts';
import type { ApiError } from '../../shared/errors.ts';
import type { AskedCompletion, CompletionAnswer } from './answer.ts';
import type { CompletionEncoder, CompletionEnd } from './encoder.ts';
import type { AnswerWatch, CompletionRunServices } from './run.ts';

export interface StreamOnceServices extends CompletionRunServices {
  readonly idempotency: Idempotency;
}

type CreateEncoder = (answer: Pick<CompletionAnswer, 'entry'>) => CompletionEncoder;

type StreamAnswer<S> = (
  services: S,
  call: Call,
  asked: AskedCompletion,
  createEncoder: CreateEncoder,
  watch?: AnswerWatch,
) => Promise<AsyncIterableIterator<string>>;

/** The frames of an answer, and whether it is the first answer of a repeated request. */
export interface StreamedOnce {
  readonly frames: AsyncIterable<string>;
  readonly isRepeated: boolean;
}

/**
 * Streams an answer once per `Idempotency-Key`. A repeated request gets the complete first answer in few frames. An answer
 * that broke off after its charge uses up the key.
 * @param stream streams the answer; `streamCompletion` for one that is not stored.
 * @throws ApiError as `stream` and `Idempotency.claim`.
 */
export function streamOnce<S extends StreamOnceServices>(
  services: S,
  request: IdempotentRequest,
  asked: AskedCompletion,
  createEncoder: CreateEncoder,
  stream: StreamAnswer<S>,
): Promise<StreamedOnce> {
  const { call } = request;
  const claiming = services.idempotency.claim<string>(request);
  // Not async, because most requests have no key.
  if (claiming === undefined) {
    return stream(services, call, asked, createEncoder).then((frames) => ({ frames, isRepeated: false }));
  }
  return streamClaimed(services, call, claiming, asked, createEncoder, stream);
}

async function streamClaimed<S extends StreamOnceServices>(
  services: S,
  call: Call,
  claiming: Promise<Claim<string>>,
  asked: AskedCompletion,
  createEncoder: CreateEncoder,
  stream: StreamAnswer<S>,
): Promise<StreamedOnce> {
  const claim = await claiming;
  if (claim.isRepeated) return { frames: oneFrame(claim.answer), isRepeated: true };
  let copy: CopyingEncoder | undefined;
  const watch = createWatch(services, call, asked, claim.end, () => copy?.text ?? '');
  try {
    const frames = await stream(
      services,
      call,
      asked,
      (answer) => {
        copy = new CopyingEncoder(createEncoder(answer), createEncoder(answer));
        return copy;
      },
      watch,
    );
    return { frames, isRepeated: false };
  } catch (error) {
    // Without effect if the answer has begun: its end is reported.
    await watch.onBreak(false);
    throw error;
  }
}

function createWatch(
  { onError }: StreamOnceServices,
  { requestId }: Call,
  { operation }: AskedCompletion,
  { complete, fail }: ReportEnd<string>,
  getText: () => string,
) {
  // The client gets its answer even if the key cannot be recorded; until it expires, a repetition is refused.
  const report = (error: unknown): void => onError({ operation, requestId, error });
  return {
    onComplete: () => complete(getText()).catch(report),
    onBreak: (isCharged: boolean) => fail(isCharged).catch(report),
  };
}

async function* oneFrame(text: string): AsyncGenerator<string> {
  yield text;
}

/** Writes an answer, and a copy of the whole with one frame per kind of content. A class, as every encoder. */
class CopyingEncoder implements CompletionEncoder {
  readonly head: string;
  readonly #live: CompletionEncoder;
  readonly #copy: CompletionEncoder;
  /** The copy, after the end. */
  text = '';

  constructor(live: CompletionEncoder, copy: CompletionEncoder) {
    this.#live = live;
    this.#copy = copy;
    this.head = live.head;
  }

  keepAlive(): string {
    return this.#live.keepAlive?.() ?? KEEP_ALIVE;
  }

  add(part: ModelPart): void {
    this.#live.add(part);
    this.#copy.add(part);
  }

  flush(): string {
    return this.#live.flush();
  }

  end(end: CompletionEnd): string {
    this.text = this.#copy.head + this.#copy.flush() + this.#copy.end(end);
    return this.#live.end(end);
  }

  fail(error: ApiError, end: CompletionEnd): string {
    return this.#live.fail(error, end);
  }
}
