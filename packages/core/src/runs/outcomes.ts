import { describeProviderError, providerFailure } from '../models/failures.ts';
import { isProviderError } from '../ports/models.ts';
import { isApiError } from '../shared/errors.ts';
import type { QuestOutcome } from './records.ts';

const INTERNAL = 'Something went wrong on our side. Please try again.';

/** All workers of the quest crashed without output. */
export const VANISHED: QuestOutcome = failed(
  'The work on this turn was interrupted, and its result is lost. Please try again.',
);

/** Converts an error to the outcome of a failed quest, with a message for clients. */
export function toOutcome(error: unknown): QuestOutcome {
  if (isProviderError(error)) {
    const providerError = describeProviderError(error);
    return { ...failed(providerFailure(error, 'public').message), ...(providerError && { providerError }) };
  }
  if (!isApiError(error)) return failed(INTERNAL);
  const { message, code } = error;
  const providerError = describeProviderError(error.cause);
  return {
    ...failed(message),
    ...(code !== undefined && { errorCode: code }),
    ...(providerError && { providerError }),
  };
}

function failed(explanation: string): QuestOutcome {
  return { type: 'error', explanation };
}
