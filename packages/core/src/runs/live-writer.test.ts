import { createMemoryEventLog } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, openWriter, STREAM } from '../../test/live-writer.ts';
import { KEEP_AFTER_END_MS, KEEP_RUNNING_MS } from './live-event.ts';
import { createLiveWriter } from './live-writer.ts';

describe('events of a run', () => {
  it('are written each 100 ms, in one batch', async () => {
    const { clock, writer, say, batches, published } = openWriter();
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
    expect([writer.last(), published]).toEqual([2, ['2']]);
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
    const { clock, writer, say, batches } = openWriter({
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
    const { writer, batches, read } = openWriter();
    for (let iteration = 1; iteration <= 1001; iteration += 1) writer.emit({ type: 'step', iteration });
    await writer.flush();
    expect(batches.map(({ events }) => events.length)).toEqual([1000, 1]);
    expect(await read()).toHaveLength(1000);
    expect(writer.last()).toBe(1001);
  });

  it('continue behind those from before a wait', async () => {
    const { memory, writer, say, addOther, batches } = openWriter({ after: 1 });
    await addOther(1);
    say('more');
    await writer.flush();
    expect(batches).toMatchObject([{ attempt: ATTEMPT, after: 1, events: [{ type: 'text', text: 'more' }] }]);
    expect(await memory.read(STREAM, 1)).toHaveLength(1);
  });

  it('are written again each 100 ms after a write that was asked for', async () => {
    const { clock, writer, say, batches } = openWriter();
    say('a');
    await writer.catchUp();
    expect(clock.pending).toBe(0);
    writer.startRound(2);
    await clock.advance(100);
    expect(batches.map(({ events }) => events)).toEqual([
      [{ type: 'text', text: 'a' }],
      [{ type: 'step', iteration: 2 }],
    ]);
  });

  it('are all written before the run has closed', async () => {
    let go = (): void => undefined;
    const written = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { clock, writer, say } = openWriter({}, async (_batch, next) => {
      await written;
      return next();
    });
    say('a');
    void writer.catchUp();
    let isClosed = false;
    const closing = writer.close().then(() => {
      isClosed = true;
    });
    await clock.advance(0);
    expect(isClosed).toBe(false);
    go();
    await closing;
    expect(writer.last()).toBe(1);
  });

  it('are not written after the run is closed', async () => {
    const { clock, writer, say, batches } = openWriter();
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
    const { writer, say, read, errors, batches } = openWriter({}, async (_batch, next) => {
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
    expect([writer.last(), errors.length]).toEqual([2, 1]);
  });

  it('gets the whole text behind a reset when it has lost its events', async () => {
    const { clock, memory, writer, say, read } = openWriter();
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
    expect(writer.last()).toBe(2);
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
  expect([errors, writer.last()]).toEqual([[new Error('away')], 1]);
});
