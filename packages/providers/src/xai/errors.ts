import type { ErrorReading } from '../http/faults.ts';
import { readOpenAIError } from '../openai/errors.ts';

/** Parses `{code, error: "message"}`. Reports an invalid key as a bad request, and rejected content as forbidden. */
export function readXAIError(body: unknown, status: number): ErrorReading {
  const reading = readOpenAIError(body, status);
  const message = reading.message ?? '';
  if (/incorrect api key|invalid api key/i.test(message)) return { ...reading, kind: 'rejected_key' };
  if (/usage guidelines|safety_check/i.test(message)) return { ...reading, kind: 'content_blocked' };
  return reading;
}
