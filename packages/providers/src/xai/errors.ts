import type { ErrorReading } from '../http/faults.ts';
import { readOpenAIError } from '../openai/errors.ts';

/** Reads `{code, error: "message"}`, which tells a bad key as a bad request, and a refused text as a forbidden one. */
export function readXAIError(body: unknown, status: number): ErrorReading {
  const reading = readOpenAIError(body, status);
  const message = reading.message ?? '';
  if (/incorrect api key|invalid api key/i.test(message)) return { message, kind: 'rejected_key' };
  if (/usage guidelines|safety_check/i.test(message)) return { message, kind: 'content_blocked' };
  return reading;
}
