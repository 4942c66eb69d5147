import { KEEP_ALIVE } from '../../../http/sse.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { AnswerPart } from '../../../ports/models.ts';
import { fromFrame } from '../../../runs/live-frames.ts';
import { type LiveEncoder, type LiveReaderServices, streamEvents } from '../../../runs/live-reader.ts';
import { notFound } from '../../../shared/errors.ts';
import type { StoredResponse } from './stored.ts';

/** Longest wait for the first output before the head of a stream: until then, a failure can have a status. */
const HEAD_WAITS_MS = 10_000;
/** Longest wait for a worker to close a response that was cancelled. */
const MAX_CLOSING_MS = 5000;
const CLOSING_LOOK_MS = 50;

/**
 * Writes a response as a stream, in the format of its wire. The same parts give the same text in any process, now and
 * later, so that a reader can continue a stream that broke off.
 */
export interface ResponseWriter {
  /** The writes before the first part. Empty: none. */
  readonly head: string;
  /** Writes one part. Empty: nothing. */
  add(part: AnswerPart): string;
  /** The last writes. */
  end(response: StoredResponse): string;
}

export interface FollowOptions {
  readonly id: string;
  readonly signal: AbortSignal;
  load(): Promise<StoredResponse | undefined>;
}

/** Streams a response from its beginning: from its events while there are any, then from its record. */
export function followResponse(
  services: LiveReaderServices,
  { id, signal, load }: FollowOptions,
  writer: ResponseWriter,
): AsyncIterableIterator<string> {
  const loadView = async () => {
    const response = await loadClosed(services.clock, load);
    if (response === undefined) throw notFound('Response');
    return { view: response, text: '', isOver: response.isClosed };
  };
  return streamEvents(services, { stream: id, after: 0, signal, load: loadView }, toLiveEncoder(writer));
}

function toLiveEncoder(writer: ResponseWriter): LiveEncoder<StoredResponse> {
  let count = 0;
  return {
    begin: writer.head === '' ? KEEP_ALIVE : writer.head,
    snapshot: () => '',
    events(frames) {
      let text = '';
      for (const frame of frames) {
        const event = fromFrame(frame);
        // Behind parts whose events are lost, the record has the rest at the end.
        if (event.type !== 'part' || event.at !== count) continue;
        count += 1;
        text += writer.add(event.part);
      }
      return text;
    },
    end(response) {
      const rest = response.output.parts.slice(count).map((part) => writer.add(part));
      return rest.join('') + writer.end(response);
    },
  };
}

/** The output of a cancelled response is final when its worker has closed it. */
async function loadClosed(clock: Clock, load: FollowOptions['load']): Promise<StoredResponse | undefined> {
  const until = clock.now() + MAX_CLOSING_MS;
  for (;;) {
    const response = await load();
    if (response?.status !== 'cancelled' || response.isClosed || clock.now() >= until) return response;
    await new Promise<void>((resolve) => void clock.timer(CLOSING_LOOK_MS, resolve));
  }
}

/** Waits until there is output, or an end, or the timeout has passed, or the reader has left. */
export function untilStarted(
  { liveTails, clock }: LiveReaderServices,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { tail, close } = liveTails.open(id);
  return new Promise((resolve) => {
    const finish = (): void => {
      unlisten();
      cancel();
      signal.removeEventListener('abort', finish);
      close();
      resolve();
    };
    const look = (): void => {
      if (tail.state().last > 0 || tail.isOver()) finish();
    };
    const unlisten = tail.onChange(look);
    const cancel = clock.timer(HEAD_WAITS_MS, finish);
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
    else look();
  });
}
