import { issue } from './errors.ts';

/** Reads the arguments of a tool call. @throws ApiError 400: providers accept only objects. */
export function parseArguments(text: string, path: string): unknown {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw issue(path, 'expected JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw issue(path, 'expected a JSON object');
  }
  return value;
}
