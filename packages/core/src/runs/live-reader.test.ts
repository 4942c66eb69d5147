import { createFakeClock } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UNKNOWN_POSITION } from '../contract/live-events.ts';
import { ApiError } from '../shared/errors.ts';
import type { LiveFrame } from './live-frames.ts';
import { type LiveEncoder, type LiveReaderOptions, replyWithEvents, streamEvents } from './live-reader.ts';
import { EMPTY_STATE, type LiveState } from './live-state.ts';

const STREAM = 'q1';
/** A reader that reads without end fails its test. */
const MAX_CALLS = 100;
const frame = (sequence: number, text = `e${sequence}`): LiveFrame => ({ sequence, text });

/** What the encoder writes, readable. */
const ENCODER: LiveEncoder = {
  begin: 'begin',
  snapshot: ({ last }, view, text) => `snapshot ${last} ${text} ${JSON.stringify(view)}`,
  events: (frames) => frames.map(({ text }) => text).join(' '),
  end: (view) => `end ${JSON.stringify(view)}`,
};

/** A reader of a tail that the test moves. */
function setUp(options: Partial<LiveReaderOptions> = {}, isLeft = false) {
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
  const record = { view: { id: STREAM } as object, text: '', isOver: false, isStopped: false, hasWaited: false };
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
        return { tail: tail as never, close: () => void (closed += 1) };
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
    /** The tail changes. */
    async move(state: Partial<LiveState>, frames: readonly LiveFrame[] = []) {
      tail.state = { ...tail.state, ...state };
      known.push(...frames);
      for (const listener of listeners) listener();
      await clock.advance(0);
    },
  };
}

const VIEW = '{"id":"q1"}';

describe('new reader', () => {
  it('gets a snapshot, each event after it and the end', async () => {
    const one = setUp();
    one.tail.isReady = false;
    await one.start();
    expect(one.writes).toEqual(['begin']);
    one.tail.isReady = true;
    await one.move({ last: 1, text: 'a' });
    await one.move({ last: 3, text: 'abc' }, [frame(2), frame(3)]);
    await one.move({ last: 4, text: 'abcd' }, [frame(4)]);
    one.tail.isOver = true;
    Object.assign(one.record, { text: 'abcd', isOver: true });
    await one.move({});
    expect(one.writes).toEqual(['begin', `snapshot 1 a ${VIEW}`, 'e2 e3', 'e4', `end ${VIEW}`]);
    expect([one.isClosed, one.opened, one.log.reads]).toEqual([[true, 1, 0], [STREAM], []]);
    expect([one.incidents, one.clock.pending]).toEqual([[], 0]);
  });

  it('of work that has ended gets its record', async () => {
    for (const known of ['abc', 'ab']) {
      const one = setUp();
      one.tail.state = { ...EMPTY_STATE, last: 2, text: known };
      one.tail.isOver = true;
      Object.assign(one.record, { text: 'abc', isOver: true });
      await one.start();
      expect(one.writes).toEqual(['begin', `snapshot 2 abc ${VIEW}`, `end ${VIEW}`]);
    }
  });

  it('before the first event gets the text of the record only after a wait or a loss of events', async () => {
    for (const [hasWaited, epoch, text] of [
      [false, 0, ''],
      [true, 0, 'stored'],
      [false, 1, 'stored'],
    ] as const) {
      const one = setUp();
      one.tail.epoch = epoch;
      Object.assign(one.record, { text: 'stored', hasWaited });
      await one.start();
      expect(one.writes[1]).toBe(`snapshot 0 ${text} ${VIEW}`);
      one.control.abort();
    }
    const later = setUp();
    later.tail.state = { ...EMPTY_STATE, last: 1, text: 'a' };
    Object.assign(later.record, { text: 'stored', hasWaited: true });
    await later.start();
    expect(later.writes[1]).toBe(`snapshot 1 a ${VIEW}`);
  });
});

describe('new reader of work in another process', () => {
  /** The record is ahead of the events. */
  const setUpAhead = () => {
    const one = setUp();
    one.tail.isRemote = true;
    one.tail.state = { ...EMPTY_STATE, last: 1, text: 'a' };
    one.record.text = 'abc';
    return one;
  };

  it('gets the stored text without a position, and everything again with the next event', async () => {
    const one = setUpAhead();
    await one.start();
    expect(one.writes).toEqual(['begin', `snapshot ${UNKNOWN_POSITION} abc ${VIEW}`]);
    one.record.text = 'abcdef';
    await one.move({ last: 2, text: 'abcd' }, [frame(2)]);
    await one.move({ last: 3, text: 'abcde' }, [frame(3)]);
    expect(one.writes.slice(2)).toEqual([`snapshot 2 abcd ${VIEW}`, 'e3']);
  });

  it('is kept alive while nothing comes, and loses its rights meanwhile', async () => {
    const one = setUpAhead();
    await one.start();
    await one.clock.advance(14_999);
    expect(one.writes).toHaveLength(2);
    await one.clock.advance(1);
    expect([one.writes.length, one.loads.count]).toEqual([3, 2]);
    one.loads.error = new ApiError(404, 'gone');
    await one.clock.advance(15_000);
    expect([one.isClosed, one.incidents]).toEqual([[true, 1, 0], []]);
  });

  it('gets the end when the work ends', async () => {
    const one = setUpAhead();
    await one.start();
    one.tail.isOver = true;
    one.record.isOver = true;
    await one.move({});
    expect(one.writes.slice(2)).toEqual([`snapshot 1 abc ${VIEW}`, `end ${VIEW}`]);
  });

  it.each<[string, (one: ReturnType<typeof setUp>) => void]>([
    ['is in this process', ({ tail }) => void Object.assign(tail, { isRemote: false })],
    ['has lost events', ({ tail }) => void Object.assign(tail, { epoch: 1 })],
    ['has stored no more than its events', ({ record }) => void Object.assign(record, { text: 'a' })],
    ['has stored another text', ({ record }) => void Object.assign(record, { text: 'xbc' })],
    ['has ended since', ({ record }) => void Object.assign(record, { isOver: true })],
  ])('gets the events as they are where the worker %s', async (_name, change) => {
    const one = setUpAhead();
    change(one);
    await one.start();
    expect(one.writes[1]).toBe(`snapshot 1 a ${VIEW}`);
  });
});

describe('reader with a position', () => {
  it('gets the events after it, from the tail or else from the log', async () => {
    const one = setUp({ after: 1 });
    one.tail.state = { ...EMPTY_STATE, last: 4 };
    one.tail.after = (sequence) => (sequence < 3 ? undefined : sequence < 4 ? [frame(4)] : []);
    one.log.page = [
      { sequence: 2, event: { type: 'step' } },
      { sequence: 3, event: { type: 'step' } },
    ];
    await one.start();
    expect(one.writes[1]).toContain('id: 2\n');
    expect(one.writes[1]).toContain('id: 3\n');
    expect([one.writes.slice(2), one.log.reads, one.loads.count]).toEqual([['e4'], [1], 0]);
  });

  it('gets a snapshot where its position is unknown, or void since the log has lost events', async () => {
    const unknown = setUp({ after: 9 });
    unknown.tail.after = (sequence) => (sequence === 0 ? [] : undefined);
    await unknown.start();
    expect([unknown.writes[1], unknown.log.reads]).toEqual([`snapshot 0  ${VIEW}`, [9]]);
    unknown.control.abort();
    const lost = setUp({ after: 1 });
    await lost.start();
    expect(lost.writes).toEqual(['begin']);
    lost.tail.epoch = 1;
    await lost.move({ last: 1, text: 'z' });
    expect(lost.writes[1]).toBe(`snapshot 1 z ${VIEW}`);
  });

  it('is never shown the stored text ahead of its events', async () => {
    const one = setUp({ after: 9 });
    one.tail.isRemote = true;
    one.tail.after = (sequence) => (sequence === 0 ? [] : undefined);
    one.record.text = 'abc';
    await one.start();
    expect(one.writes[1]).toBe(`snapshot 0  ${VIEW}`);
  });

  it('gets at most 65,536 characters with one write, and at least one event', async () => {
    const one = setUp({ after: 0 });
    const big = 'x'.repeat(65_536);
    await one.start();
    await one.move({ last: 4 }, [frame(1, `${big}y`), frame(2, big.slice(1)), frame(3, 'z'), frame(4)]);
    expect(one.writes.slice(1).map(({ length }) => length)).toEqual([65_537, 65_537, 2]);
  });
});

describe('end of a stream', () => {
  it.each([
    ['is shown where the events lack a part of it', 'ab', false, true],
    ['is not shown again where the events have it', 'abc', false, false],
    ['is shown where the events have more', 'abcd', false, true],
    ['is not shown where the work was stopped and the events have more', 'abcd', true, false],
    ['is shown where the work was stopped and the events lack a part', 'ab', true, true],
  ])('of a text: it %s', async (_name, known, isStopped, isShown) => {
    const one = setUp({ after: 2 });
    one.tail.state = { ...EMPTY_STATE, last: 2, text: known };
    one.tail.isOver = true;
    Object.assign(one.record, { text: 'abc', isOver: true, isStopped });
    await one.start();
    expect(one.writes.slice(1)).toEqual([...(isShown ? [`snapshot 2 abc ${VIEW}`] : []), `end ${VIEW}`]);
  });

  it('comes at a wait for a reader that ends there, once the record waits too', async () => {
    const one = setUp({ after: 0, endsAtWait: true });
    one.tail.isWaiting = true;
    await one.start();
    expect(one.writes).toEqual(['begin']);
    await one.clock.advance(15_000);
    expect(one.writes).toHaveLength(2);
    one.record.isOver = true;
    await one.move({});
    expect(one.writes.at(-1)).toBe(`end ${VIEW}`);
    const other = setUp({ after: 0 });
    other.tail.isWaiting = true;
    other.record.isOver = true;
    await other.start();
    expect(other.writes).toEqual(['begin']);
  });
});

describe('reader in silence', () => {
  it('gets a comment each 15 seconds, as long as it may read', async () => {
    const one = setUp({ after: 0 });
    await one.start();
    await one.clock.advance(14_999);
    expect(one.writes).toHaveLength(1);
    await one.clock.advance(1);
    expect([one.writes.length, one.loads.count]).toEqual([2, 1]);
    const error = new Error('away');
    one.loads.error = error;
    await one.clock.advance(15_000);
    expect([one.writes.length, one.isClosed]).toEqual([2, [true, 1, 0]]);
    expect(one.incidents).toEqual([{ operation: 'events', requestId: '', error }]);
  });

  it('gets comments also before the tail is ready', async () => {
    const one = setUp();
    one.tail.isReady = false;
    await one.start();
    await one.clock.advance(15_000);
    expect([one.writes.length, one.loads.count]).toEqual([2, 0]);
  });

  it('that leaves costs nothing more, and reports nothing', async () => {
    const one = setUp({ after: 0 });
    await one.start();
    one.control.abort();
    one.loads.error = new Error('late');
    await one.clock.advance(60_000);
    expect([one.isClosed, one.writes, one.clock.pending]).toEqual([[true, 1, 0], ['begin'], 0]);
    expect([one.loads.count, one.incidents]).toEqual([0, []]);
    const gone = setUp({}, true);
    await gone.start();
    expect([gone.isClosed, gone.loads.count]).toEqual([[true, 1, 0], 0]);
  });
});

describe('answer to a reader', () => {
  const ask = (lastEventId: string | undefined, isOver: boolean) => {
    const one = setUp();
    one.record.isOver = isOver;
    one.tail.isOver = isOver;
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return replyWithEvents(one.services, { headers, after: undefined }, one.request);
  };
  const readAll = async ({ body }: { readonly body?: unknown }) => {
    const all: string[] = [];
    for await (const write of body as AsyncIterable<string>) all.push(write);
    return all.join('');
  };

  it('is empty where it has everything', async () => {
    const reply = await ask('end', true);
    expect([reply.status, reply.body]).toEqual([204, undefined]);
  });

  it('is a stream of frames, also for one that had the end before the work went on', async () => {
    const reply = await ask(undefined, true);
    expect(reply.status).toBe(200);
    const body = await readAll(reply);
    expect(body).toContain('data: {"type":"snapshot"');
    expect(body).toContain('"state":{"id":"q1"}');
    expect(body).toContain('id: end\ndata: {"type":"end","state":{"id":"q1"}}');
    expect((await ask('end', false)).status).toBe(200);
  });

  it('is an error for a position of another form', async () => {
    await expect(ask('-1', true)).rejects.toMatchObject({ status: 422 });
  });
});
