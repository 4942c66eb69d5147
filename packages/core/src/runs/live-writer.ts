import type { Clock } from '../ports/clock.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Json } from '../ports/store.ts';
import type { EngineWrite } from '../ports/write-all.ts';
import {
  addToBatch,
  getLiveTopic,
  KEEP_AFTER_END_MS,
  KEEP_RUNNING_MS,
  type LiveEvent,
} from './live-event.ts';
import { createLiveRounds, type StartLiveRound } from './live-round.ts';

/** Interval of writes, in milliseconds: at most 10 a second for any number of tokens. */
const BATCH_MS = 100;
const MAX_BATCH = 1000;

export interface LiveWriterServices {
  readonly eventLog: EventLog;
  readonly publisher: Publisher;
  readonly clock: Clock;
}

export interface LiveWriterOptions {
  readonly stream: string;
  /** The fence of the lease. */
  readonly fence: number;
  /** The last event before this run, if it continues the stream. Default 0: the run begins it. */
  readonly after?: number;
  /** The complete text so far, written and unwritten. */
  getText(): string;
  /** Whether a reader follows. Without one, events wait for the next reader or the end. Default: always. */
  readonly isFollowed?: () => boolean;
  /** Called when an event waits. */
  readonly onWaiting?: () => void;
  /** Whether this worker still owns the work. Called only when another one has written with an equal or higher fence. */
  isHeld(): Promise<boolean>;
  onError(error: unknown): void;
}

/**
 * Writes the events of one run to the event log, in batches. The log is an addition: its failure never fails the work,
 * and missed batches follow with the next one.
 */
export interface LiveWriter {
  emit(event: LiveEvent): void;
  readonly startRound: StartLiveRound;
  /** Writes what waits for a reader. Never rejects. */
  catchUp(): Promise<void>;
  /** Writes what is left of work that is about to end or to wait. Never rejects. */
  flush(): Promise<void>;
  /**
   * Takes all events as one write, for the step that ends the work. Undefined: `flush` must write them. Only for a run that is the
   * first one of its stream.
   */
  takeAll(): TakenEvents | undefined;
  /** The sequence of the last event. */
  last(): number;
  /** Stops writing and joins the batches. What is not flushed is dropped. Never rejects. */
  close(): Promise<void>;
}

/** Events that a step writes. Other writes wait for its end. */
export interface TakenEvents {
  readonly write: EngineWrite;
  /** Call once. @param areWritten false: they are left to `flush`. */
  end(areWritten: boolean): void;
}

/** For work without readers of its events. */
export const NO_LIVE_WRITER: LiveWriter = {
  emit: () => undefined,
  startRound: createLiveRounds(() => undefined),
  catchUp: async () => undefined,
  flush: async () => undefined,
  takeAll: () => undefined,
  last: () => 0,
  close: async () => undefined,
};

export function createLiveWriter(services: LiveWriterServices, options: LiveWriterOptions): LiveWriter {
  const { eventLog, publisher, clock } = services;
  const { stream, getText, isHeld, onError, isFollowed = () => true, onWaiting } = options;
  const topic = getLiveTopic(stream);
  let attempt = options.fence;
  let last = options.after ?? 0;
  let pending: LiveEvent[] = [];
  /** The batch being written. Repeated unchanged after a failure, because it may have arrived. */
  let batch: LiveEvent[] = [];
  let isUncertain = false;
  let written = 0;
  /** Writes that have begun or wait. */
  let writes = 0;
  let keptMs = 0;
  /** A newer attempt writes now. */
  let isLost = false;
  let isClosed = false;
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();

  const arm = (): void => {
    if (isClosed || isLost || cancelTimer !== undefined) return;
    cancelTimer = clock.timer(BATCH_MS, () => void write(KEEP_RUNNING_MS));
  };

  /** Lost news only delay a reader. */
  const publish = async (): Promise<void> => {
    try {
      await publisher.publish(topic, String(last));
    } catch (error) {
      onError(error);
    }
  };

  /** Continues after events that this writer did not write: those of an earlier attempt, or of a log that lost events. */
  const startOver = (from: number): void => {
    const others = [...batch, ...pending].filter(({ type }) => type !== 'text' && type !== 'reset-step');
    batch = [{ type: 'reset-step', text: getText() }, ...others];
    pending = [];
    last = from;
  };

  const writeAll = async (keepMs: number): Promise<void> => {
    while (!isLost) {
      if (batch.length === 0) batch = pending.splice(0, MAX_BATCH);
      if (batch.length === 0) return;
      const events = batch.slice(0, MAX_BATCH);
      const wasUncertain = isUncertain;
      isUncertain = true;
      const result = await eventLog.append(stream, {
        attempt,
        after: last,
        events: events as unknown as readonly Json[],
        keepMs,
      });
      isUncertain = false;
      const hasArrived = wasUncertain && result.attempt === attempt && result.last === last + events.length;
      if (result.isAppended || hasArrived) {
        last = result.last;
        batch = batch.slice(events.length);
        written += 1;
        keptMs = keepMs;
        void publish();
      } else if (result.attempt > attempt || (result.attempt === attempt && written === 0)) {
        // Fences start again when a queue loses a job.
        if (written > 0 || !(await isHeld())) isLost = true;
        else attempt = result.attempt + 1;
        if (!isLost) startOver(result.last);
      } else startOver(result.last);
    }
  };

  const write = (keepMs: number): Promise<void> => {
    cancelTimer?.();
    cancelTimer = undefined;
    writes += 1;
    writing = writing
      .then(() => writeAll(keepMs))
      .catch(onError)
      .finally(() => {
        writes -= 1;
      });
    return writing;
  };

  const takeAll = (): TakenEvents | undefined => {
    const isNew = written === 0 && last === 0 && writes === 0 && batch.length === 0;
    if (!isNew || isLost || pending.length === 0 || pending.length > MAX_BATCH) return undefined;
    const events = pending as unknown as readonly Json[];
    const write = eventLog.toAppend?.(stream, { attempt, after: 0, events, keepMs: KEEP_AFTER_END_MS });
    if (write === undefined) return undefined;
    cancelTimer?.();
    cancelTimer = undefined;
    batch = pending;
    pending = [];
    let goOn = (): void => undefined;
    writing = new Promise((resolve) => {
      goOn = resolve;
    });
    return {
      write,
      end(areWritten) {
        if (areWritten) {
          last = batch.length;
          batch = [];
          written = 1;
          keptMs = KEEP_AFTER_END_MS;
          void publish();
        } else isUncertain = true;
        goOn();
      },
    };
  };

  const emit = (event: LiveEvent): void => {
    if (isLost) return;
    addToBatch(pending, event);
    if (isFollowed()) arm();
    else onWaiting?.();
  };

  return {
    emit,
    startRound: createLiveRounds(emit),
    catchUp: () => (isClosed ? writing : write(KEEP_RUNNING_MS)),
    flush: () => write(KEEP_AFTER_END_MS),
    takeAll,
    last: () => last,
    async close() {
      isClosed = true;
      cancelTimer?.();
      cancelTimer = undefined;
      await writing;
      if (isLost || written === 0 || (written === 1 && keptMs === KEEP_AFTER_END_MS)) return;
      await eventLog.compact(stream, KEEP_AFTER_END_MS).catch(onError);
    },
  };
}
