import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyFolder, outcome, questline, startLines } from './command.ts';
import { POSTGRES_URL, REDIS_URL, reachServices } from './services.ts';

const hasServices = await reachServices('starting on them');

describe.runIf(hasServices)('questline start on PostgreSQL and Redis', () => {
  const schema = `server_${randomBytes(6).toString('hex')}`;
  const url = `${POSTGRES_URL}?options=-csearch_path%3D${schema}`;
  const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 1 });
  beforeAll(async () => {
    await pool.query(`create schema ${schema}`);
  });
  afterAll(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
  });

  it('stores everything there, and only its secrets in the folder', async () => {
    const cwd = emptyFolder();
    const env = { PORT: '0', DATABASE_URL: url, REDIS_URL };
    const first = questline(['start', '--demo'], { cwd, env });
    const { url: address, key } = await startLines(first);
    const { host, pathname } = new URL(url);
    expect(first.stdout()).toMatch(/Data +PostgreSQL at \S+$/m);
    expect(first.stdout()).toContain(`PostgreSQL at ${host}${pathname}\n`);
    const before = await spend(address, key);
    expect(before).toBeLessThan(1000);
    first.signal('SIGKILL');
    await first.ended;
    expect(readdirSync(join(cwd, 'data'))).toEqual(['secrets.env']);

    const second = await startLines(questline(['start', '--demo'], { cwd, env }));
    expect(await balance(second.url, second.key)).toBe(before);
  });

  it('stops when the secrets of the database are missing', async () => {
    const env = { PORT: '0', DATABASE_URL: url, REDIS_URL };
    const { code, stderr } = await outcome(['start', '--demo'], { env });
    expect(stderr).toMatch(/JWT_SECRET: missing, but this workspace has one/);
    expect(stderr).toMatch(/SECRET_ENCRYPTION_KEY: missing, but this data was created with one/);
    expect(code).toBe(1);
  });

  it('stops when the database user may not create tables', async () => {
    const role = `${schema}_guest`;
    await pool.query(`create role ${role} login; grant usage on schema ${schema} to ${role}`);
    try {
      const guest = new URL(url);
      guest.username = role;
      const { code, stderr } = await outcome(['start'], { env: { PORT: '0', DATABASE_URL: guest.href } });
      expect(stderr).toBe('questline: DATABASE_URL: the user may not create tables (42501)\n');
      expect(code).toBe(1);
    } finally {
      await pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  it('stops when Redis is unreachable', async () => {
    const env = { PORT: '0', DATABASE_URL: url, REDIS_URL: 'redis://:hush@127.0.0.1:1' };
    const cwd = emptyFolder();
    const { code, stderr } = await outcome(['start', '--demo'], { cwd, env });
    expect(stderr).toBe('questline: REDIS_URL: connection refused, no server listens there (ECONNREFUSED)\n');
    expect(code).toBe(1);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

async function spend(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/api/ai/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-echo', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(await answer.text()).toMatch(/\[DONE\]/);
  return balance(url, key);
}

async function balance(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
  const body = (await answer.json()) as { balance: number };
  return body.balance;
}
