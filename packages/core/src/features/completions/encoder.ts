import type { EndedCost } from '../../models/paid-text-call.ts';
import type { AnswerPart, FinishReason } from '../../ports/models.ts';
import type { ApiError } from '../../shared/errors.ts';

/** The facts about an answer that has ended. */
export interface CompletionEnd {
  /** Absent: nothing was charged and nothing was counted. */
  readonly cost: EndedCost | undefined;
  /** Whether credits are enforced. */
  readonly isMetered: boolean;
  readonly finishReason: FinishReason | undefined;
}

/** Writes one streamed answer in the format of a wire. Its methods run once per part: they must be cheap. */
export interface CompletionEncoder {
  /** The first write, before the first part. */
  readonly head: string;
  /** Returns the frames that keep a silent connection open. Default: a comment. */
  keepAlive?(): string;
  /** Takes a part of the answer. */
  add(part: AnswerPart): void;
  /** Returns the frames of the parts since the last call. Empty: nothing to send yet. */
  flush(): string;
  /** Returns the last frames of a complete answer. */
  end(end: CompletionEnd): string;
  /** Returns the last frames of an answer that broke off. */
  fail(error: ApiError, end: CompletionEnd): string;
}
