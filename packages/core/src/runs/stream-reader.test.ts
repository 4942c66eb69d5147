import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { toLiveView } from './live-reader.ts';
import { newQuest } from './records.ts';
import { isRefusal, type StreamReader, streamToReader } from './stream-reader.ts';

function setUp(signal = new AbortController().signal) {
  const clock = createFakeClock();
  const stops = new Set<() => void>();
  let reader: StreamReader | undefined;
  let resume = (): void => undefined;
  const body = streamToReader(
    {
      clock,
      liveTails: {
        open: () => ({}) as never,
        add(stop) {
          stops.add(stop);
          return () => stops.delete(stop);
        },
        dismiss: () => undefined,
      },
    },
    signal,
    async function* (own) {
      reader = own;
      yield 'begin';
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
      return undefined;
    },
  );
  const begin = async (): Promise<StreamReader> => {
    await body.next();
    if (reader === undefined) throw new Error('not begun');
    return reader;
  };
  return { clock, body, begin, stops, resume: () => resume() };
}

describe('reader of a stream', () => {
  it('waits for its time or for news, which are not lost between two waits', async () => {
    const { clock, begin } = setUp();
    const reader = await begin();
    const waits: boolean[] = [];
    const wait = () => void reader.wait(100).then((isSilent) => waits.push(isSilent));
    wait();
    await clock.advance(100);
    expect(waits).toEqual([true]);
    reader.wake();
    wait();
    await clock.advance(0);
    expect([waits, clock.pending]).toEqual([[true, false], 0]);
    wait();
    await clock.advance(50);
    reader.wake();
    await clock.advance(0);
    expect([waits, clock.pending]).toEqual([[true, false, false], 0]);
    wait();
    await clock.advance(99);
    expect(waits).toHaveLength(3);
    await clock.advance(1);
    expect(waits.at(-1)).toBe(true);
  });

  it('that has left waits for nothing', async () => {
    const { clock, begin, stops } = setUp();
    const reader = await begin();
    expect(reader.isLeft()).toBe(false);
    for (const stop of stops) stop();
    expect(reader.isLeft()).toBe(true);
    for (let count = 0; count < 2; count += 1) {
      let isSilent: boolean | undefined;
      void reader.wait(100).then((value) => {
        isSilent = value;
      });
      await clock.advance(0);
      expect([isSilent, clock.pending]).toEqual([false, 0]);
    }
  });

  it('has left from the beginning with a signal that is aborted', async () => {
    expect((await setUp(AbortSignal.abort()).begin()).isLeft()).toBe(true);
  });

  it('leaves when its stream is ended, and is forgotten', async () => {
    const { begin, body, stops, resume, clock } = setUp();
    const reader = await begin();
    const reading = body.next();
    const ending = body.return?.();
    expect(reader.isLeft()).toBe(true);
    resume();
    await clock.advance(0);
    expect([(await reading).done, (await ending)?.done, stops.size]).toEqual([true, true, 0]);
  });
});

it('knows an error that says that the reader may read no more', () => {
  const error = (more: object) => Object.assign(new Error('no'), more);
  for (const status of [401, 403, 404]) expect(isRefusal(error({ status }))).toBe(true);
  for (const other of [error({ status: 500 }), error({}), { status: 404 }, undefined]) {
    expect(isRefusal(other)).toBe(false);
  }
});

describe('quest as its reader sees it', () => {
  const quest = newQuest({ id: 'q', kind: 'chat', sessionId: 's', ownerId: 'a', request: {} as never }, 0);
  const view = { id: 'q' };

  it('has its text, and whether it is over, was stopped or has waited', () => {
    expect(toLiveView(quest, view)).toEqual({
      ...{ view, text: '', isOver: false, isStopped: false, hasWaited: false },
    });
    const wait = { calls: [], sealedState: '', lastEvent: 0 };
    for (const [more, expected] of [
      [
        { text: 'abc', status: 'done' },
        { text: 'abc', isOver: true },
      ],
      [{ status: 'stopped' }, { isOver: true, isStopped: true }],
      [
        { status: 'waiting', wait },
        { isOver: false, hasWaited: true },
      ],
      [{ status: 'running', decided: [] }, { hasWaited: true }],
    ] as const) {
      expect(toLiveView({ ...quest, ...more }, view)).toMatchObject(expected);
    }
  });
});
