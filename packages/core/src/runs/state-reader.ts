import { END_ID, getPosition } from '../contract/live-events.ts';
import { Reply } from '../contract/reply.ts';
import { KEEP_ALIVE, STREAM_HEADERS } from '../http/sse.ts';
import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Incident } from '../shared/incident.ts';
import { toFrame } from './live-frames.ts';
import type { LiveTails } from './live-tails.ts';
import { getQuestTopic } from './quest-events.ts';
import {
  isRefusal,
  MAX_SILENCE_MS,
  type ReaderCall,
  type StreamReader,
  streamToReader,
  withCredential,
} from './stream-reader.ts';

const FIRST_LOOK_MS = 250;
const MAX_LOOK_MS = 2000;

/** The state of a record as its reader sees it now. */
export interface RecordState {
  /** The body of the operation that polls it. */
  readonly view: object;
  /** Changes with the record. Whole, 0 or more. */
  readonly version: number;
  readonly isOver: boolean;
}

export interface StateReaderOptions {
  readonly id: string;
  /** Reads the record with the rights of the reader. @throws ApiError 401, 403 or 404 if it may no longer read it. */
  load(): Promise<RecordState>;
}

export interface StateReaderServices {
  readonly clock: Clock;
  readonly publisher: Publisher;
  readonly liveTails: LiveTails;
  readonly onError: (incident: Incident) => void;
}

/**
 * Answers a request for the changes of a record that has no events of its own: every frame is a snapshot. The stream ends
 * when the credential has ended.
 * @param after the position in the query.
 * @throws ApiError 422 for a malformed position; the error of `load`.
 */
export async function replyWithStates(
  services: StateReaderServices,
  call: ReaderCall,
  after: string | undefined,
  options: StateReaderOptions,
): Promise<Reply> {
  const position = getPosition(call.request.headers, after);
  const { isOver } = await options.load();
  if (position === END_ID && isOver) return new Reply(204, {}, undefined);
  const from = position === END_ID ? undefined : position;
  const looks = { ...options, load: withCredential(call, options.load) };
  return new Reply(
    200,
    STREAM_HEADERS,
    streamToReader(services, call.signal, (reader) => generate(services, looks, from, reader)),
  );
}

async function* generate(
  { publisher, onError }: StateReaderServices,
  { id, load }: StateReaderOptions,
  after: number | undefined,
  reader: StreamReader,
): AsyncGenerator<string, undefined> {
  const report = (error: unknown): void => onError({ operation: 'events', requestId: '', error });
  const subscribe = async () => publisher.subscribe(getQuestTopic(id), reader.wake);
  const subscribing = subscribe();
  subscribing.catch(report);
  // News during the subscription reaches no listener, so a look follows it.
  subscribing.then(reader.wake, reader.wake);
  let known = after;
  let pause = FIRST_LOOK_MS;
  let silence = 0;
  try {
    yield KEEP_ALIVE;
    await reader.wait(FIRST_LOOK_MS);
    while (!reader.isLeft()) {
      const { view, version, isOver } = await load();
      if (version !== known && (known === undefined || !isOver)) {
        yield toFrame(version, { type: 'snapshot', state: view });
        known = version;
        pause = FIRST_LOOK_MS;
        silence = 0;
      }
      if (isOver) {
        yield toFrame(END_ID, { type: 'end', state: view });
        return;
      }
      if (!(await reader.wait(pause))) continue;
      silence += pause;
      pause = Math.min(2 * pause, MAX_LOOK_MS);
      if (silence < MAX_SILENCE_MS) continue;
      yield KEEP_ALIVE;
      silence = 0;
    }
  } catch (error) {
    if (!reader.isLeft() && !isRefusal(error)) report(error);
  } finally {
    subscribing.then((end) => end()).catch(() => undefined);
  }
}
