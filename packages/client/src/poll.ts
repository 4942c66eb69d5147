import type { Client } from './client.ts';
import { isTemporary } from './error.ts';
import type { CallArguments, Operation } from './operation.ts';

export interface PollOptions<Output> {
  readonly signal?: AbortSignal | undefined;
  /** Whether a state is the last one. */
  readonly isFinal: (state: Output) => boolean;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5000;
/** Consecutive failures that are waited out, beside the retries of each request. */
const MAX_FAILURES = 10;

/**
 * Asks for a state until it is final, with growing delays. Yields the first state and each one that differs from the one before.
 * @example
 * const job = await client.createVideoGeneration({ body });
 * const isFinal = ({ state }: { state: string }) => ['succeeded', 'failed', 'blocked', 'cancelled'].includes(state);
 * for await (const { progress } of poll(client, getVideoGeneration, { params: { id: job.id } }, { isFinal })) show(progress);
 */
export async function* poll<Input, Output>(
  client: Client,
  operation: Operation<Input, Output>,
  input: Input,
  { signal, isFinal }: PollOptions<Output>,
): AsyncGenerator<Output, void> {
  let last: string | undefined;
  let failures = 0;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 1.5, MAX_DELAY_MS)) {
    try {
      const state = await client.call(operation, ...([input, { signal }] as CallArguments<Input>));
      failures = 0;
      const text = JSON.stringify(state);
      if (text !== last) {
        last = text;
        delay = FIRST_DELAY_MS;
        yield state;
      }
      if (isFinal(state)) return;
    } catch (error) {
      failures += 1;
      if (!isTemporary(error) || failures > MAX_FAILURES) throw error;
    }
    await client.wait(delay, signal);
  }
}
