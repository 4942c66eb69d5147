import { createMemoryEventLog, createMemoryPublisher } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventLog } from '../ports/event-log.ts';
import type { Publisher } from '../ports/publisher.ts';
import { getLiveTopic, type LiveEvent } from './live-event.ts';
import { type LivePhase, startLiveTail } from './live-tail.ts';
import { getQuestTopic } from './quest-events.ts';

const STREAM = 'quest';
/** A tail that looks without end fails its test. */
const MAX_CALLS = 200;

interface Options {
  readonly publisher?: Publisher;
  readonly log?: (log: EventLog) => Partial<EventLog>;
  readonly following?: { ready: Promise<unknown>; isDue(): boolean; isRemote(): boolean };
}

/** A tail on a log in memory. Without a publisher it hears no news. */
async function setUp({ publisher, log = () => ({}), following }: Options = {}) {
  const clock = createFakeClock();
  const memory = createMemoryEventLog({ clock });
  const incidents: unknown[] = [];
  const asked: number[] = [];
  const looks: number[] = [];
  const state = { phase: 'running' as LivePhase };
  const start = clock.now();
  const deaf: Publisher = { publish: async () => undefined, subscribe: async () => async () => undefined };
  let last = 0;
  const add = async (...events: readonly object[]) => {
    const batch = { attempt: 1, after: last, events: events as never, keepMs: 1000 };
    last = (await memory.append(STREAM, batch)).last;
  };
  let calls = 0;
  const count = (): void => {
    calls += 1;
    if (calls <= MAX_CALLS) return;
    tail.stop();
    throw new Error('too many looks');
  };
  const counted = {
    ...clock,
    timer(ms: number, callback: () => void) {
      count();
      return clock.timer(ms, callback);
    },
  };
  const own: EventLog = {
    ...memory,
    async read(stream, after) {
      count();
      if (after === tail.state().last) looks.push(clock.now() - start);
      return memory.read(stream, after);
    },
  };
  const tail = startLiveTail(
    {
      ...{ clock: counted, publisher: publisher ?? deaf, eventLog: { ...own, ...log(own) } },
      onError: (incident) => void incidents.push(incident),
    },
    STREAM,
    async () => {
      count();
      asked.push(clock.now() - start);
      return state.phase;
    },
    following,
  );
  onTestFinished(() => tail.stop());
  let changes = 0;
  const unlisten = tail.onChange(() => {
    changes += 1;
  });
  return { clock, memory, tail, incidents, asked, looks, state, add, unlisten, countChanges: () => changes };
}

const text = (value: string): LiveEvent => ({ type: 'text', text: value });
const sequences = (frames: readonly { sequence: number }[] | undefined) => frames?.map((one) => one.sequence);

describe('tail of a stream without news', () => {
  it('looks at once when it has subscribed, then at intervals that grow to a second', async () => {
    const { clock, tail, looks } = await setUp();
    expect([tail.isReady(), tail.isWaiting()]).toEqual([false, false]);
    await clock.advance(0);
    expect(tail.isReady()).toBe(true);
    await clock.advance(5000);
    expect(looks).toEqual([0, 100, 300, 700, 1500, 2500, 3500, 4500]);
  });

  it('looks more often again after new events, and asks for the end only without any', async () => {
    const { clock, tail, looks, asked, add } = await setUp();
    await clock.advance(5000);
    looks.splice(0);
    asked.splice(0);
    await add(text('a'));
    await clock.advance(1500);
    expect(tail.state()).toMatchObject({ text: 'a', last: 1 });
    // The first look finds the event, and that there are no more.
    expect(looks).toEqual([5500, 5500, 5600, 5800, 6200]);
    expect(asked).toEqual([5500, 5800, 6200]);
  });

  it('calls its listeners for changes only', async () => {
    const { clock, state, add, countChanges, unlisten } = await setUp();
    await clock.advance(5000);
    expect(countChanges()).toBe(1);
    await add(text('a'));
    await clock.advance(5000);
    expect(countChanges()).toBe(2);
    state.phase = 'waiting';
    await clock.advance(5000);
    expect(countChanges()).toBe(3);
    unlisten();
    state.phase = 'over';
    await clock.advance(5000);
    expect(countChanges()).toBe(3);
  });

  it('knows that the work waits, goes on and ends, and looks no more then', async () => {
    const { clock, tail, state, looks } = await setUp();
    const at = async (phase: LivePhase) => {
      state.phase = phase;
      await clock.advance(2000);
      return [tail.isWaiting(), tail.isOver()];
    };
    expect(await at('running')).toEqual([false, false]);
    expect(await at('waiting')).toEqual([true, false]);
    expect(await at('running')).toEqual([false, false]);
    expect(await at('over')).toEqual([false, true]);
    looks.splice(0);
    await clock.advance(10_000);
    expect([looks, clock.pending]).toEqual([[], 0]);
  });

  it('waits for the first look until the worker of its process has written, for at most 100 ms', async () => {
    for (const isWritten of [true, false]) {
      let resolve = (): void => undefined;
      const ready = new Promise<void>((done) => {
        resolve = done;
      });
      const { clock, tail } = await setUp({
        following: { ready, isDue: () => false, isRemote: () => false },
      });
      await clock.advance(50);
      expect(tail.isReady()).toBe(false);
      if (isWritten) resolve();
      await clock.advance(isWritten ? 0 : 49);
      expect(tail.isReady()).toBe(isWritten);
      await clock.advance(1);
      expect(tail.isReady()).toBe(true);
    }
  });

  it('asks with each look while its worker must be asked to write', async () => {
    let isRemote = true;
    const following = { ready: Promise.resolve(), isDue: () => true, isRemote: () => isRemote };
    const { clock, tail, asked, add } = await setUp({ following });
    await clock.advance(5000);
    asked.splice(0);
    await add(text('a'));
    await clock.advance(800);
    expect(asked).toEqual([5500, 5600, 5800]);
    expect(tail.isRemote()).toBe(true);
    isRemote = false;
    expect(tail.isRemote()).toBe(false);
    expect((await setUp()).tail.isRemote()).toBe(false);
  });
});

describe('tail of a stream with news', () => {
  it('looks at once, and asks for the end only after news of it', async () => {
    const publisher = createMemoryPublisher();
    const { clock, tail, asked, add, looks } = await setUp({ publisher });
    await clock.advance(5000);
    await add(text('a'));
    await publisher.publish(getLiveTopic(STREAM), '1');
    await clock.advance(0);
    expect(tail.state().text).toBe('a');
    asked.splice(0);
    await add(text('b'));
    await publisher.publish(getLiveTopic(STREAM), '2');
    await clock.advance(0);
    expect([tail.state().text, asked]).toEqual(['ab', []]);
    await publisher.publish(getQuestTopic(STREAM), 'ended');
    await clock.advance(0);
    expect(asked).toEqual([5000]);
    looks.splice(0);
    tail.stop();
    await publisher.publish(getLiveTopic(STREAM), '3');
    await clock.advance(5000);
    expect([looks, clock.pending]).toEqual([[], 0]);
  });

  it('goes on by itself when it cannot subscribe, or end its subscription, which it reports', async () => {
    const error = new Error('away');
    const cannot = await setUp({
      publisher: { publish: async () => undefined, subscribe: () => Promise.reject(error) },
    });
    await cannot.clock.advance(0);
    const incident = { operation: 'events', requestId: '', error };
    expect([cannot.tail.isReady(), cannot.incidents]).toEqual([true, [incident, incident]]);
    const stuck = await setUp({
      publisher: { publish: async () => undefined, subscribe: async () => () => Promise.reject(error) },
    });
    await stuck.clock.advance(0);
    stuck.tail.stop();
    await stuck.clock.advance(0);
    expect(stuck.incidents).toEqual([incident, incident]);
  });
});

describe('events of a tail', () => {
  it('are those after a sequence, as far as it knows', async () => {
    const { clock, tail, add } = await setUp();
    await add(text('a'), text('b'), text('c'));
    expect([tail.after(0), tail.after(1)]).toEqual([[], undefined]);
    await clock.advance(0);
    expect(sequences(tail.after(0))).toEqual([1, 2, 3]);
    expect(sequences(tail.after(2))).toEqual([3]);
    expect(tail.after(3)).toEqual([]);
    expect(tail.after(4)).toBeUndefined();
  });

  it('are the last 524,288 characters of frames; earlier ones are in the log', async () => {
    const { clock, tail, add } = await setUp();
    // With 100 characters for their frames.
    const big = 'x'.repeat(131_072 - 100);
    await add(...Array.from({ length: 5 }, () => text(big)));
    await clock.advance(0);
    expect(tail.state().last).toBe(5);
    expect(tail.after(0)).toBeUndefined();
    expect(sequences(tail.after(1))).toEqual([2, 3, 4, 5]);
  });

  it('are void when the log has lost them', async () => {
    const { clock, memory, tail, add, countChanges } = await setUp();
    await add(text('a'), text('b'));
    await clock.advance(2000);
    const before = countChanges();
    await memory.expire();
    await clock.advance(2000);
    expect([tail.epoch(), tail.state().text, tail.state().last, countChanges()]).toEqual([
      1,
      '',
      0,
      before + 1,
    ]);
    expect(tail.after(1)).toBeUndefined();
    const events = [text('z')] as never;
    await memory.append(STREAM, { attempt: 1, after: 0, events, keepMs: 1000 });
    await clock.advance(2000);
    expect(sequences(tail.after(0))).toEqual([1]);
    expect(tail.after(0)?.[0]?.text).toContain('"z"');
  });

  it('are in the log only where one of them is larger than that', async () => {
    const { clock, tail, add } = await setUp();
    await add(text('x'.repeat(524_288)));
    await clock.advance(0);
    expect([tail.state().last, tail.after(0), tail.after(1)]).toEqual([1, undefined, []]);
  });

  it('come later when the log fails, which is reported', async () => {
    const error = new Error('away');
    let failures = 2;
    const { clock, tail, incidents, asked, add } = await setUp({
      log: (log) => ({
        read(...args) {
          failures -= 1;
          return failures >= 0 ? Promise.reject(error) : log.read(...args);
        },
      }),
    });
    await add(text('a'));
    await clock.advance(0);
    expect([tail.isReady(), incidents.length]).toEqual([false, 1]);
    await clock.advance(300);
    expect([tail.state().text, incidents.length]).toEqual(['a', 2]);
    expect(asked).toEqual([0, 100, 300]);
  });
});
