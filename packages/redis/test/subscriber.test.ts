import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRedisPublisher } from '../src/index.ts';
import { ScriptedClient } from './scripted-client.ts';

const A = 'questline:topic:{a}';
const LOST = new Error('lost');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

const settle = () => vi.advanceTimersByTimeAsync(0);
const countListeners = (client: ScriptedClient) =>
  ['message', 'ready', 'error'].map((event) => client.listenerCount(event));

describe('the connection for subscriptions', () => {
  it('is a duplicate that retries forever and detects a dead connection', async () => {
    const client = new ScriptedClient(() => 1);
    await createRedisPublisher({ client }).subscribe('a', () => undefined);
    const [{ options = {} } = {}] = client.duplicates;
    expect(options).toEqual({
      lazyConnect: false,
      enableOfflineQueue: true,
      autoResubscribe: true,
      maxRetriesPerRequest: null,
      socketTimeout: 1000,
      retryStrategy: expect.any(Function),
    });
    const delay = options.retryStrategy as (times: number) => number;
    expect([1, 5, 20, 21, 1000].map(delay)).toEqual([100, 500, 2000, 2000, 2000]);
  });

  it('does not throw its errors while it is open', async () => {
    const client = new ScriptedClient(() => 1);
    await createRedisPublisher({ client }).subscribe('a', () => undefined);
    const own = client.duplicates[0]?.client;
    expect(own && countListeners(own)).toEqual([1, 1, 1]);
    expect(own?.emit('error', LOST)).toBe(true);
  });

  it('is the subscriber of the host, which keeps its errors and stays open', async () => {
    const client = new ScriptedClient(() => 1);
    const subscriber = new ScriptedClient(() => 1);
    const publisher = createRedisPublisher({ client, subscriber });
    const end = await publisher.subscribe('a', () => undefined);
    expect(countListeners(subscriber)).toEqual([1, 1, 0]);
    subscriber.reply = () => LOST;
    await end();
    await settle();
    expect(subscriber.texts).toEqual([`SUBSCRIBE ${A}`, `UNSUBSCRIBE ${A}`]);
    expect([countListeners(subscriber), subscriber.disconnections]).toEqual([[0, 0, 0], 0]);
    expect([client.texts, client.duplicates]).toEqual([[], []]);
  });

  it('is the client itself on a cluster', async () => {
    const client = new ScriptedClient(() => 1, true);
    const end = await createRedisPublisher({ client }).subscribe('a', () => undefined);
    await end();
    expect(client.texts).toEqual([`SUBSCRIBE ${A}`, `UNSUBSCRIBE ${A}`]);
    expect([client.duplicates, client.disconnections]).toEqual([[], 0]);
  });
});

/** Loses Redis at one call, and lets a check find it again. */
async function loseAndFind(client: ScriptedClient, publish: () => Promise<void>, lost?: () => void) {
  client.reply = () => LOST;
  await publish();
  lost?.();
  client.reply = () => 1;
  await vi.advanceTimersByTimeAsync(250);
  await publish();
}

describe('the return of Redis', () => {
  it('has the connection of this package checked, while it is open', async () => {
    const client = new ScriptedClient(() => 1);
    const publisher = createRedisPublisher({ client });
    const end = await publisher.subscribe('a', () => undefined);
    const own = client.duplicates[0]?.client ?? client;
    own.reply = () => LOST;
    const publish = () => publisher.publish('b', 'hello');
    await loseAndFind(client, publish, () => expect(own.texts).toEqual([`SUBSCRIBE ${A}`]));
    await settle();
    expect(own.texts).toEqual([`SUBSCRIBE ${A}`, 'PING']);
    await end();
    await loseAndFind(client, publish);
    expect(own.texts).toHaveLength(2);
  });

  it('sends nothing on the subscriber of the host', async () => {
    const client = new ScriptedClient(() => 1);
    const subscriber = new ScriptedClient(() => 1);
    const publisher = createRedisPublisher({ client, subscriber });
    await publisher.subscribe('a', () => undefined);
    await loseAndFind(client, () => publisher.publish('b', 'hello'));
    expect(subscriber.texts).toEqual([`SUBSCRIBE ${A}`]);
  });
});
