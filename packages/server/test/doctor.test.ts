import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { REJECTED_USAGE } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts } from '@questline/sql';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LOGIN, mailServer } from '../../smtp/test/mail-server.ts';
import { migrateDatabase } from '../src/storage/database.ts';
import { emptyFolder, outcome, questline, startLines } from './command.ts';

// Every test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

interface Finding {
  readonly subject: string;
  readonly state: string;
  readonly message: string;
  readonly advice?: string;
}

async function examine(env: Readonly<Record<string, string>>, cwd = emptyFolder(), more: string[] = []) {
  const { code, stdout, stderr } = await outcome(['doctor', '--json', ...more], { cwd, env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return {
    code,
    stdout,
    stderr,
    cwd,
    findings,
    of: (name: string) => findings.find((one) => one.subject === name),
  };
}

describe('questline doctor', () => {
  it('finds no problem in an empty folder, shows the plan and creates nothing', async () => {
    const { code, stderr, cwd, findings, of } = await examine({ PORT: '0' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(findings.map(({ subject }) => subject)).toEqual([
      'settings',
      'folder',
      'secrets',
      'port',
      'database',
      'redis',
      'files',
      'mail',
      'exposure',
      'providers',
    ]);
    expect(of('database')?.message).toMatch(/questline\.db will be created at the first start$/);
    expect(of('secrets')?.message).toMatch(
      /^JWT_SECRET, SESSION_SECRET, SECRET_ENCRYPTION_KEY will be created/,
    );
    expect(of('providers')).toMatchObject({
      state: 'warning',
      advice: expect.stringContaining('OPENAI_API_KEY'),
    });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('shows usage reports that were not charged in full, the last one of each model', async () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, 'data'));
    const database = createSqliteDatabase({ path: join(cwd, 'data', 'questline.db') });
    await migrateDatabase(database, false);
    const clock = createSystemClock();
    const { store } = createSqlPorts(database, { clock, ids: createIds({ clock }) });
    await store.collection(REJECTED_USAGE).insert({
      id: 'a'.repeat(24),
      provider: 'openai',
      model: 'gpt-x',
      count: 3,
      lastAt: Date.UTC(2026, 10, 22),
      reported: { input: 2_000_000 },
      charged: { input: 100 },
      amount: 120_000,
    });
    await database.close();
    const { of } = await examine({ PORT: '0' }, cwd);
    expect(of('usage')).toMatchObject({
      state: 'warning',
      message:
        '3 usage reports of openai for gpt-x were not charged in full; last 2026-11-22T00:00:00.000Z: ' +
        'reported {"input":2000000}, charged 0.12 credits for {"input":100}',
    });
  });

  it('reports all problems at once without passwords and exits with 1', {
    timeout: 60_000,
  }, async () => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const mail = await mailServer({ login: true });
    const { code, stdout, stderr, cwd, findings } = await examine({
      PORT: String((other.address() as AddressInfo).port),
      DATABASE_URL: 'postgres://me:hush-1@127.0.0.1:1/none',
      REDIS_URL: 'redis://:hush-2@127.0.0.1:1',
      ...bucketAt('http://127.0.0.1:1'),
      MAIL_HOST: '127.0.0.1',
      MAIL_PORT: String(mail.port),
      MAIL_USERNAME: LOGIN.username,
      MAIL_PASSWORD: 'hush-3',
      OPENAI_API_KEY: 'hush-4',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
    });
    expect(code).toBe(1);
    expect(stderr).toBe('questline: 6 checks failed, see above\n');
    const wrong = findings.filter(({ state }) => state === 'wrong');
    expect(wrong.map(({ message }) => message.split(':')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'REDIS_URL',
      'S3_ENDPOINT',
      'MAIL_PASSWORD',
      'OPENAI_API_KEY',
    ]);
    expect(stdout + stderr).not.toContain('hush');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('lists invalid settings and checks nothing else', async () => {
    const { code, findings } = await examine({ JWT_SECRET: 'short', PORT: 'x' });
    expect(code).toBe(1);
    expect(findings.map(({ subject, message }) => [subject, message.split(':')[0]])).toEqual([
      ['settings', 'JWT_SECRET'],
      ['settings', 'PORT'],
    ]);
  });

  it('recognizes a running workspace and checks providers at their own addresses', async () => {
    const asked: string[] = [];
    const provider = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.writeHead(request.headers.authorization === 'Bearer good-key' ? 200 : 401).end('{}');
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    onTestFinished(() => void provider.close());
    const OPENAI_BASE_URL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;

    const cwd = emptyFolder();
    const { url } = await startLines(questline(['start', '--port', '0'], { cwd }));
    const env = { PORT: new URL(url).port, OPENAI_BASE_URL };
    const good = await examine({ ...env, OPENAI_API_KEY: 'good-key' }, cwd);
    expect(good.code).toBe(0);
    expect(good.of('port')?.message).toMatch(/^Questline already listens on \d+$/);
    expect(good.of('database')?.message).toMatch(/is reachable and up to date$/);
    expect(good.of('openai')?.message).toMatch(/accepts the key$/);
    expect(asked).toEqual(['GET /v1/models Bearer good-key']);
    const bad = await examine({ ...env, OPENAI_API_KEY: 'bad-key' }, cwd);
    expect(bad.of('openai')?.message).toMatch(/^OPENAI_API_KEY: .* rejects the key \(401\)$/);
    expect(bad.code).toBe(1);
    expect((await examine({ ...env, OPENAI_API_KEY: 'bad-key' }, cwd, ['--offline'])).code).toBe(0);

    const other = await examine({ ...env, SECRET_ENCRYPTION_KEY: 'd'.repeat(64) }, cwd);
    expect(other.of('database')?.message).toMatch(/^SECRET_ENCRYPTION_KEY: differs from the key/);
  });

  it('checks the bucket with the configured credentials', async () => {
    for (const [status, message] of [
      [200, /grants access to files$/],
      [404, /^S3_BUCKET: there is no bucket files/],
      [403, /^S3_ACCESS_KEY_ID: access to files is denied/],
      [301, /^S3_REGION: files is not in the region us-east-1$/],
    ] as const) {
      const service = createServer((_request, response) => response.writeHead(status).end());
      service.listen(0, '127.0.0.1');
      await once(service, 'listening');
      onTestFinished(() => void service.close());
      const endpoint = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
      const { of } = await examine({ PORT: '0', ...bucketAt(endpoint) }, emptyFolder(), ['--offline']);
      expect(of('files')).toMatchObject({
        state: status === 200 ? 'good' : 'wrong',
        message: expect.stringMatching(message),
      });
    }
  });

  it('prints lines with instructions for a person', async () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, 'data'));
    writeFileSync(join(cwd, 'data', 'secrets.env'), `JWT_SECRET=${'a'.repeat(64)}\n`);
    chmodSync(join(cwd, 'data', 'secrets.env'), 0o644);
    const { code, stdout } = await outcome(['doctor', '--offline'], { cwd, env: { PORT: '0' } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {5}settings +all variables are valid$/m);
    expect(stdout).toMatch(
      /^note {3}secrets +.* is readable by other users\n +-> chmod 600 .*secrets\.env$/m,
    );
    expect(existsSync(join(cwd, 'data', 'questline.db'))).toBe(false);
  });
});

function bucketAt(endpoint: string): Readonly<Record<string, string>> {
  return {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: 'files',
    S3_ACCESS_KEY_ID: 'questline',
    S3_SECRET_ACCESS_KEY: 'hush-5',
  };
}
