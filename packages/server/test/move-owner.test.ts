import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { emptyFolder, outcome, questline, startLines } from './command.ts';
import { statusFor } from './newcomer.ts';
import { POSTGRES_URL, reachServices } from './services.ts';

const hasServices = await reachServices('moving owners between databases');

// A move waits until every process has read that it has begun.
vi.setConfig({ testTimeout: 240_000 });

describe.runIf(hasServices)('questline move-owner', () => {
  const name = `move_${randomBytes(6).toString('hex')}`;
  const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 1 });
  const schemas = ['home', 'b', 'c'].map((one) => `${name}_${one}`);
  const [home = '', b = '', c = ''] = schemas.map(
    (schema) => `${POSTGRES_URL}?options=-csearch_path%3D${schema}`,
  );
  const env = { PORT: '0', DATABASE_URL: home, DATABASE_SHARDS: `b=${b} c=${c}` };

  beforeAll(async () => {
    for (const schema of schemas) await pool.query(`create schema ${schema}`);
  });
  afterAll(async () => {
    for (const schema of schemas) await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
  });

  const countSessions = async (schema: string): Promise<number> => {
    const { rows } = await pool.query(`select count(*) as found from ${schema}.questline_demo_sessions`);
    return Number(rows[0]?.found);
  };
  const ask = async (url: string, key: string, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await answer.json()) as Record<string, unknown>;
  };

  it('moves a user of a running server, who keeps records and credit', async () => {
    const cwd = emptyFolder();
    const { url, key } = await startLines(questline(['start', '--demo'], { cwd, env }));
    const turn = await ask(url, key, 'POST', '/api/chat', {
      message: 'Hello',
      wait: true,
      model: 'demo-echo',
    });
    expect(turn).toMatchObject({ status: 'done' });
    const before = await ask(url, key, 'GET', '/api/v1/me');
    const run = (...args: string[]) => outcome(['move-owner', ...args, '--demo'], { cwd, env });
    const users = await outcome(['users', 'list', '--demo', '--json'], { cwd, env });
    const { email } = (JSON.parse(users.stdout) as { users: readonly { email: string }[] }).users[0] ?? {
      email: '',
    };

    const moved = await run(email, 'b', '--json');
    expect(moved).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(moved.stdout)).toMatchObject({ outcome: 'moved', kind: 'user', shard: 'b' });
    expect(await countSessions(`${name}_home`)).toBe(0);
    expect(await countSessions(`${name}_b`)).toBe(1);
    await expect.poll(() => statusFor(url, key), { timeout: 30_000 }).toBe(200);
    expect(await ask(url, key, 'GET', '/api/v1/me')).toEqual(before);
    expect(await ask(url, key, 'GET', `/api/quests/${turn.id}`)).toMatchObject({ status: 'done' });

    expect(await run(email, 'b')).toEqual({ code: 0, stdout: `${email} is in b already\n`, stderr: '' });
    expect(await run(email, 'd')).toMatchObject({
      code: 2,
      stderr: `questline: SHARD: expected one of home, b, c, got 'd'\n`,
    });
    expect(await run('stranger@example.com', 'c')).toMatchObject({
      code: 1,
      stderr: 'questline: there is no account stranger@example.com\n',
    });
    expect(await run(email)).toMatchObject({ code: 2 });
  });

  it('stops when the databases have other names than before', async () => {
    const swapped = { ...env, DATABASE_SHARDS: `b=${c} c=${b}` };
    expect(await outcome(['users', 'list', '--demo'], { env: swapped })).toMatchObject({
      code: 1,
      stderr: 'questline: DATABASE_SHARDS: the database of b is that of c; restore the former names\n',
    });
  });

  it('stops when a database to which owners have moved is missing', async () => {
    for (const shards of [{}, { DATABASE_SHARDS: `c=${c}` }]) {
      const given = { PORT: '0', DATABASE_URL: home, ...shards };
      expect(await outcome(['users', 'list', '--demo'], { env: given })).toMatchObject({
        code: 1,
        stderr: 'questline: DATABASE_SHARDS: b is missing, but owners are in this database\n',
      });
    }
  });

  it('migrates every database before the server starts', async () => {
    const migrated = await outcome(['migrate', '--json'], { env });
    expect(migrated).toMatchObject({ code: 0 });
    expect((JSON.parse(migrated.stdout) as { shards: unknown[] }).shards).toHaveLength(2);
    expect((await outcome(['migrate'], { env })).stdout.match(/is up to date/g)).toHaveLength(3);
  });

  it('names what is missing without further databases', async () => {
    const cwd = emptyFolder();
    await outcome(['migrate'], { cwd, env });
    const one = { PORT: '0', DATABASE_URL: home };
    const { code, stderr } = await outcome(['move-owner', 'ada@example.com', 'b'], { cwd, env: one });
    expect([code, stderr]).toEqual([1, 'questline: DATABASE_SHARDS: not set; there is no other database\n']);
  });

  it('prints its help', async () => {
    const { code, stdout } = await outcome(['move-owner', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: questline move-owner OWNER SHARD \[options\]/);
  });
});
