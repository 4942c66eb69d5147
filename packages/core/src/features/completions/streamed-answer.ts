import { type Call, getStopSignal } from '../../contract/call.ts';
import { callFailure } from '../../models/failures.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AnswerChunk, AnswerPart } from '../../ports/models.ts';
import { isApiError } from '../../shared/errors.ts';
import type { StopSignal } from '../../shared/stop-signal.ts';
import type { AskedCompletion, CompletionAnswer } from './answer.ts';
import type { CompletionEncoder } from './encoder.ts';
import { describeEnd, LEFT } from './ends.ts';
import type { AnswerWatch, CompletionRunServices } from './run.ts';
import { CompletionStream, type StreamSource } from './stream.ts';

/** One answer as it was asked for. */
interface StreamContext {
  readonly services: CompletionRunServices;
  readonly call: Call;
  readonly asked: AskedCompletion;
  readonly watch: AnswerWatch | undefined;
}

/** An answer that is streamed, and its money. A class, because every open stream keeps one: closures take several times the memory. */
export class StreamedAnswer implements StreamSource {
  readonly #context: StreamContext;
  readonly #answer: CompletionAnswer;
  readonly encoder: CompletionEncoder;
  #remove: (() => void) | undefined;

  constructor(context: StreamContext, answer: CompletionAnswer, encoder: CompletionEncoder) {
    this.#context = context;
    this.#answer = answer;
    this.encoder = encoder;
  }

  /** @param first the first step of the source, which may be pending. */
  open(first: Promise<IteratorResult<AnswerChunk>>): CompletionStream {
    const stream = new CompletionStream(this, first);
    this.#remove = this.#context.services.streams.add(stream);
    return stream;
  }

  get chunks(): AsyncIterator<AnswerChunk> {
    return this.#answer.source;
  }

  get clock(): Clock {
    return this.#context.services.clock;
  }

  get signal(): StopSignal {
    return getStopSignal(this.#context.call);
  }

  see(part: AnswerPart): void {
    this.#answer.money?.meter.record(part);
  }

  awaitsReport(): boolean {
    return this.#answer.money?.meter.awaitsReport ?? false;
  }

  leave(readOn: () => Promise<void>): Promise<void> {
    return this.#answer.money?.control.cancelAfterDisconnect(LEFT, readOn) ?? Promise.resolve();
  }

  async finish(): Promise<string> {
    const cost = await this.#answer.money?.end('finished');
    const last = this.encoder.end(describeEnd(this.#answer, cost));
    const { watch } = this.#context;
    if (watch !== undefined) await watch.onComplete();
    return last;
  }

  async fail(error: unknown): Promise<string> {
    const { services, call, asked, watch } = this.#context;
    const { money } = this.#answer;
    // A deliberate error, such as a shutdown, is not an incident.
    if (!isApiError(error)) {
      services.onError({ operation: asked.operation, requestId: call.requestId, error });
    }
    money?.control.stop(error);
    const cost = await money?.end('broken');
    if (watch !== undefined) await watch.onBreak(cost !== undefined);
    return this.encoder.fail(callFailure(error, asked.family), describeEnd(this.#answer, cost));
  }

  async finalize(stream: CompletionStream): Promise<void> {
    try {
      // After `finish` and `fail` nothing is left to end.
      await stream.leave();
      const cost = await this.#answer.money?.end('left');
      const { watch } = this.#context;
      if (watch !== undefined) await watch.onBreak(cost !== undefined);
    } finally {
      this.#remove?.();
    }
  }
}
