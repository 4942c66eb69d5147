import { isStorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRedisExpiringRecords, type RedisStateChange } from '../src/index.ts';
import { ScriptedClient } from './scripted-client.ts';

const LOOK = 'SET questline:expiring:{a}:look 1 PX 1000';
const GET = 'GET questline:expiring:{a}';
const LOST = new Error('lost');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

/** Records on a client whose connection was lost at the time 0: later commands have no answer yet. */
async function setUp(more: { onStateChange?: (change: RedisStateChange) => void } = {}) {
  const client = new ScriptedClient(() => LOST);
  const changes: RedisStateChange[] = [];
  const records = createRedisExpiringRecords({
    ...{ client, timeoutMs: 300, onStateChange: (change) => changes.push(change) },
    ...more,
  });
  const get = () => {
    const ended: unknown[] = [];
    records.get('a').then(
      (value) => ended.push(value),
      (error: unknown) => ended.push(isStorageUnavailable(error) ? 'unavailable' : error),
    );
    return ended;
  };
  const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const first = get();
  await wait(0);
  expect(first).toEqual(['unavailable']);
  client.reply = () => undefined;
  client.sent.length = 0;
  return { client, changes, records, get, wait };
}

describe('a Redis that is away', () => {
  it('is reported once, with the error', async () => {
    const { changes, get, wait } = await setUp();
    get();
    await wait(0);
    expect(changes).toEqual([{ state: 'away', error: LOST }]);
  });

  it('is sent nothing for 250 ms, and one check after them that no call waits for', async () => {
    const { client, get, wait } = await setUp();
    await wait(249);
    const early = get();
    await wait(0);
    expect([early, client.texts]).toEqual([['unavailable'], []]);
    await wait(1);
    const late = [get(), get()];
    await wait(0);
    expect([late, client.texts]).toEqual([[['unavailable'], ['unavailable']], [LOOK]]);
  });

  it('is used again when the check has its answer', async () => {
    const { client, changes, get, wait } = await setUp();
    await wait(250);
    get();
    client.sent[0]?.answer('OK');
    await wait(0);
    expect(changes.map(({ state }) => state)).toEqual(['away', 'back']);
    client.reply = () => 'text';
    const next = get();
    await wait(0);
    expect([next, client.texts]).toEqual([['text'], [LOOK, GET]]);
  });

  it('is checked again 250 ms after a check that failed', async () => {
    const { client, get, wait } = await setUp();
    await wait(250);
    get();
    client.sent[0]?.fail(LOST);
    await wait(249);
    get();
    expect(client.texts).toEqual([LOOK]);
    await wait(1);
    get();
    expect(client.texts).toEqual([LOOK, LOOK]);
  });

  it('is checked again two seconds after a check without an answer', async () => {
    const { client, get, wait } = await setUp();
    await wait(250);
    get();
    await wait(1999);
    get();
    expect(client.texts).toEqual([LOOK]);
    await wait(1);
    const ended = get();
    await wait(0);
    expect([ended, client.texts]).toEqual([['unavailable'], [LOOK, LOOK]]);
    client.sent[0]?.fail(LOST);
    await wait(1000);
    get();
    expect(client.texts).toEqual([LOOK, LOOK]);
  });

  it('has all calls wait for the first check after two seconds without calls', async () => {
    const { client, get, wait } = await setUp();
    await wait(2000);
    const calls = [get(), get()];
    await wait(299);
    expect([calls, client.texts]).toEqual([[[], []], [LOOK]]);
    client.reply = () => 'text';
    client.sent[0]?.answer('OK');
    await wait(0);
    expect([calls, client.texts]).toEqual([
      [['text'], ['text']],
      [LOOK, GET, GET],
    ]);
  });

  it('has calls wait for one deadline at most', async () => {
    const { client, get, wait } = await setUp();
    await wait(2000);
    const first = get();
    await wait(299);
    expect(first).toEqual([]);
    await wait(1);
    const second = get();
    await wait(0);
    expect(second).toEqual(['unavailable']);
    await vi.advanceTimersByTimeAsync(1);
    expect([first, client.texts]).toEqual([['unavailable'], [LOOK]]);
  });

  it('does not wait for the first check within two seconds', async () => {
    const { get, wait } = await setUp();
    await wait(1999);
    const ended = get();
    await wait(0);
    expect(ended).toEqual(['unavailable']);
  });

  it('fails calls at once when the awaited check fails', async () => {
    const { client, get, wait } = await setUp();
    await wait(2000);
    const ended = get();
    client.sent[0]?.fail(LOST);
    await wait(0);
    expect([ended, client.texts]).toEqual([['unavailable'], [LOOK]]);
  });
});

describe('changes of the state of Redis', () => {
  it('are not caused by calls that began before the last one', async () => {
    const client = new ScriptedClient();
    const changes: string[] = [];
    const records = createRedisExpiringRecords({
      ...{ client, timeoutMs: 60_000, onStateChange: ({ state }) => changes.push(state) },
    });
    const calls = ['a', 'b', 'c'].map((key) => records.get(key).catch(() => 'failed'));
    client.sent[0]?.fail(LOST);
    client.sent[1]?.fail(LOST);
    await vi.advanceTimersByTimeAsync(250);
    await records.get('a').catch(() => undefined);
    client.sent[3]?.answer('OK');
    await vi.advanceTimersByTimeAsync(0);
    client.sent[2]?.fail(LOST);
    expect(await Promise.all(calls)).toEqual(['failed', 'failed', 'failed']);
    expect(changes).toEqual(['away', 'back']);
  });

  it('are reported again when Redis is away again', async () => {
    const { client, changes, get, wait } = await setUp();
    await wait(250);
    get();
    client.sent[0]?.answer('OK');
    await wait(0);
    client.reply = () => LOST;
    get();
    await wait(0);
    expect(changes.map(({ state }) => state)).toEqual(['away', 'back', 'away']);
    await wait(249);
    client.reply = () => undefined;
    client.sent.length = 0;
    get();
    expect(client.texts).toEqual([]);
    await wait(1);
    get();
    expect(client.texts).toEqual([LOOK]);
  });

  it('are reported once when two checks have their answers', async () => {
    const { client, changes, get, wait } = await setUp();
    await wait(250);
    get();
    await wait(2000);
    get();
    client.sent[1]?.answer('OK');
    client.sent[0]?.answer('OK');
    await wait(0);
    expect(changes.map(({ state }) => state)).toEqual(['away', 'back']);
  });

  it('are made although the log of the host fails', async () => {
    const { client, get, wait } = await setUp({
      onStateChange: () => {
        throw new Error('the log is full');
      },
    });
    await wait(250);
    get();
    client.sent[0]?.answer('OK');
    await wait(0);
    client.reply = () => 'text';
    const next = get();
    await wait(0);
    expect(next).toEqual(['text']);
  });
});
