import { providerFailure } from '../../models/failures.ts';
import { storageAway } from '../../operations/pipeline.ts';
import { isStorageUnavailable } from '../../ports/store.ts';
import { type ApiError, isApiError } from '../../shared/errors.ts';
import type { AskedCompletion, CompletionAnswer } from './answer.ts';
import type { CompletionEnd } from './encoder.ts';

/** The reason to stop a provider. */
export const LEFT = new Error('the client has disconnected');

export function describeEnd({ money }: CompletionAnswer, cost: CompletionEnd['cost']): CompletionEnd {
  return { cost, isMetered: money?.isMetered === true, finishReason: money?.meter.finishReason };
}

/** The failure of an answer, for its client. */
export function toFailure(error: unknown, { family }: AskedCompletion): ApiError {
  if (isApiError(error)) return error;
  return isStorageUnavailable(error) ? storageAway(error) : providerFailure(error, family);
}
