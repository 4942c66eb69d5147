import { isProviderError } from '@questline/core/ports';
import { type DestinationStream, type Logger, pino } from 'pino';
import { createScrubber } from './scrub.ts';

export type Log = Logger;

/** Writes one JSON object per line. Redacts credentials from every line. */
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

const MAX_DEPTH = 3;
const MAX_MESSAGE = 300;
const MAX_FRAMES = 8;

/**
 * Serializes an error for operators. Leaves out messages of providers and parsers: they may quote a prompt or an answer,
 * which do not belong in a log.
 */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return {
    name: error.name,
    ...toMessage(error),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(error.stack !== undefined && { stack: getFrames(error.stack) }),
    ...(cause !== undefined && depth < MAX_DEPTH && { cause: describeError(cause, depth + 1) }),
  };
}

function toMessage(error: Error): Record<string, unknown> {
  if (isProviderError(error)) {
    // `openai: answered 429: …`, where the rest is the provider's message
    const [, provider, answered] = /^([\w.-]+): (?:answered (\d{3}))?/.exec(error.message) ?? [];
    const { kind, status = answered && Number(answered), param } = error;
    return {
      kind,
      ...(provider !== undefined && { provider }),
      ...(status !== undefined && { status }),
      ...(param !== undefined && { param }),
    };
  }
  return error instanceof SyntaxError ? {} : { message: error.message.slice(0, MAX_MESSAGE) };
}

/** The stack frames, without the message that a stack begins with. */
function getFrames(stack: string): string[] {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim());
}
