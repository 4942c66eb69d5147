import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRedisPorts } from '../src/index.ts';
import { startOwnServer } from './own-server.ts';

const GUIDE = readFileSync(new URL('../../../docs/operating/redis.md', import.meta.url), 'utf8');
/** The commands that the client sends when it connects. */
const OF_CLIENT = ['+auth', '+hello', '+info', '+client', '+select'];

describe('the permissions in the documentation', () => {
  it('are enough for every port', async ({ skip }) => {
    const [, words = ''] = /^Permissions: (.*?), plus/ms.exec(GUIDE) ?? [];
    const permissions = words.match(/[~&+][\w:*|]+/g) ?? [];
    expect(permissions).toContain('+evalsha');
    const server = await startOwnServer();
    if (server === undefined) return skip('there is no redis-server here');
    const admin = new Redis({ port: server.port });
    const user = ['on', '>pw', 'resetkeys', 'resetchannels', '-@all', ...OF_CLIENT, ...permissions];
    await admin.call('ACL', 'SETUSER', 'questline', ...user);
    const client = new Redis({ port: server.port, username: 'questline', password: 'pw' });
    onTestFinished(async () => {
      client.disconnect();
      admin.disconnect();
      await server.close();
    });
    const failures: unknown[] = [];
    const { limiter, publisher, expiring, eventLog } = createRedisPorts({
      ...{ client, timeoutMs: 10_000 },
      onStateChange: ({ error }) => failures.push(error),
      onError: (error) => failures.push(error),
    });
    const windows = [{ name: 'minute', limit: 5, lengthMs: 60_000 }];
    await limiter.take('a', windows, 0);
    await limiter.takeAll?.(
      ['a', 'b'].map((key) => ({ key, windows })),
      0,
    );
    await limiter.peek('a', windows, 0);
    await eventLog.append('s', { attempt: 1, after: 0, events: ['x'], keepMs: 60_000 });
    expect(await eventLog.read('s', 0)).toHaveLength(1);
    await eventLog.compact('s', 1000);
    await expiring.create('r', 'v', 1000);
    await expiring.set('r', 'w', 1000);
    await expiring.get('r');
    await expiring.take('r');
    await expiring.remove('r');
    const end = await publisher.subscribe('topic', () => undefined);
    await publisher.publish('topic', 'x');
    await end();
    expect(failures).toEqual([]);
  });
});
