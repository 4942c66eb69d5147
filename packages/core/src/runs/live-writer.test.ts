import { createMemoryEventLog } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { AppendResult, EventLog, NewEvents } from '../ports/event-log.ts';
import type { LiveEvent } from './live-event.ts';
import { KEEP_AFTER_END_MS, KEEP_RUNNING_MS } from './live-event.ts';
import { createLiveWriter, type LiveWriterOptions } from './live-writer.ts';

const STREAM = 'q1';
const ATTEMPT = 2;
/** A writer that writes without end fails its test. */
const MAX_APPENDS = 20;

type Append = (batch: NewEvents, next: () => Promise<AppendResult>) => Promise<AppendResult>;

/** A writer on a log in memory. @param onAppend replaces an append. */
function setUp(more: Partial<LiveWriterOptions> = {}, onAppend: Append = (_batch, next) => next()) {
  const clock = createFakeClock();
  const memory = createMemoryEventLog({ clock });
  const batches: NewEvents[] = [];
  const compacted: unknown[] = [];
  const published: string[] = [];
  const errors: unknown[] = [];
  const asked = { count: 0 };
  let text = '';
  const eventLog: EventLog = {
    ...memory,
    async append(stream, batch) {
      if (batches.length === MAX_APPENDS) throw new Error('too many appends');
      batches.push(batch);
      return onAppend(batch, () => memory.append(stream, batch));
    },
    async compact(stream, keepMs) {
      compacted.push([stream, keepMs]);
    },
  };
  const publisher = {
    publish: async (_topic: string, message: string) => void published.push(message),
    subscribe: async () => async () => undefined,
  };
  const writer = createLiveWriter(
    { eventLog, publisher, clock },
    {
      stream: STREAM,
      fence: ATTEMPT,
      getText: () => text,
      async isHeld() {
        asked.count += 1;
        return true;
      },
      onError: (error) => void errors.push(error),
      ...more,
    },
  );
  return {
    ...{ clock, memory, writer, batches, compacted, published, errors, asked },
    say(word: string) {
      text += word;
      writer.emit({ type: 'text', text: word });
    },
    async read() {
      const page = await memory.read(STREAM, 0);
      return page?.map(({ event }) => event as unknown as LiveEvent);
    },
    /** What another writer has added. */
    addOther: (attempt: number, after = 0) =>
      memory.append(STREAM, {
        ...{ attempt, after, keepMs: KEEP_RUNNING_MS },
        events: [{ type: 'text', text: 'other' }],
      }),
  };
}

describe('events of a run', () => {
  it('are written each 100 ms, in one batch', async () => {
    const { clock, writer, say, batches, published } = setUp();
    say('a');
    await clock.advance(99);
    say('b');
    writer.emit({ type: 'step', iteration: 1 });
    expect(batches).toEqual([]);
    await clock.advance(1);
    const events = [
      { type: 'text', text: 'ab' },
      { type: 'step', iteration: 1 },
    ];
    expect(batches).toEqual([{ attempt: ATTEMPT, after: 0, events, keepMs: KEEP_RUNNING_MS }]);
    expect([writer.last, published]).toEqual([2, ['2']]);
    say('c');
    await clock.advance(99);
    expect(batches).toHaveLength(1);
    await clock.advance(1);
    expect(batches[1]).toMatchObject({ after: 2, events: [{ type: 'text', text: 'c' }] });
    await writer.close();
    expect(clock.pending).toBe(0);
  });

  it('wait without a reader until one comes or the work ends', async () => {
    let isFollowed = false;
    const waits: number[] = [];
    const { clock, writer, say, batches } = setUp({
      isFollowed: () => isFollowed,
      onWaiting: () => void waits.push(1),
    });
    say('a');
    await clock.advance(60_000);
    expect([batches, waits.length, clock.pending]).toEqual([[], 1, 0]);
    isFollowed = true;
    await writer.catchUp();
    expect(batches).toMatchObject([{ keepMs: KEEP_RUNNING_MS, events: [{ text: 'a' }] }]);
    isFollowed = false;
    say('b');
    await writer.flush();
    expect(batches[1]).toMatchObject({ after: 1, keepMs: KEEP_AFTER_END_MS, events: [{ text: 'b' }] });
    expect(waits).toHaveLength(2);
  });

  it('are written at most 1,000 at a time', async () => {
    const { writer, batches, read } = setUp();
    for (let iteration = 1; iteration <= 1001; iteration += 1) writer.emit({ type: 'step', iteration });
    await writer.flush();
    expect(batches.map(({ events }) => events.length)).toEqual([1000, 1]);
    expect(await read()).toHaveLength(1000);
    expect(writer.last).toBe(1001);
  });

  it('continue behind those from before a wait', async () => {
    const { memory, writer, say, addOther, batches } = setUp({ after: 1 });
    await addOther(1);
    say('more');
    await writer.flush();
    expect(batches).toMatchObject([{ attempt: ATTEMPT, after: 1, events: [{ type: 'text', text: 'more' }] }]);
    expect(await memory.read(STREAM, 1)).toHaveLength(1);
  });

  it('are not written after the run is closed', async () => {
    const { clock, writer, say, batches } = setUp();
    say('a');
    await writer.close();
    expect(clock.pending).toBe(0);
    say('b');
    await clock.advance(1000);
    await writer.catchUp();
    expect(batches).toEqual([]);
  });
});

describe('a log that fails', () => {
  it('gets the same batch again when its answer was lost, and adds it once', async () => {
    let failures = 1;
    const { writer, say, read, errors, batches } = setUp({}, async (_batch, next) => {
      const result = await next();
      if (failures === 0) return result;
      failures -= 1;
      throw new Error('lost');
    });
    say('a');
    await writer.catchUp();
    expect(errors).toEqual([new Error('lost')]);
    say('b');
    await writer.catchUp();
    expect(batches.map(({ after }) => after)).toEqual([0, 0, 1]);
    expect(await read()).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
    expect([writer.last, errors.length]).toEqual([2, 1]);
  });

  it('gets the whole text behind a reset when it has lost its events', async () => {
    const { clock, memory, writer, say, read } = setUp();
    say('a');
    await writer.catchUp();
    await clock.advance(KEEP_RUNNING_MS);
    await memory.expire();
    say('b');
    writer.emit({ type: 'step', iteration: 1 });
    writer.emit({ type: 'reset-step', text: 'old' });
    await writer.catchUp();
    expect(await read()).toEqual([
      { type: 'reset-step', text: 'ab' },
      { type: 'step', iteration: 1 },
    ]);
    expect(writer.last).toBe(2);
  });
});

describe('another writer of the same events', () => {
  it('with a lower attempt is followed by a reset', async () => {
    const { writer, say, addOther, batches, asked } = setUp();
    await addOther(1);
    say('mine');
    await writer.flush();
    expect(batches[1]).toMatchObject({ attempt: ATTEMPT, after: 1, events: [{ text: 'mine' }] });
    expect(batches[1]?.events).toMatchObject([{ type: 'reset-step' }]);
    expect(asked.count).toBe(0);
  });

  it.each([ATTEMPT, 7])('with attempt %i is refused where the run still owns the work', async (attempt) => {
    const { writer, say, addOther, batches, asked, memory } = setUp();
    await addOther(attempt);
    say('mine');
    await writer.flush();
    expect(batches[1]).toMatchObject({ attempt: attempt + 1, after: 1, events: [{ type: 'reset-step' }] });
    expect([writer.last, asked.count]).toEqual([2, 1]);
    expect(await memory.append(STREAM, { attempt, after: 2, events: [{}], keepMs: 1 })).toMatchObject({
      isAppended: false,
    });
  });

  it('ends the events of a run that has lost the work', async () => {
    const { clock, writer, say, addOther, batches, read } = setUp({ isHeld: async () => false });
    await addOther(7);
    say('mine');
    await writer.catchUp();
    say('more');
    await clock.advance(1000);
    await writer.flush();
    await writer.close();
    expect([batches.length, clock.pending]).toEqual([1, 0]);
    expect(await read()).toEqual([{ type: 'text', text: 'other' }]);
  });

  it('with a higher attempt ends the events of a run that has written some, unasked', async () => {
    const { writer, say, addOther, batches, asked, compacted } = setUp();
    say('mine');
    await writer.catchUp();
    await addOther(7, 1);
    say('more');
    await writer.catchUp();
    await writer.catchUp();
    await writer.close();
    expect([batches.length, asked.count, compacted]).toEqual([2, 0, []]);
  });
});

describe('the batches of a run', () => {
  it('are joined at its end', async () => {
    const { writer, say, compacted } = setUp();
    say('a');
    await writer.catchUp();
    say('b');
    await writer.flush();
    await writer.close();
    expect(compacted).toEqual([[STREAM, KEEP_AFTER_END_MS]]);
  });

  it('are kept after the end also where the last events came before', async () => {
    const { writer, say, compacted } = setUp();
    say('a');
    await writer.catchUp();
    await writer.close();
    expect(compacted).toEqual([[STREAM, KEEP_AFTER_END_MS]]);
  });

  it('are left as they are where there is one or none', async () => {
    const one = setUp();
    one.say('a');
    await one.writer.flush();
    await one.writer.close();
    const none = setUp();
    await none.writer.flush();
    await none.writer.close();
    expect([one.compacted, none.compacted, none.batches]).toEqual([[], [], []]);
  });
});

it('reports a publisher that fails, and goes on', async () => {
  const clock = createFakeClock();
  const errors: unknown[] = [];
  const eventLog = createMemoryEventLog({ clock });
  const publisher = {
    publish: () => Promise.reject(new Error('away')),
    subscribe: async () => async () => undefined,
  };
  const writer = createLiveWriter(
    { eventLog, publisher, clock },
    {
      ...{ stream: STREAM, fence: 1, getText: () => '', isHeld: async () => true },
      onError: (error) => void errors.push(error),
    },
  );
  writer.emit({ type: 'step', iteration: 1 });
  await writer.flush();
  await clock.advance(0);
  expect([errors, writer.last]).toEqual([[new Error('away')], 1]);
});
