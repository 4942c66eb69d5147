import { randomBytes } from 'node:crypto';
import { createTcpProxy } from '@questline/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { questline } from './command.ts';
import { POSTGRES_URL, REDIS_URL, reachServices } from './services.ts';

vi.setConfig({ testTimeout: 180_000 });

/** A unique address: the limit of codes per address is counted in Redis, and outlives a test. */
const ADDRESS = `fd00:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`;

const hasServices = await reachServices('how two processes stand behind one address');

describe.runIf(hasServices)('two processes on one PostgreSQL and one Redis', () => {
  const schema = `two_${randomBytes(6).toString('hex')}`;
  const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 1 });
  beforeAll(async () => {
    await pool.query(`create schema ${schema}`);
  });
  afterAll(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
  });
  const environment = (postgres: string, redis: string) => ({
    PORT: '0',
    TRUST_PROXY: 'true',
    JWT_SECRET: 'a'.repeat(64),
    SESSION_SECRET: 'b'.repeat(64),
    SECRET_ENCRYPTION_KEY: 'c'.repeat(64),
    DATABASE_URL: `${postgres}?options=-csearch_path%3D${schema}`,
    REDIS_URL: redis,
  });
  const start = async (postgres = POSTGRES_URL, redis = REDIS_URL) => {
    const running = questline(['start'], { env: environment(postgres, redis) });
    const [, url = ''] = await running.until(/listens on (\S+)/);
    await running.until(/Press Ctrl\+C to stop/);
    return { running, url };
  };

  it('serve one workspace with the same users, tokens, keys and revocations', async () => {
    const [one, other] = [await start(), await start()];
    const email = `ann-${schema}@example.com`;
    const { pendingToken } = await post<{ pendingToken: string }>(one.url, '/api/otc/send', { email });
    const [, code = ''] = await one.running.until(/\b(\d{6})\b(?=[^\d]*$)/m);
    // Requested at one process, verified at the other.
    const { accessToken } = await post<{ accessToken: string }>(other.url, '/api/otc/verify', {
      email,
      code,
      pendingToken,
      username: 'ann',
    });
    const made = await post<{ id: string; key: string }>(
      one.url,
      '/api/user-api-keys',
      { name: 'shared', scopes: ['me:read'] },
      accessToken,
    );
    const me = async (url: string): Promise<number> => {
      const answer = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${made.key}` } });
      await answer.text();
      return answer.status;
    };
    // Both processes have cached it.
    expect([await me(other.url), await me(one.url)]).toEqual([200, 200]);
    await post(one.url, `/api/user-api-keys/${made.id}/revoke`, {}, accessToken);
    expect(await me(one.url)).toBe(401);
    // Another test checks the maximum delay.
    await vi.waitFor(async () => expect(await me(other.url)).toBe(401), { timeout: 60_000, interval: 50 });
  });

  it('report unavailability with the name of a silent dependency, and readiness again after it recovers', async () => {
    const [postgres, redis] = [new URL(POSTGRES_URL), new URL(REDIS_URL)];
    const toPostgres = await createTcpProxy({ host: postgres.hostname, port: Number(postgres.port || 5432) });
    const toRedis = await createTcpProxy({ host: redis.hostname, port: Number(redis.port || 6379) });
    postgres.host = `127.0.0.1:${toPostgres.port}`;
    redis.host = `127.0.0.1:${toRedis.port}`;
    try {
      const { url, running } = await start(postgres.href, redis.href);
      const looks = async () => {
        const answer = await fetch(`${url}/ready`);
        const text = await answer.text();
        expect(text).not.toMatch(/127\.0\.0\.1|localhost|postgres:|redis:/);
        return [answer.status, JSON.parse(text)];
      };
      const until = (status: number, failing: readonly string[]) =>
        vi.waitFor(
          async () =>
            expect(await looks()).toEqual([
              status,
              { status: status === 200 ? 'ready' : 'unavailable', failing },
            ]),
          { timeout: 60_000, interval: 200 },
        );
      await until(200, []);
      await toRedis.refuse();
      await until(503, ['redis']);
      await toRedis.accept();
      await until(200, []);
      toPostgres.freeze();
      await until(503, ['store', 'queue', 'ledger']);
      toPostgres.unfreeze('lose');
      await until(200, []);
      await running.kill();
    } finally {
      await toPostgres.close();
      await toRedis.close();
    }
  });
});

async function post<T>(url: string, path: string, body: object, token?: string): Promise<T> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': ADDRESS,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.ok, `${path}: ${answer.status} ${text}`).toBe(true);
  return JSON.parse(text) as T;
}
