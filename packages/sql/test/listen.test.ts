import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPostgresDatabase } from '../src/index.ts';
import { ScriptedClient, ScriptedPool } from './scripted-pool.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const EVENTS = ['end', 'notification'] as const;
const wait = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
const lost = async () => {
  throw new Error('lost');
};

function setUp() {
  const pool = new ScriptedPool();
  const messages: (string | undefined)[] = [];
  const { listen } = createPostgresDatabase({ pool });
  if (listen === undefined) throw new Error('a pool can listen');
  return { pool, messages, listen: () => listen('job "added"', (payload) => messages.push(payload)) };
}

it('passes on the messages of its channel, and one after each connection', async () => {
  const { pool, messages, listen } = setUp();
  const client = pool.give();
  const stop = listen();
  await wait();
  expect(client.texts).toEqual(['listen "job ""added"""']);
  client.emit('notification', { channel: 'another', payload: 'a' });
  client.emit('notification', { channel: 'job "added"', payload: 'b' });
  expect(messages).toEqual([undefined, 'b']);
  expect(client.listenerCount('error')).toBe(1);

  stop();
  expect(client.releases).toEqual([true]);
  expect(EVENTS.map((event) => client.listenerCount(event))).toEqual([0, 0]);
  await wait(5000);
  expect(pool.waiting).toEqual([]);
});

it('replaces a lost connection after one second', async () => {
  const { pool, messages, listen } = setUp();
  const first = pool.give();
  listen();
  await wait();
  const second = pool.give();
  first.emit('end');
  expect(first.releases).toEqual([true]);
  await wait(999);
  expect(second.texts).toEqual([]);
  await wait(1);
  expect(second.texts).toHaveLength(1);
  expect(messages).toEqual([undefined, undefined]);
  second.emit('end');
  expect(second.releases).toEqual([true]);
});

it.each(['cannot be opened', 'cannot listen', 'ends while it begins to listen'])(
  'tries once a second while a connection %s',
  async (fault) => {
    const { pool, messages, listen } = setUp();
    const broken = new ScriptedClient(lost);
    if (fault.startsWith('ends')) {
      broken.answer = async () => {
        broken.emit('end');
        return lost();
      };
    }
    pool.next.push(fault === 'cannot be opened' ? new Error('refused') : broken);
    listen();
    await wait();
    expect(messages).toEqual([]);
    expect(vi.getTimerCount()).toBe(1);
    if (fault !== 'cannot be opened') expect(broken.releases).toEqual([true]);
    const next = pool.give();
    await wait(1000);
    expect([next.texts.length, messages]).toEqual([1, [undefined]]);
  },
);

it('goes on to try while the server is away', async () => {
  const { pool, messages, listen } = setUp();
  pool.next.push(...['first', 'second', 'third'].map((text) => new Error(text)));
  listen();
  await wait(2000);
  expect(pool.next).toEqual([]);
  pool.give();
  await wait(1000);
  expect(messages).toEqual([undefined]);
});

it('gives a lost connection back once', async () => {
  const { pool, listen } = setUp();
  const client = pool.give();
  const stop = listen();
  await wait();
  client.emit('end');
  stop();
  expect(client.releases).toEqual([true]);
});

it('does not try again after it was stopped', async () => {
  const { pool, listen } = setUp();
  pool.next.push(new Error('refused'));
  const stop = listen();
  await wait();
  stop();
  expect(vi.getTimerCount()).toBe(0);
});

it.each(['given', 'refused'])('leaves no connection that is %s after it was stopped', async (end) => {
  const { pool, messages, listen } = setUp();
  const stop = listen();
  stop();
  const client = new ScriptedClient();
  if (end === 'given') pool.waiting[0]?.resolve(client);
  else pool.waiting[0]?.reject(new Error('refused'));
  await wait();
  expect(client.releases).toEqual(end === 'given' ? [true] : []);
  expect([client.texts, messages]).toEqual([[], []]);
  expect(vi.getTimerCount()).toBe(0);
});
