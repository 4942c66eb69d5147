import { describe, expect, it } from 'vitest';
import { openReader } from '../../test/live-reader.ts';
import type { ApiRequest } from '../contract/message.ts';
import { ApiError } from '../shared/errors.ts';
import { replyWithEvents } from './live-reader.ts';
import { EMPTY_STATE } from './live-state.ts';

const VIEW = '{"id":"q1"}';

describe('end of a stream', () => {
  it.each([
    ['is shown where the events lack a part of it', 'ab', false, true],
    ['is not shown again where the events have it', 'abc', false, false],
    ['is shown where the events have more', 'abcd', false, true],
    ['is not shown where the work was stopped and the events have more', 'abcd', true, false],
    ['is shown where the work was stopped and the events lack a part', 'ab', true, true],
  ])('of a text: it %s', async (_name, known, isStopped, isShown) => {
    const one = openReader({ after: 2 });
    one.tail.state = { ...EMPTY_STATE, last: 2, text: known };
    one.tail.isOver = true;
    Object.assign(one.record, { text: 'abc', isOver: true, isStopped });
    await one.start();
    expect(one.writes.slice(1)).toEqual([...(isShown ? [`snapshot 2 abc ${VIEW}`] : []), `end ${VIEW}`]);
  });

  it('comes at a wait for a reader that ends there, once the record waits too', async () => {
    const one = openReader({ after: 0, endsAtWait: true });
    one.tail.isWaiting = true;
    await one.start();
    expect(one.writes).toEqual(['begin']);
    await one.clock.advance(15_000);
    expect(one.writes).toHaveLength(2);
    one.record.isOver = true;
    await one.move({});
    expect(one.writes.at(-1)).toBe(`end ${VIEW}`);
    for (const options of [{ endsAtWait: true }, { endsAtWait: false }, {}]) {
      const other = openReader({ after: 0, ...options });
      other.tail.isWaiting = options.endsAtWait !== true;
      other.record.isOver = true;
      await other.start();
      expect(other.writes).toEqual(['begin']);
    }
  });
});

describe('reader in silence', () => {
  it('gets a comment each 15 seconds, as long as it may read', async () => {
    const one = openReader({ after: 0 });
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
    const one = openReader();
    one.tail.isReady = false;
    await one.start();
    await one.clock.advance(15_000);
    expect([one.writes.length, one.loads.count]).toEqual([2, 0]);
  });

  it('that leaves costs nothing more, and reports nothing', async () => {
    const one = openReader({ after: 0 });
    await one.start();
    one.control.abort();
    one.loads.error = new Error('late');
    await one.clock.advance(60_000);
    expect([one.isClosed, one.writes, one.clock.pending]).toEqual([[true, 1, 0], ['begin'], 0]);
    expect([one.loads.count, one.incidents]).toEqual([0, []]);
    const gone = openReader({}, true);
    await gone.start();
    expect([gone.isClosed, gone.loads.count]).toEqual([[true, 1, 0], 0]);
    let fail = (_: Error): void => undefined;
    const reading = openReader({
      load: () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    });
    await reading.start();
    reading.control.abort();
    fail(new Error('late'));
    await reading.clock.advance(0);
    expect([reading.isClosed, reading.incidents]).toEqual([[true, 1, 0], []]);
  });
});

describe('answer to a reader', () => {
  const ask = (lastEventId: string | undefined, isOver: boolean) => {
    const one = openReader();
    one.record.isOver = isOver;
    one.tail.isOver = isOver;
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const call = { request: { headers } as ApiRequest, signal: one.request.signal };
    return replyWithEvents(one.services, call, undefined, one.request);
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
    const state = '"state":{"id":"q1"}';
    const empty = '"text":"","reasoning":"","iteration":0,"tools":[],"payloads":[]';
    for (const part of [empty, state]) expect(body.split('type":"end')[0]).toContain(part);
    expect(body).toContain('id: end\ndata: {"type":"end","state":{"id":"q1"}}');
    expect((await ask('end', false)).status).toBe(200);
  });

  it('begins with the stored text of work that has ended', async () => {
    const one = openReader();
    one.record.text = 'stored';
    one.record.isOver = true;
    one.tail.isOver = true;
    const call = { request: { headers: {} } as ApiRequest, signal: one.request.signal };
    const body = await readAll(await replyWithEvents(one.services, call, undefined, one.request));
    const snapshot = JSON.parse(body.split('data: ')[1]?.split('\n')[0] ?? '');
    expect(snapshot).toMatchObject({ type: 'snapshot', text: 'stored', state: { id: 'q1' } });
  });

  it('ends without events where the credential has ended', async () => {
    const one = openReader();
    const call = {
      ...{ request: { headers: {} } as ApiRequest, signal: one.request.signal },
      checkCredential: () => Promise.reject(new ApiError(401, 'ended')),
    };
    const body = await readAll(await replyWithEvents(one.services, call, undefined, one.request));
    expect(body).not.toContain('data:');
    expect([one.loads.count, one.incidents]).toEqual([1, []]);
  });

  it('begins behind the position of the reader', async () => {
    const body = await readAll(await ask('0', true));
    expect(body).not.toContain('snapshot');
    expect(body).toContain('id: end\n');
  });

  it('is an error for a position of another form', async () => {
    await expect(ask('-1', true)).rejects.toMatchObject({ status: 422 });
  });
});
