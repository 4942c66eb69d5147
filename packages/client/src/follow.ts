import type { Client } from './client.ts';
import { isTemporary } from './error.ts';
import type { EventStream } from './events.ts';
import type { CallArguments, Operation } from './operation.ts';

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** The id of the last frame that the reader has. */
  readonly after?: string | undefined;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5000;
/** Consecutive connections without a frame, beside the retries of each request. */
const MAX_FAILURES = 10;

/**
 * The events of a quest, an agent run or a generation, to their end. A connection that breaks off is made again after the last event,
 * so that no event is lost or repeated; a `snapshot` then replaces what came before. Leaving the loop does not stop the work.
 * @example
 * for await (const event of follow(client, getQuestEvents, { params: { id } })) {
 *   if (event.type === 'text') show(event.text);
 * }
 */
export async function* follow<Input, Event extends { readonly type: string }>(
  client: Client,
  operation: Operation<Input, EventStream<Event> | undefined>,
  input: Input,
  { signal, after }: FollowOptions = {},
): AsyncGenerator<Event, void> {
  let last = after;
  for (let failures = 0; ; ) {
    try {
      const options = { signal, ...(last !== undefined && { headers: { 'last-event-id': last } }) };
      const stream = await client.call(operation, ...([input, options] as CallArguments<Input>));
      // 204: the reader has everything.
      if (stream === undefined) return;
      for await (const event of stream) {
        last = stream.lastId ?? last;
        failures = 0;
        yield event;
        if (event.type === 'end') return;
      }
    } catch (error) {
      failures += 1;
      if (!isTemporary(error) || failures > MAX_FAILURES) throw error;
    }
    if (failures > 0) await client.wait(Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS), signal);
  }
}
