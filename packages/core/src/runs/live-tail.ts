import type { Clock } from '../ports/clock.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Incident } from '../shared/incident.ts';
import { getLiveTopic } from './live-event.ts';
import type { Following } from './live-followers.ts';
import { type LiveFrame, toFrames } from './live-frames.ts';
import { applyEvents, EMPTY_STATE, type LiveState } from './live-state.ts';
import { getQuestTopic } from './quest-events.ts';

/** Messages may be lost, and the worker may not share the publisher, so a tail also looks by itself. */
const FIRST_LOOK_MS = 100;
const MAX_LOOK_MS = 1000;
/** Characters of recent frames that all readers of a process share; a reader behind them reads the log. */
const MAX_WINDOW = 524_288;

/** `waiting`: for decisions of the user. */
export type LivePhase = 'running' | 'waiting' | 'over';

/** The end of one stream, read once for all readers of this process. */
export interface LiveTail {
  state(): LiveState;
  /** Changes when the log has lost events: positions of readers are void. */
  epoch(): number;
  /** The first look has ended. */
  isReady(): boolean;
  /** The work has ended, and `state` contains all events. */
  isOver(): boolean;
  /** The work waits for decisions, and `state` contains all events before. */
  isWaiting(): boolean;
  /** The worker is not in this process: the stored text can be ahead of the events. */
  isRemote(): boolean;
  /** Recent events after a sequence; undefined: read the log. */
  after(sequence: number): readonly LiveFrame[] | undefined;
  /** @param listener called on every change. @returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

export interface LiveTailServices {
  readonly eventLog: EventLog;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}

/**
 * Starts to read a stream. @param getPhase the phase of its work. @param following asks the worker to write; absent: it always
 * does. @returns the tail, and a function that stops it.
 */
export function startLiveTail(
  { eventLog, publisher, clock, onError }: LiveTailServices,
  stream: string,
  getPhase: () => Promise<LivePhase>,
  following?: Pick<Following, 'ready' | 'isDue' | 'isRemote'>,
): LiveTail & { stop(): void } {
  let state = EMPTY_STATE;
  let epoch = 0;
  let isReady = false;
  let isOver = false;
  let isWaiting = false;
  let isStopped = false;
  let window: readonly LiveFrame[] = [];
  let wake = (): void => undefined;
  let wasWoken = false;
  /** True at the start, after news of the end, and after a look without new events. */
  let mayHaveEnded = true;
  const listeners = new Set<() => void>();

  const report = (error: unknown): void => onError({ operation: 'events', requestId: '', error });
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const look = (): void => {
    wasWoken = true;
    wake();
  };
  const subscribing = [getLiveTopic(stream), getQuestTopic(stream)].map(async (topic) => {
    try {
      return await publisher.subscribe(topic, () => {
        mayHaveEnded ||= topic === getQuestTopic(stream);
        look();
      });
    } catch (error) {
      report(error);
      return async () => undefined;
    }
  });

  /** @returns whether there was something new. */
  const readOn = async (): Promise<boolean> => {
    const page = await eventLog.read(stream, state.last);
    if (page === undefined) {
      state = EMPTY_STATE;
      window = [];
      epoch += 1;
      return true;
    }
    if (page.length === 0) return false;
    state = applyEvents(state, page);
    window = keepLast([...window, ...toFrames(page)], MAX_WINDOW);
    return true;
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.timer(ms, () => wake());
      wake = () => {
        cancel();
        resolve();
      };
      if (wasWoken || isStopped) wake();
    });

  const run = async (): Promise<void> => {
    // News during the subscription reaches no listener, so a look follows it. A broken publisher delays only the first look.
    void Promise.all([...subscribing, following?.ready]).then(() => {
      mayHaveEnded = true;
      look();
    });
    await pause(FIRST_LOOK_MS);
    for (let wait = FIRST_LOOK_MS; !isStopped; ) {
      wasWoken = false;
      try {
        // Events precede the end: what comes after this look is the rest.
        const isAsked = mayHaveEnded || following?.isDue() === true;
        // Before the question: news of the end that arrives meanwhile needs another look.
        mayHaveEnded = false;
        const phase = isAsked ? await getPhase() : 'running';
        const hasEnded = phase === 'over';
        let isNew = false;
        while (!isStopped && (await readOn())) {
          isNew = true;
        }
        if (isNew) wait = FIRST_LOOK_MS;
        else mayHaveEnded = true;
        const isChanged = isNew || hasEnded || !isReady || (phase === 'waiting' && !isWaiting);
        isReady = true;
        isOver = hasEnded;
        isWaiting = phase === 'waiting';
        if (isChanged) notify();
        if (isOver) return;
      } catch (error) {
        mayHaveEnded = true;
        report(error);
      }
      await pause(wait);
      wait = Math.min(2 * wait, MAX_LOOK_MS);
    }
  };
  void run();

  return {
    state: () => state,
    epoch: () => epoch,
    isReady: () => isReady,
    isOver: () => isOver,
    isWaiting: () => isWaiting,
    isRemote: () => following?.isRemote() === true,
    after(sequence) {
      const first = window[0]?.sequence;
      if (sequence === state.last) return [];
      if (first === undefined || sequence < first - 1 || sequence > state.last) return undefined;
      return window.slice(sequence - first + 1);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    stop() {
      isStopped = true;
      wake();
      for (const subscription of subscribing) {
        void subscription.then((end) => end()).catch(report);
      }
    },
  };
}

/** The last frames, at most `max` characters. */
function keepLast(frames: readonly LiveFrame[], max: number): readonly LiveFrame[] {
  let size = 0;
  const first = frames.findLastIndex(({ text }) => {
    size += text.length;
    return size > max;
  });
  return first < 0 ? frames : frames.slice(first + 1);
}
