import { createFakeClock } from '@questline/testing';
import { expect, it, onTestFinished } from 'vitest';
import type { LiveEvent } from './live-event.ts';
import { type LivePhase, startLiveTail } from './live-tail.ts';
import { getQuestTopic } from './quest-events.ts';

const STREAM = 'quest';
/** A tail that looks without end fails its test. */
const MAX_TIMERS = 50;

/** A tail of a stream with one event. Each look asks for the phase, which the test answers. */
async function setUp(subscribing: Promise<void> = Promise.resolve(), text = 'Hello') {
  const clock = createFakeClock();
  const listeners = new Map<string, () => void>();
  const asked: { answer(phase: LivePhase): void; fail(error: Error): void }[] = [];
  const incidents: unknown[] = [];
  const reads: number[] = [];
  let changes = 0;
  let timers = 0;
  const tail = startLiveTail(
    {
      clock: {
        now: clock.now,
        timer(ms, callback) {
          timers += 1;
          if (timers > MAX_TIMERS) throw new Error('too many looks');
          return clock.timer(ms, callback);
        },
      },
      eventLog: {
        async read(_stream: string, after: number) {
          reads.push(after);
          const event: LiveEvent = { type: 'text', text };
          return after === 0 ? [{ sequence: 1, event }] : [];
        },
      } as never,
      publisher: {
        publish: async () => undefined,
        async subscribe(topic, listener) {
          listeners.set(topic, () => listener(''));
          await subscribing;
          return async () => undefined;
        },
      },
      onError: ({ error }) => void incidents.push(error),
    },
    STREAM,
    () => new Promise((answer, fail) => asked.push({ answer, fail })),
  );
  onTestFinished(() => tail.stop());
  tail.onChange(() => {
    changes += 1;
  });
  await clock.advance(0);
  return {
    ...{ clock, tail, asked, incidents, reads },
    countChanges: () => changes,
    announceEnd: () => listeners.get(getQuestTopic(STREAM))?.(),
  };
}

it('sees an end that is announced while the phase is read, without waiting', async () => {
  const { clock, tail, asked, announceEnd, countChanges } = await setUp();
  expect(asked).toHaveLength(1);
  announceEnd();
  asked[0]?.answer('running');
  await clock.advance(0);
  expect([asked.length, countChanges()]).toEqual([2, 1]);
  asked[1]?.answer('over');
  await clock.advance(0);
  expect([tail.isOver(), countChanges()]).toEqual([true, 2]);
});

it('sees an end also before it has subscribed', async () => {
  const { clock, tail, asked } = await setUp(new Promise(() => undefined));
  expect(asked).toHaveLength(0);
  await clock.advance(100);
  asked[0]?.answer('over');
  await clock.advance(0);
  expect(tail.isOver()).toBe(true);
});

it('asks for the phase once it has subscribed, since it may have missed the end', async () => {
  let subscribe = (): void => undefined;
  const subscribing = new Promise<void>((resolve) => {
    subscribe = resolve;
  });
  const { clock, tail, asked } = await setUp(subscribing);
  await clock.advance(100);
  asked[0]?.answer('running');
  await clock.advance(0);
  expect([tail.isReady(), asked.length]).toEqual([true, 1]);
  subscribe();
  await clock.advance(0);
  expect(asked).toHaveLength(2);
});

it('reads no more, and waits no more, when it is stopped during a look', async () => {
  const { clock, tail, asked, reads } = await setUp();
  tail.stop();
  asked[0]?.answer('running');
  await clock.advance(0);
  expect([reads, clock.pending]).toEqual([[], 0]);
});

it('keeps a frame of 524,288 characters, and none that is longer', async () => {
  const keep = async (text: string) => {
    const { clock, tail, asked } = await setUp(Promise.resolve(), text);
    asked[0]?.answer('running');
    await clock.advance(0);
    return tail.after(0)?.[0]?.text.length;
  };
  const around = (await keep('')) ?? 0;
  expect(await keep('x'.repeat(524_288 - around))).toBe(524_288);
  expect(await keep('x'.repeat(524_289 - around))).toBeUndefined();
});

it('asks for the phase again after a failure', async () => {
  const { clock, tail, asked, incidents } = await setUp();
  const error = new Error('away');
  asked[0]?.fail(error);
  await clock.advance(0);
  await clock.advance(100);
  expect(incidents).toEqual([error]);
  asked[1]?.answer('over');
  await clock.advance(0);
  expect(tail.isOver()).toBe(true);
});
