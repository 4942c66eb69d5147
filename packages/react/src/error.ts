import { QuestlineError } from '@questline/client';

/** Every failure as a QuestlineError. Others, such as a callback that throws, are its `cause`. */
export function toError(error: unknown): QuestlineError {
  if (error instanceof QuestlineError) return error;
  return new QuestlineError(error instanceof Error ? error.message : String(error), { cause: error });
}

/** Whether a call succeeds. Reports its failure. */
export async function attempt(
  call: Promise<unknown>,
  onError: (error: QuestlineError) => void,
): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    onError(toError(error));
    return false;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof QuestlineError && error.status === 404;
}
