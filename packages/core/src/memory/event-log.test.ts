import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryEventLog } from './event-log.ts';

function setUp() {
  const clock = createFakeClock();
  const log = createMemoryEventLog({ clock });
  const append = (after: number, events: readonly string[], more: object = {}) =>
    log.append('s', {
      attempt: 1,
      after,
      events: events.map((text) => ({ text })),
      keepMs: 100,
      ...more,
    } as never);
  const read = async (after = 0) =>
    (await log.read('s', after))?.map(({ sequence, event }) => [
      ...[sequence, (event as unknown as { text: string }).text],
    ]);
  return { clock, log, append, read };
}

it('numbers events from 1, and reads those after a number', async () => {
  const { append, read } = setUp();
  expect(await append(0, ['a', 'b'])).toEqual({ isAppended: true, last: 2, attempt: 1 });
  expect(await append(2, ['c'])).toEqual({ isAppended: true, last: 3, attempt: 1 });
  expect(await read()).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
  ]);
  expect([await read(2), await read(3), await read(4)]).toEqual([[[3, 'c']], [], undefined]);
});

it('has no events of a stream that was never written', async () => {
  const { read } = setUp();
  expect([await read(), await read(1)]).toEqual([[], undefined]);
});

it('refuses events behind another number than the last, and of an older attempt', async () => {
  const { append, read } = setUp();
  await append(0, ['a'], { attempt: 2 });
  expect(await append(0, ['x'], { attempt: 2 })).toEqual({ isAppended: false, last: 1, attempt: 2 });
  expect(await append(2, ['x'], { attempt: 2 })).toEqual({ isAppended: false, last: 1, attempt: 2 });
  expect(await append(1, ['x'])).toEqual({ isAppended: false, last: 1, attempt: 2 });
  expect(await append(1, ['b'], { attempt: 3 })).toEqual({ isAppended: true, last: 2, attempt: 3 });
  expect(await append(2, ['x'], { attempt: 2 })).toMatchObject({ isAppended: false, attempt: 3 });
  expect(await read()).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});

it('reads 1,000 events at a time', async () => {
  const { append, read } = setUp();
  await append(
    0,
    Array.from({ length: 1001 }, (_, at) => `${at}`),
  );
  expect([(await read())?.length, await read(1000)]).toEqual([1000, [[1001, '1000']]]);
});

it('keeps copies of its events', async () => {
  const { log, read } = setUp();
  const event = { text: 'a' };
  await log.append('s', { attempt: 1, after: 0, events: [event], keepMs: 100 } as never);
  event.text = 'b';
  expect(await read()).toEqual([[1, 'a']]);
});

it('expires a stream at its end, which each write and a compaction move', async () => {
  const { clock, log, append, read } = setUp();
  await append(0, ['a']);
  await clock.advance(60);
  await append(1, ['b']);
  await clock.advance(99);
  expect([await log.expire(), await read()]).toEqual([
    0,
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ]);
  await log.compact('s', 50);
  await log.compact('none', 50);
  await clock.advance(49);
  expect(await log.expire()).toBe(0);
  await clock.advance(1);
  expect([await log.expire(), await log.expire(), await read()]).toEqual([1, 0, []]);
});

it('does nothing for a signal that is aborted', async () => {
  const { clock, log, append, read } = setUp();
  await append(0, ['a']);
  await clock.advance(100);
  const options = { signal: AbortSignal.abort(new Error('left')) };
  const event = { attempt: 1, after: 1, events: [{ text: 'b' }], keepMs: 100 } as never;
  for (const call of [
    log.append('s', event, options),
    log.read('s', 0, options),
    log.compact('s', 100, options),
    log.expire(options),
  ])
    await expect(call).rejects.toThrow('left');
  expect([await read(), await log.expire()]).toEqual([[[1, 'a']], 1]);
});
