import { createFakeClock } from '@questline/testing';
import { onTestFinished } from 'vitest';
import type { LiveFrame } from '../src/runs/live-frames.ts';
import { type LiveEncoder, type LiveReaderOptions, streamEvents } from '../src/runs/live-reader.ts';
import { EMPTY_STATE, type LiveState } from '../src/runs/live-state.ts';
import type { LiveTail } from '../src/runs/live-tail.ts';

export const STREAM = 'q1';
/** A reader that reads without end fails its test. */
const MAX_CALLS = 100;
export const frame = (sequence: number, text = `e${sequence}`): LiveFrame => ({ sequence, text });

/** What the encoder writes, readable. */
const ENCODER: LiveEncoder = {
  begin: 'begin',
  snapshot: ({ last }, view, text) => `snapshot ${last} ${text} ${JSON.stringify(view)}`,
  events: (frames) => frames.map(({ text }) => text).join(' '),
  end: (view) => `end ${JSON.stringify(view)}`,
};

/** A reader of a tail that the test moves. */
export function openReader(options: Partial<LiveReaderOptions> = {}, isLeft = false) {
  const clock = createFakeClock();
  const listeners = new Set<() => void>();
  const known: LiveFrame[] = [];
  let calls = 0;
  const count = (): void => {
    calls += 1;
    if (calls > MAX_CALLS) throw new Error('too many calls');
  };
  const tail = {
    ...{ state: EMPTY_STATE, epoch: 0, isReady: true, isOver: false, isWaiting: false, isRemote: false },
    after(sequence: number): readonly LiveFrame[] | undefined {
      count();
      return known.filter((one) => one.sequence > sequence);
    },
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const asked: LiveTail = {
    after: (sequence) => tail.after(sequence),
    onChange: (listener) => tail.onChange(listener),
    state: () => tail.state,
    epoch: () => tail.epoch,
    isReady: () => tail.isReady,
    isOver: () => tail.isOver,
    isWaiting: () => tail.isWaiting,
    isRemote: () => tail.isRemote,
  };
  const record = {
    view: { id: STREAM } as object,
    text: '',
    isOver: false,
    isStopped: false,
    hasWaited: false,
  };
  const log = { reads: [] as number[], page: undefined as readonly object[] | undefined };
  const loads = { count: 0, error: undefined as Error | undefined };
  const incidents: unknown[] = [];
  const opened: string[] = [];
  let closed = 0;
  const control = new AbortController();
  if (isLeft) control.abort();
  const services = {
    clock,
    eventLog: {
      async read(_stream: string, after: number) {
        count();
        log.reads.push(after);
        return log.page;
      },
    } as never,
    publisher: {} as never,
    liveTails: {
      open(stream: string) {
        opened.push(stream);
        const close = (): void => {
          closed += 1;
        };
        return { tail: asked, close };
      },
      add: () => () => undefined,
      dismiss: () => undefined,
    },
    onError: (incident: unknown) => void incidents.push(incident),
  };
  const request = {
    ...{ stream: STREAM, after: undefined, signal: control.signal },
    async load() {
      count();
      loads.count += 1;
      if (loads.error !== undefined) throw loads.error;
      return { ...record };
    },
    ...options,
  };
  const writes: string[] = [];
  let hasEnded = false;
  const read = async () => {
    const body = streamEvents(services, request, ENCODER);
    onTestFinished(() => control.abort());
    for await (const write of body) writes.push(write);
    hasEnded = true;
  };
  return {
    ...{ clock, tail, record, log, loads, incidents, opened, writes, control, services, request, known },
    get isClosed() {
      return [hasEnded, closed, listeners.size] as const;
    },
    start() {
      void read();
      return clock.advance(0);
    },
    /** The tail changes. Without new events its state stays the same. */
    async move(state: Partial<LiveState>, frames: readonly LiveFrame[] = []) {
      if (Object.keys(state).length > 0) tail.state = { ...tail.state, ...state };
      known.push(...frames);
      for (const listener of listeners) listener();
      await clock.advance(0);
    },
  };
}
