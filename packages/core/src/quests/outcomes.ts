import { isApiError } from '../errors.ts';
import { providerFailure } from '../models/failures.ts';
import { isProviderError } from '../ports/models.ts';
import type { QuestOutcome } from './records.ts';

const INTERNAL = 'Something went wrong on our side. Please try again.';

/** Its workers have vanished, and left nothing. */
export const VANISHED: QuestOutcome = failed(
  'The work on this turn was interrupted, and nothing of it is left. Please try again.',
);

/** How a quest ends whose work has failed, in words for callers. */
export function outcomeOf(error: unknown): QuestOutcome {
  if (isProviderError(error)) return failed(providerFailure(error, 'public').message);
  if (!isApiError(error)) return failed(INTERNAL);
  const { message, code } = error;
  return { ...failed(message), ...(code !== undefined && { errorCode: code }) };
}

function failed(explanation: string): QuestOutcome {
  return { type: 'error', explanation };
}
