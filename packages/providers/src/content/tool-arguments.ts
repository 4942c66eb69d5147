import { ProviderError } from '@questline/core';

/** Characters of arguments or reasoning one answer may build up. */
const gatheredLimit = 16 * 1024 * 1024;

/** Refuses to gather without end. */
export function checkGathered(length: number): void {
  if (length > gatheredLimit) {
    throw new ProviderError('failed', `a tool call or a thought is longer than ${gatheredLimit} characters`);
  }
}

/** Whether the text is one JSON object, which is what arguments are. */
export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
