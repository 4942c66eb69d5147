import { getEventListeners } from 'node:events';
import { createMemoryPublisher } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiRequest } from '../contract/message.ts';
import type { Publisher } from '../ports/publisher.ts';
import { ApiError } from '../shared/errors.ts';
import { getQuestTopic } from './quest-events.ts';
import { replyWithStates } from './state-reader.ts';

const ID = 'q1';
/** A reader that looks without end fails its test. */
const MAX_LOADS = 200;

/** A reader of a record that the test changes. */
async function setUp(lastEventId?: string, publisher: Publisher = createMemoryPublisher()) {
  const clock = createFakeClock();
  const start = clock.now();
  const record = { view: { n: 1 } as object, version: 1, isOver: false };
  const loads: number[] = [];
  const incidents: unknown[] = [];
  const failure = {
    error: undefined as Error | undefined,
    credential: undefined as Error | undefined,
    delay: Promise.resolve(),
  };
  const readers = new Set<() => void>();
  const control = new AbortController();
  onTestFinished(() => control.abort());
  const open = () =>
    replyWithStates(
      {
        ...{ clock, publisher },
        liveTails: {
          open: () => ({}) as never,
          add(stop) {
            readers.add(stop);
            return () => readers.delete(stop);
          },
          dismiss: () => undefined,
        },
        onError: (incident) => void incidents.push(incident),
      },
      {
        request: {
          headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
        } as ApiRequest,
        signal: control.signal,
        async checkCredential() {
          if (failure.credential !== undefined) throw failure.credential;
        },
      },
      undefined,
      {
        id: ID,
        async load() {
          loads.push(clock.now() - start);
          if (loads.length > MAX_LOADS) throw new Error('too many looks');
          await failure.delay;
          if (failure.error !== undefined) throw failure.error;
          return { ...record };
        },
      },
    );
  const writes: string[] = [];
  let hasEnded = false;
  const read = async () => {
    const { body } = await open();
    for await (const write of body as unknown as AsyncIterable<string>) writes.push(write);
    hasEnded = true;
  };
  return {
    ...{ clock, publisher, record, loads, incidents, failure, control, readers, writes, open },
    hasEnded: () => hasEnded,
    /** The frames, without comments. */
    frames: () => writes.filter((write) => write.includes('data:')),
    begin() {
      void read();
      return clock.advance(0);
    },
  };
}

const snapshot = (version: number, n: number) =>
  `id: ${version}\ndata: {"type":"snapshot","state":{"n":${n}}}\n\n`;
const end = (n: number) => `id: end\ndata: {"type":"end","state":{"n":${n}}}\n\n`;

describe('reader of the states of a record', () => {
  it('gets a comment at once, the state, each change and the end', async () => {
    const one = await setUp();
    await one.begin();
    expect([one.writes.length, one.frames()]).toEqual([2, [snapshot(1, 1)]]);
    Object.assign(one.record, { view: { n: 2 }, version: 2 });
    await one.publisher.publish(getQuestTopic(ID), '');
    await one.clock.advance(0);
    expect(one.frames().slice(1)).toEqual([snapshot(2, 2)]);
    Object.assign(one.record, { view: { n: 3 }, version: 3, isOver: true });
    await one.publisher.publish(getQuestTopic(ID), '');
    await one.clock.advance(0);
    expect(one.frames().slice(2)).toEqual([end(3)]);
    expect([one.hasEnded(), one.clock.pending, one.readers.size, one.incidents]).toEqual([true, 0, 0, []]);
    expect(getEventListeners(one.control.signal, 'abort')).toHaveLength(0);
  });

  it('gets the last state and the end of a record that is over', async () => {
    const one = await setUp();
    one.record.isOver = true;
    await one.begin();
    expect(one.frames()).toEqual([snapshot(1, 1), end(1)]);
  });

  it('gets no state that it has', async () => {
    const one = await setUp('1');
    await one.begin();
    await one.clock.advance(5000);
    expect(one.frames()).toEqual([]);
    one.record.version = 2;
    await one.clock.advance(5000);
    expect(one.frames()).toEqual([snapshot(2, 1)]);
  });

  it('gets nothing where it has the end, and the state where the record has gone on', async () => {
    const one = await setUp('end');
    one.record.isOver = true;
    expect((await one.open()).status).toBe(204);
    one.record.isOver = false;
    expect((await one.open()).status).toBe(200);
    await one.begin();
    expect(one.frames()).toEqual([snapshot(1, 1)]);
  });

  it('is refused with a position of another form', async () => {
    const one = await setUp('x');
    await expect(one.open()).rejects.toMatchObject({ status: 422 });
    expect(one.loads).toEqual([]);
  });

  it('is shown changes without news too, which are looked for each 2 seconds, and more often after one', async () => {
    const silent: Publisher = {
      publish: async () => undefined,
      subscribe: () => new Promise(() => undefined),
    };
    const one = await setUp(undefined, silent);
    await one.begin();
    await one.clock.advance(8000);
    // The first one is that of the request.
    expect(one.loads).toEqual([0, 250, 500, 1000, 2000, 4000, 6000, 8000]);
    one.record.version = 2;
    one.loads.splice(0);
    await one.clock.advance(4000);
    expect(one.loads).toEqual([10_000, 10_250, 10_750, 11_750]);
  });

  it('gets a comment after 15 seconds of silence', async () => {
    const one = await setUp();
    await one.begin();
    const { length } = one.writes;
    await one.clock.advance(14_999);
    expect(one.writes).toHaveLength(length);
    await one.clock.advance(3000);
    expect(one.writes).toHaveLength(length + 1);
    await one.clock.advance(15_000);
    expect(one.writes).toHaveLength(length + 2);
  });

  it.each([401, 403])('gets no more once its credential is refused with %i', async (status) => {
    const one = await setUp();
    await one.begin();
    one.failure.credential = new ApiError(status, 'ended');
    Object.assign(one.record, { view: { n: 2 }, version: 2 });
    await one.clock.advance(2000);
    expect([one.frames(), one.hasEnded(), one.incidents]).toEqual([[snapshot(1, 1)], true, []]);
  });

  it('gets no comment within 15 seconds after a state', async () => {
    const one = await setUp();
    await one.begin();
    await one.clock.advance(14_000);
    one.record.version = 2;
    await one.publisher.publish(getQuestTopic(ID), '');
    await one.clock.advance(0);
    const { length } = one.writes;
    expect(one.frames()).toEqual([snapshot(1, 1), snapshot(2, 1)]);
    await one.clock.advance(14_999);
    expect(one.writes).toHaveLength(length);
    await one.clock.advance(1000);
    expect(one.writes).toHaveLength(length + 1);
  });

  it('ends without a report when its record is gone, and with one when the record cannot be read', async () => {
    for (const error of [new ApiError(404, 'gone'), new Error('away')]) {
      const one = await setUp();
      await one.begin();
      one.failure.error = error;
      await one.clock.advance(1000);
      expect(one.hasEnded()).toBe(true);
      const isReported = !(error instanceof ApiError);
      expect(one.incidents).toEqual(isReported ? [{ operation: 'events', requestId: '', error }] : []);
    }
  });

  it('that leaves, or whose process ends, costs nothing more', async () => {
    for (const isDismissed of [true, false]) {
      const one = await setUp();
      await one.begin();
      one.failure.error = new Error('late');
      if (isDismissed) for (const stop of one.readers) stop();
      else one.control.abort();
      await one.clock.advance(0);
      expect([one.hasEnded(), one.clock.pending, one.incidents]).toEqual([true, 0, []]);
    }
  });

  it('that leaves during a look gets no report of its failure', async () => {
    const one = await setUp();
    await one.begin();
    let fail = (): void => undefined;
    one.failure.delay = new Promise<void>((_, reject) => {
      fail = () => reject(new Error('late'));
    });
    const { length } = one.loads;
    await one.clock.advance(250);
    expect(one.loads).toHaveLength(length + 1);
    one.control.abort();
    fail();
    await one.clock.advance(0);
    expect([one.hasEnded(), one.clock.pending, one.incidents]).toEqual([true, 0, []]);
  });

  it('gets its states also from a publisher that fails, which is reported once', async () => {
    const error = new Error('away');
    const one = await setUp(undefined, {
      publish: async () => undefined,
      subscribe: () => Promise.reject(error),
    });
    await one.begin();
    expect(one.frames()).toEqual([snapshot(1, 1)]);
    one.control.abort();
    await one.clock.advance(0);
    expect(one.incidents).toEqual([{ operation: 'events', requestId: '', error }]);
  });

  it('leaves no subscription', async () => {
    let open = 0;
    const one = await setUp(undefined, {
      publish: async () => undefined,
      async subscribe() {
        open += 1;
        return async () => {
          open -= 1;
        };
      },
    });
    await one.begin();
    expect(open).toBe(1);
    one.control.abort();
    await one.clock.advance(0);
    expect(open).toBe(0);
  });
});
