import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser, issueApiKey, revokeApiKey } from '@questline/core';
import { SESSIONS } from '@questline/core/internal';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { forkScript } from '../../../test/support/children/fork.ts';
import { openClient } from './client.ts';
import { openWorkspace } from './processes/workspace.ts';

const configured = process.env.QUESTLINE_TEST_REDIS_URL;
const url = configured ?? 'redis://127.0.0.1:6379';
const EVENTS = 50;

async function reaches(): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.quit();
    return true;
  } catch (error) {
    if (configured !== undefined || process.env.CI === 'true') throw error;
    console.warn('Redis does not answer on 127.0.0.1:6379: live updates between processes are not tested.');
    return false;
  }
}

describe.runIf(await reaches())('two processes on one database and one Redis', () => {
  it('delivers events of one process in order to sockets of the other, and closes them on revocation', {
    timeout: 60_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'questline-realtime-'));
    const prefix = `questline-test-${randomBytes(6).toString('hex')}`;
    const address = { path: join(folder, 'questline.db'), url, prefix };
    const here = await openWorkspace(address);
    const { services } = here;
    const there = forkScript(join(import.meta.dirname, 'processes', 'worker.ts'));
    try {
      there.send(address);
      const [port] = await once(there, 'message');
      const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
      if (user === undefined) throw new Error('the database is not empty');
      const input = { userId: user.id, name: 'test', scopes: ['ai:chat'] } as const;
      const { key, record } = await issueApiKey(services, input);
      const sessionId = services.ids.next();
      const at = services.clock.now();
      const session = { id: sessionId, ownerId: user.id, name: 'test', firstCreated: at, lastUpdated: at };
      await services.store.collection(SESSIONS).insert(session);

      const client = await openClient(`ws://127.0.0.1:${port}/api/realtime?token=${key}`);
      client.subscribe(sessionId);
      await client.settled();
      for (let reported = 0; reported < EVENTS; reported += 1) {
        services.agentEvents.publish({ type: 'agent_detached', sessionId, agentId: String(reported) });
      }
      for (let reported = 0; reported < EVENTS; reported += 1) {
        expect(await client.next()).toMatchObject({ sessionId, agentId: String(reported) });
      }

      const start = performance.now();
      await revokeApiKey(services, user.id, record.id);
      expect((await client.closed).code).toBe(4401);
      // Printed for information: on a busy machine a duration proves nothing. Another test checks it with a
      // fake clock.
      console.log(`closed elsewhere ${Math.round(performance.now() - start)} ms after the revocation`);
    } finally {
      there.send({});
      if (there.exitCode === null) await once(there, 'exit');
      await here.close();
      rmSync(folder, { recursive: true });
    }
  });
});
