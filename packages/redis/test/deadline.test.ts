import { getEventListeners } from 'node:events';
import { isStorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRedisExpiringRecords } from '../src/index.ts';
import { ScriptedClient } from './scripted-client.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
  vi.advanceTimersByTime(1000);
});
afterEach(() => void vi.useRealTimers());

/** Notes how a call ends. */
function watch(call: Promise<unknown>) {
  const ended: { value?: unknown; error?: unknown }[] = [];
  call.then(
    (value) => ended.push({ value }),
    (error: unknown) => ended.push({ error }),
  );
  return ended;
}

it.each([
  { options: {}, ms: 300 },
  { options: { timeoutMs: 40 }, ms: 40 },
])('rejects a call without an answer after $ms ms', async ({ options, ms }) => {
  const records = createRedisExpiringRecords({ client: new ScriptedClient(), ...options });
  const ended = watch(records.get('a'));
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(isStorageUnavailable(ended[0]?.error)).toBe(true);
  expect(ended).toMatchObject([{ error: { cause: { message: `Redis did not answer within ${ms} ms` } } }]);
});

it('accepts an answer that arrives together with the end of the time', async () => {
  const client = new ScriptedClient();
  const ended = watch(createRedisExpiringRecords({ client }).get('a'));
  setTimeout(() => client.sent[0]?.answer('text'), 300);
  await vi.advanceTimersByTimeAsync(300);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual([{ value: 'text' }]);
});

it.each(['answer', 'fail'] as const)('keeps no timer and no listener after an %s', async (end) => {
  const client = new ScriptedClient();
  const { signal } = new AbortController();
  const ended = watch(createRedisExpiringRecords({ client }).get('a', { signal }));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  client.sent[0]?.[end](new Error('lost'));
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('ends a call at its signal, with the reason, and does not count it as an outage', async () => {
  const client = new ScriptedClient();
  const changes: unknown[] = [];
  const records = createRedisExpiringRecords({ client, onStateChange: (change) => changes.push(change) });
  const leaving = new AbortController();
  const ended = watch(records.get('a', { signal: leaving.signal }));
  leaving.abort('left');
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).toEqual([{ error: 'left' }]);
  expect(vi.getTimerCount()).toBe(0);

  const second = watch(records.get('a', { signal: leaving.signal }));
  await vi.advanceTimersByTimeAsync(0);
  expect(second).toEqual([{ error: 'left' }]);
  expect(client.texts).toHaveLength(1);
  expect(changes).toEqual([]);
});
