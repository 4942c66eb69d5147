import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRedisPublisher, type RedisPublisherOptions } from '../src/index.ts';
import { replyError, ScriptedClient } from './scripted-client.ts';

const A = 'questline:topic:{a}';
const B = 'questline:topic:{b}';
const REFUSED = replyError('NOPERM no permission');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

const settle = () => vi.advanceTimersByTimeAsync(0);

function setUp(
  more: RedisPublisherOptions = {},
  reply: (text: string) => unknown = () => 1,
  isCluster = false,
) {
  const client = new ScriptedClient(reply, isCluster);
  const errors: unknown[] = [];
  const publisher = createRedisPublisher({ client, onError: (error) => errors.push(error), ...more });
  const heard: string[] = [];
  const listen = (topic: string) => publisher.subscribe(topic, (message) => heard.push(message));
  const getOwn = () => {
    const own = client.duplicates.at(-1)?.client;
    if (own === undefined) throw new Error('there is no connection');
    return own;
  };
  return { client, publisher, errors, heard, listen, getOwn };
}

describe('messages', () => {
  it('of other processes reach the listeners of their topic, whole', async () => {
    const { heard, listen, getOwn } = setUp();
    await listen('a');
    getOwn().emit('message', A, 'other two words');
    getOwn().emit('message', B, 'other elsewhere');
    await settle();
    expect(heard).toEqual(['two words']);
  });

  it('of this process reach its listeners once', async () => {
    const { client, publisher, heard, listen, getOwn } = setUp();
    await listen('a');
    await publisher.publish('a', 'two words');
    const [sent = ''] = client.texts;
    expect(sent).toMatch(/^PUBLISH questline:topic:\{a\} [\w-]{12} two words$/);
    getOwn().emit('message', A, sent.slice(`PUBLISH ${A} `.length));
    await settle();
    expect(heard).toEqual(['two words']);
  });

  it('are sent before their publication ends', async () => {
    const { client, publisher } = setUp({}, () => undefined);
    let isPublished = false;
    const publishing = publisher.publish('a', 'hello').then(() => {
      isPublished = true;
    });
    await settle();
    expect([client.texts.length, isPublished]).toEqual([1, false]);
    client.sent[0]?.answer(1);
    await publishing;
  });

  it('are not sent for a caller that has left', async () => {
    const { client, publisher } = setUp();
    const published = publisher.publish('a', 'hello', { signal: AbortSignal.abort('left') });
    await expect(published).rejects.toBe('left');
    expect(client.texts).toEqual([]);
  });

  it('go on to other listeners after one that fails, which is reported', async () => {
    const { publisher, errors, heard, listen } = setUp();
    const failure = new Error('broken listener');
    await publisher.subscribe('a', () => {
      throw failure;
    });
    await listen('a');
    await publisher.publish('a', 'hello');
    await settle();
    expect([heard, errors]).toEqual([['hello'], [failure]]);
  });

  it('are delivered here although Redis fails', async () => {
    const { publisher, heard, errors, listen, client } = setUp();
    await listen('a');
    client.reply = () => new Error('lost');
    await publisher.publish('a', 'hello');
    expect([heard, errors]).toEqual([['hello'], []]);
  });

  it('on the subscriber of the host that belong to other channels are left alone', async () => {
    const subscriber = new ScriptedClient(() => 1);
    const { heard, listen } = setUp({ subscriber });
    const end = await listen('a');
    await listen('b');
    await end();
    subscriber.emit('message', 'theirs', 'other hello');
    subscriber.emit('message', A, 'other hello');
    subscriber.emit('message', B, 'other hello');
    await settle();
    expect(heard).toEqual(['hello']);
  });
});

describe('subscriptions', () => {
  it('are one per channel, and end with its last listener', async () => {
    const { publisher, heard, listen, getOwn } = setUp();
    const ends = [await listen('a'), await listen('a'), await listen('b')];
    expect(getOwn().texts).toEqual([`SUBSCRIBE ${A}`, `SUBSCRIBE ${B}`]);
    await ends[0]?.();
    await ends[0]?.();
    expect(getOwn().texts).toHaveLength(2);
    await ends[1]?.();
    expect(getOwn().texts.slice(2)).toEqual([`UNSUBSCRIBE ${A}`]);
    expect(getOwn().disconnections).toBe(0);
    await ends[2]?.();
    await publisher.publish('a', 'hello');
    expect(heard).toEqual([]);
    expect(getOwn().texts).toHaveLength(3);
    expect(getOwn().disconnections).toBe(1);
  });

  it('open a new connection after the last one was closed', async () => {
    const { client, listen } = setUp();
    await (await listen('a'))();
    await listen('a');
    expect(client.duplicates.map((one) => [one.client.texts, one.client.disconnections])).toEqual([
      [[`SUBSCRIBE ${A}`], 1],
      [[`SUBSCRIBE ${A}`], 0],
    ]);
  });

  it('are repeated when the connection is ready again', async () => {
    const { listen, getOwn } = setUp();
    await listen('a');
    await listen('b');
    getOwn().emit('ready');
    expect(getOwn().texts.at(-1)).toBe(`SUBSCRIBE ${A} ${B}`);
  });

  it('resolve at the deadline without an answer, and report a later rejection', async () => {
    const { errors, listen, getOwn } = setUp({}, () => undefined);
    let isListening = false;
    const listening = listen('a').then(() => {
      isListening = true;
    });
    await vi.advanceTimersByTimeAsync(299);
    expect(isListening).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await vi.advanceTimersByTimeAsync(1);
    await listening;
    getOwn().sent[0]?.fail(REFUSED);
    await settle();
    expect(errors).toEqual([REFUSED]);
  });

  it('that the server rejects leave no listener and no connection', async () => {
    const { client, publisher, heard, errors, listen, getOwn } = setUp({}, (text) =>
      text.startsWith('SUBSCRIBE') ? REFUSED : 1,
    );
    const listening = [listen('a'), listen('a')].map((one) => expect(one).rejects.toBe(REFUSED));
    await Promise.all(listening);
    expect(getOwn().disconnections).toBe(1);
    await publisher.publish('a', 'hello');
    expect([heard, errors]).toEqual([[], []]);

    client.reply = () => 1;
    await listen('a');
    expect(client.duplicates).toHaveLength(2);
    expect(getOwn().texts).toEqual([`SUBSCRIBE ${A}`]);
  });

  it.each([
    { error: REFUSED, reported: [REFUSED] },
    { error: new Error('the connection was lost'), reported: [] },
  ])(
    'report of repeated commands only the responses of the server: $error.name',
    async ({ error, reported }) => {
      const { errors, listen, getOwn } = setUp();
      const end = await listen('a');
      await listen('b');
      getOwn().reply = (text) => (text.startsWith('SUBSCRIBE') ? error : 1);
      getOwn().emit('ready');
      await settle();
      expect(errors).toEqual(reported);
      getOwn().reply = () => error;
      await end();
      await settle();
      expect(errors).toEqual([...reported, ...reported]);
    },
  );
});
