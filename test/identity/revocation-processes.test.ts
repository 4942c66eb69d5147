import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser, issueApiKey, revokeApiKey, USERS } from '@questline/core';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { forkScript } from '../support/children/fork.ts';
import { openWorkspace } from './processes/workspace.ts';

const configured = process.env.QUESTLINE_TEST_REDIS_URL;
const url = configured ?? 'redis://127.0.0.1:6379';
const ROUNDS = 10;

async function reaches(): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.quit();
    return true;
  } catch (error) {
    if (configured !== undefined || process.env.CI === 'true') throw error;
    console.warn('Redis does not answer on 127.0.0.1:6379: revocation between processes is not tested.');
    return false;
  }
}

describe.runIf(await reaches())('two processes on one database and one Redis', () => {
  it('reject a revoked credential: at once in one process, within two seconds in the other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'questline-revocation-'));
    const address = {
      path: join(folder, 'questline.db'),
      url,
      prefix: `questline-test-${randomBytes(6).toString('hex')}`,
    };
    const here = await openWorkspace(address);
    const { services } = here;
    const other = forkScript(join(import.meta.dirname, 'processes', 'worker.ts'));
    const askOther = async (credential: string): Promise<unknown> => {
      other.send({ key: credential });
      return (await once(other, 'message'))[0];
    };
    const untilRejected = async (credential: string): Promise<number> => {
      const start = performance.now();
      while ((await askOther(credential)) !== 401) {
        if (performance.now() - start > 10_000) throw new Error('the revoked credential is still accepted');
      }
      return performance.now() - start;
    };

    try {
      other.send(address);
      await once(other, 'message');
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const user = await createUser(services, { email: `${round}@example.com`, username: 'test' });
        if (user === undefined) throw new Error('the database is not empty');
        const input = { userId: user.id, name: 'test', scopes: ['me:read'] } as const;
        const { key, record } = await issueApiKey(services, input);
        const token = await services.tokens.sign({ id: user.id, tokenVersion: 0, typ: 'access' });
        for (const credential of [key, token]) {
          expect(await here.ask(credential)).toBe(200);
          expect(await askOther(credential)).toBe(200);
        }

        await revokeApiKey(services, user.id, record.id);
        expect(await here.ask(key)).toBe(401);
        times.push(await untilRejected(key));

        await services.store.collection(USERS).add(user.id, { tokenVersion: 1 });
        services.authenticator.forgetUser(user.id);
        expect(await here.ask(token)).toBe(401);
        times.push(await untilRejected(token));
      }
      const sorted = times.sort((a, b) => a - b).map(Math.round);
      console.log(
        `${ROUNDS} keys and ${ROUNDS} tokens revoked: rejected by the other process after ${sorted[ROUNDS]} ms (median), ${sorted.at(-1)} ms (slowest)`,
      );
      expect(sorted.at(-1)).toBeLessThan(2000);
      // Without publisher messages, the median would exceed a second.
      expect(sorted[ROUNDS]).toBeLessThan(750);
    } finally {
      other.send({});
      if (other.exitCode === null) await once(other, 'exit');
      await here.close();
      rmSync(folder, { recursive: true });
    }
  });
});
