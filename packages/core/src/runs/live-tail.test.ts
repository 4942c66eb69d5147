import { createFakeClock } from '@questline/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type LivePhase, startLiveTail } from './live-tail.ts';
import { getQuestTopic } from './quest-events.ts';

const STREAM = 'quest';
/** A tail that looks without end fails its test. */
const MAX_TIMERS = 50;

/** A tail of a stream with one event. Each look asks for the phase, which the test answers. */
async function setUp() {
  const clock = createFakeClock();
  const listeners = new Map<string, () => void>();
  const asked: { answer(phase: LivePhase): void; fail(error: Error): void }[] = [];
  const incidents: unknown[] = [];
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
          return after === 0 ? [{ sequence: 1, event: { type: 'text', text: 'Hello' } }] : [];
        },
      } as never,
      publisher: {
        publish: async () => undefined,
        async subscribe(topic, listener) {
          listeners.set(topic, () => listener(''));
          return async () => undefined;
        },
      },
      onError: ({ error }) => void incidents.push(error),
    },
    STREAM,
    () => new Promise((answer, fail) => asked.push({ answer, fail })),
  );
  onTestFinished(() => tail.stop());
  await clock.advance(0);
  return { clock, tail, asked, incidents, announceEnd: () => listeners.get(getQuestTopic(STREAM))?.() };
}

it('sees an end that is announced while the phase is read, without waiting', async () => {
  const { clock, tail, asked, announceEnd } = await setUp();
  expect(asked).toHaveLength(1);
  announceEnd();
  asked[0]?.answer('running');
  await clock.advance(0);
  expect(asked).toHaveLength(2);
  asked[1]?.answer('over');
  await clock.advance(0);
  expect(tail.isOver()).toBe(true);
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
