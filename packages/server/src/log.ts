import { isProviderError } from '@questline/core';
import { type DestinationStream, type Logger, pino } from 'pino';
import { createScrubber } from './scrub.ts';

export type Log = Logger;

/** One JSON object per line. Whatever is logged, no credential gets through: every line is scrubbed as it is written. */
export function createLog(options: { secrets: readonly string[]; destination: DestinationStream }): Log {
  return pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => describeError(error) },
      hooks: { streamWrite: createScrubber(options.secrets) },
    },
    options.destination,
  );
}

const DEEPEST = 3;
const LONGEST_MESSAGE = 300;
const MOST_FRAMES = 8;

/**
 * An error for operators. A provider's own words are left out, and so is what a parser quotes: both may repeat a prompt
 * or an answer, and neither belongs into a log.
 */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return {
    name: error.name,
    ...messageOf(error),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(error.stack !== undefined && { stack: framesOf(error.stack) }),
    ...(cause !== undefined && depth < DEEPEST && { cause: describeError(cause, depth + 1) }),
  };
}

function messageOf(error: Error): Record<string, unknown> {
  if (isProviderError(error)) {
    // `openai: answered 429: and then their words`
    const [, provider, status] = /^([\w.-]+): (?:answered (\d{3}))?/.exec(error.message) ?? [];
    return {
      kind: error.kind,
      ...(provider !== undefined && { provider }),
      ...(status !== undefined && { status: Number(status) }),
    };
  }
  return error instanceof SyntaxError ? {} : { message: error.message.slice(0, LONGEST_MESSAGE) };
}

/** Where it happened, without the message that a stack begins with. */
function framesOf(stack: string): string[] {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MOST_FRAMES)
    .map((line) => line.trim());
}
