import { END_ID, getPosition, UNKNOWN_POSITION } from '../contract/live-events.ts';
import { Reply } from '../contract/reply.ts';
import { KEEP_ALIVE, STREAM_HEADERS } from '../http/sse.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventLog } from '../ports/event-log.ts';
import { type LiveFrame, toFrame, toFrames } from './live-frames.ts';
import type { LiveState } from './live-state.ts';
import type { LiveTail, LiveTailServices } from './live-tail.ts';
import type { LiveTails } from './live-tails.ts';
import type { QuestRecord } from './records.ts';
import { hasEnded } from './states.ts';
import {
  isRefusal,
  MAX_SILENCE_MS,
  type ReaderCall,
  type StreamReader,
  streamToReader,
  withCredential,
} from './stream-reader.ts';

/** Characters of one write. A reader that stalls holds one write, and reads the log afterwards. */
const MAX_WRITE = 65_536;

/** A record as its reader sees it now. */
export interface LiveView<View extends object = object> {
  /** The body of the operation that polls it, or what the encoder makes the end from. */
  readonly view: View;
  /** The stored text. */
  readonly text: string;
  /** The stream ends: the work has ended or, with `endsAtWait`, waits. */
  readonly isOver: boolean;
  /** It was stopped: its text stays as it was then, and the events may have more. */
  readonly isStopped?: boolean;
  /** It has waited for decisions. */
  readonly hasWaited?: boolean;
}

/** Describes a quest to its reader. @param view the body of the operation that polls it. */
export function toLiveView<View extends object>(quest: QuestRecord, view: View): LiveView<View> {
  const { text = '', status, wait, decided } = quest;
  return {
    view,
    text,
    isOver: hasEnded(quest),
    isStopped: status === 'stopped',
    hasWaited: wait !== undefined || decided !== undefined,
  };
}

export interface LiveReaderOptions<View extends object = object> {
  /** The id of a quest, or of other work with `isEnded`. */
  readonly stream: string;
  /** Whether the work has ended. Default: that of the quest. */
  readonly isEnded?: () => Promise<boolean>;
  /** The last event that the reader has; undefined for a new reader. */
  readonly after: number | undefined;
  readonly signal: AbortSignal;
  /** The stream also ends when the work waits for decisions. */
  readonly endsAtWait?: boolean;
  /** Reads the record with the rights of the reader. @throws ApiError 401, 403 or 404 if it may no longer read it. */
  load(): Promise<LiveView<View>>;
}

/** Writes the events of a quest in the format of one wire, for one reader. */
export interface LiveEncoder<View extends object = object> {
  /** The first write, at once. */
  readonly begin: string;
  /** Everything so far: replaces what the reader has. @param text the whole text. */
  snapshot(state: LiveState, view: View, text: string): string;
  events(frames: readonly LiveFrame[]): string;
  /** The last write. */
  end(view: View): string;
}

/** The format of live events. */
const FRAMES: LiveEncoder = {
  begin: KEEP_ALIVE,
  snapshot({ last, ...rest }, view, text) {
    return toFrame(last, { type: 'snapshot', ...rest, text, state: view });
  },
  events: (frames) => frames.map(({ text }) => text).join(''),
  end: (view) => toFrame(END_ID, { type: 'end', state: view }),
};

export interface LiveReaderServices extends LiveTailServices {
  readonly clock: Clock;
  readonly eventLog: EventLog;
  readonly liveTails: LiveTails;
}

/**
 * Answers a request for the events of a quest: a stream, or 204 for a reader that has everything. The stream ends at most 15
 * seconds after the credential has ended.
 * @param after the position in the query.
 * @throws ApiError 422 for a malformed position; the error of `load`.
 */
export async function replyWithEvents(
  services: LiveReaderServices,
  call: ReaderCall,
  after: string | undefined,
  options: Pick<LiveReaderOptions, 'stream' | 'isEnded' | 'load'>,
): Promise<Reply> {
  const position = getPosition(call.request.headers, after);
  const { isOver } = await options.load();
  if (position === END_ID && isOver) return new Reply(204, {}, undefined);
  const from = position === END_ID ? undefined : position;
  const load = withCredential(call, options.load);
  const events = streamEvents(services, { ...options, load, after: from, signal: call.signal }, FRAMES);
  return new Reply(200, STREAM_HEADERS, events);
}

/** The events of a quest as the body of a response. The caller has checked that the reader may read them. */
export function streamEvents<View extends object>(
  services: LiveReaderServices,
  options: LiveReaderOptions<View>,
  encoder: LiveEncoder<View>,
): AsyncIterableIterator<string> {
  return streamToReader(services, options.signal, (reader) => generate(services, options, encoder, reader));
}

/** A snapshot where the reader has no position, the events after it, and the end. */
async function* generate<View extends object>(
  { clock, eventLog, liveTails, onError }: LiveReaderServices,
  { stream, isEnded, after, endsAtWait = false, load: read }: LiveReaderOptions<View>,
  encoder: LiveEncoder<View>,
  reader: StreamReader,
): AsyncGenerator<string, undefined> {
  const { tail, close } = liveTails.open(stream, isEnded);
  const unlisten = tail.onChange(() => reader.wake());
  let position = after;
  let epoch = tail.epoch();
  /** The text of a snapshot without events after it. */
  let shown: string | undefined;
  /** The events, of which the stored text was ahead: those that follow repeat a part of it, so a snapshot replaces it. */
  let passed: LiveState | undefined;
  let mayPass = after === undefined;
  /** When the rights of the reader were checked. */
  let checkedAt = clock.now();
  const load = (): Promise<LiveView<View>> => {
    checkedAt = clock.now();
    return read();
  };
  try {
    yield encoder.begin;
    while (!reader.isLeft()) {
      if (!tail.isReady()) {
        if (await reader.wait(MAX_SILENCE_MS)) yield KEEP_ALIVE;
        continue;
      }
      const before = tail.state();
      if (before === passed && !tail.isOver()) {
        if (!(await reader.wait(MAX_SILENCE_MS))) continue;
        await load();
        yield KEEP_ALIVE;
        continue;
      }
      const events =
        position === undefined || epoch !== tail.epoch()
          ? undefined
          : (tail.after(position) ?? (await readFrames(eventLog, stream, position)));
      if (events === undefined) {
        epoch = tail.epoch();
        const loaded = await load();
        if (mayPass && isAhead(tail, loaded)) {
          mayPass = false;
          passed = tail.state();
          yield encoder.snapshot({ ...passed, last: UNKNOWN_POSITION }, loaded.view, loaded.text);
          continue;
        }
        position = tail.state().last;
        shown = getText(tail, loaded);
        yield encoder.snapshot(tail.state(), loaded.view, shown);
      } else if (events.length > 0) {
        if (clock.now() - checkedAt >= MAX_SILENCE_MS) await load();
        const frames = takeFrames(events);
        position = frames.at(-1)?.sequence;
        shown = undefined;
        yield encoder.events(frames);
      } else if (tail.state() !== before) {
        // Changed during the read.
      } else if (tail.isOver() || (endsAtWait && tail.isWaiting())) {
        const { view, text, isOver, isStopped } = await load();
        // The calls are decided: the work goes on.
        if (!isOver) {
          if (await reader.wait(MAX_SILENCE_MS)) yield KEEP_ALIVE;
          continue;
        }
        const known = shown ?? tail.state().text;
        // The log may lack what a worker that crashed or was stopped did not write.
        const isKnown = isStopped === true ? known.startsWith(text) : known === text;
        if (!isKnown) yield encoder.snapshot(tail.state(), view, text);
        yield encoder.end(view);
        return;
      } else if (await reader.wait(MAX_SILENCE_MS)) {
        await load();
        yield KEEP_ALIVE;
      }
    }
  } catch (error) {
    // The reader connects again, and gets an error status if it may not read.
    if (!reader.isLeft() && !isRefusal(error)) onError({ operation: 'events', requestId: '', error });
  } finally {
    unlisten();
    close();
  }
}

/**
 * The text at the position of the tail. After the end the record counts. Without events the record may be ahead of them:
 * its text is the right one only where the next events begin with the whole text, after a wait or a loss of events.
 */
function getText(tail: LiveTail, { text, hasWaited = false }: LiveView): string {
  const state = tail.state();
  return tail.isOver() || (state.last === 0 && (hasWaited || tail.epoch() > 0)) ? text : state.text;
}

/** Whether the worker, in another process, has stored text whose events wait for a reader. */
function isAhead(tail: LiveTail, { text, isOver: hasEnded }: LiveView): boolean {
  if (!tail.isRemote() || hasEnded || tail.epoch() > 0) return false;
  const state = tail.state();
  return text.length > state.text.length && text.startsWith(state.text);
}

/** Takes as many frames as one write takes, at least one. */
function takeFrames(frames: readonly LiveFrame[]): readonly LiveFrame[] {
  let size = 0;
  const count = frames.findIndex(({ text }) => {
    size += text.length;
    return size > MAX_WRITE;
  });
  return count < 0 ? frames : frames.slice(0, Math.max(1, count));
}

async function readFrames(
  eventLog: EventLog,
  stream: string,
  after: number,
): Promise<readonly LiveFrame[] | undefined> {
  const page = await eventLog.read(stream, after);
  return page && toFrames(page);
}
