import { ProviderError } from '@questline/core/ports';

/** Maximum characters of arguments or reasoning of one answer. */
const gatheredLimit = 16 * 1024 * 1024;

/** @throws ProviderError above the maximum. */
export function checkGathered(length: number): void {
  if (length > gatheredLimit) {
    throw new ProviderError(
      'malformed_answer',
      `a tool call or a thought is longer than ${gatheredLimit} characters`,
    );
  }
}

/** Whether the text is one JSON object, as arguments must be. */
export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
