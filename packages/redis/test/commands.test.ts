import { createHash } from 'node:crypto';
import { isStorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createRedisEventLog, createRedisExpiringRecords, createRedisPorts } from '../src/index.ts';
import { replyError, ScriptedClient } from './scripted-client.ts';

const SIGNAL = AbortSignal.abort('left');
const BATCH = { attempt: 2, after: 3, events: ['x', 'y'], keepMs: 60_000 };

describe('short-lived records', () => {
  it('are single commands with the time that they live', async () => {
    const client = new ScriptedClient((text) => (text.startsWith('GET') ? 7 : null));
    const records = createRedisExpiringRecords({ client, prefix: 'p' });
    expect(await records.create('a', 'v', 1000)).toBe(false);
    await records.set('a', 'w', 2000);
    expect([await records.get('a'), await records.take('a')]).toEqual(['7', '7']);
    await records.remove('a');
    expect(client.texts).toEqual([
      'SET p:expiring:{a} v PX 1000 NX',
      'SET p:expiring:{a} w PX 2000',
      'GET p:expiring:{a}',
      'GETDEL p:expiring:{a}',
      'DEL p:expiring:{a}',
    ]);
    client.reply = () => null;
    expect([await records.get('a'), await records.take('a')]).toEqual([undefined, undefined]);
    client.reply = () => 'OK';
    expect(await records.create('a', 'v', 1000)).toBe(true);
  });
});

describe('an event log', () => {
  it('accepts numbers that arrive as text', async () => {
    const client = new ScriptedClient(() => ['1', '5', '2']);
    const log = createRedisEventLog({ client });
    expect(await log.append('s', BATCH)).toEqual({ isAppended: true, last: 5, attempt: 2 });
    expect(client.texts[0]).toMatch(
      /^EVALSHA [0-9a-f]{40} 1 questline:events:\{s\} 2 3 2 60000 \["x","y"\]$/,
    );
    client.reply = () => [0, 9, 3];
    expect(await log.append('s', BATCH)).toEqual({ isAppended: false, last: 9, attempt: 3 });
  });

  it('reads 16 batches after the given number, and leaves out events that the reader has', async () => {
    const entry = (id: string, events: string) => [id, ['attempt', '1', 'events', events]];
    const client = new ScriptedClient(() => [entry('5-0', '["d","e"]'), entry('6-0', '["f"]')]);
    const page = await createRedisEventLog({ client }).read('s', 4);
    expect(client.texts).toEqual(['XRANGE questline:events:{s} 4-0 + COUNT 16']);
    expect(page).toEqual([
      { sequence: 5, event: 'e' },
      { sequence: 6, event: 'f' },
    ]);
  });

  it('gives a finished stream the rest of its life, and removes nothing itself', async () => {
    const client = new ScriptedClient(() => 1);
    const log = createRedisEventLog({ client });
    await log.compact('s', 1500);
    expect(await log.expire()).toBe(0);
    expect(client.texts).toEqual(['PEXPIRE questline:events:{s} 1500']);
  });
});

describe('a script', () => {
  it('is sent whole to a server without it, once', async () => {
    const client = new ScriptedClient((text) =>
      text.startsWith('EVALSHA') ? replyError('NOSCRIPT No matching script') : [1, 5, 2],
    );
    expect(await createRedisEventLog({ client }).append('s', BATCH)).toMatchObject({ isAppended: true });
    const [, hash = '', ...rest] = client.texts[0]?.split(' ') ?? [];
    const end = ` ${rest.join(' ')}`;
    const [, whole = ''] = client.texts;
    expect(whole.startsWith('EVAL ') && whole.endsWith(end)).toBe(true);
    const source = whole.slice('EVAL '.length, -end.length);
    expect(createHash('sha1').update(source).digest('hex')).toBe(hash);
    expect(client.texts).toHaveLength(2);
  });

  it.each([replyError('READONLY not a NOSCRIPT'), new Error('NOSCRIPT of a lost connection')])(
    'is not sent whole after another error: $message',
    async (error) => {
      const client = new ScriptedClient(() => error);
      const appended = createRedisEventLog({ client }).append('s', BATCH);
      await expect(appended).rejects.toSatisfy(isStorageUnavailable);
      await expect(appended).rejects.toMatchObject({ cause: error });
      expect(client.texts).toHaveLength(1);
    },
  );
});

it('sends nothing for a call whose signal has ended', async () => {
  const client = new ScriptedClient(() => 1);
  const { expiring, eventLog } = createRedisPorts({ client });
  const calls = [
    expiring.create('a', 'v', 1, { signal: SIGNAL }),
    expiring.get('a', { signal: SIGNAL }),
    expiring.take('a', { signal: SIGNAL }),
    expiring.set('a', 'v', 1, { signal: SIGNAL }),
    expiring.remove('a', { signal: SIGNAL }),
    eventLog.append('s', BATCH, { signal: SIGNAL }),
    eventLog.read('s', 0, { signal: SIGNAL }),
    eventLog.compact('s', 1, { signal: SIGNAL }),
  ];
  for (const call of calls) await expect(call).rejects.toBe('left');
  expect(client.texts).toEqual([]);
});

it('gives all ports one client and one prefix', async () => {
  const client = new ScriptedClient((text) => (text.startsWith('EVALSHA') ? [1, 5, 2] : 1));
  const { publisher, expiring, eventLog } = createRedisPorts({ client, prefix: 'p' });
  await publisher.publish('t', 'hello');
  await expiring.remove('a');
  await eventLog.append('s', BATCH);
  const keys = client.texts.map((text) => /p:\w+:\{\w\}/.exec(text)?.[0]);
  expect(keys).toEqual(['p:topic:{t}', 'p:expiring:{a}', 'p:events:{s}']);
});
