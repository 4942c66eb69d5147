import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../src/cli/run.ts';
import { emptyFolder, outcome, questline, startLines } from './command.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const C = 'c'.repeat(64);

/** Starts in this process, with settings that must stop the start. */
async function refused(env: Readonly<Record<string, string>>, folder = emptyFolder(), args = ['start']) {
  let complaint = '';
  let printed = '';
  const code = await run(args, {
    environment: env,
    folder,
    print: (text) => {
      printed += text;
    },
    complain: (text) => {
      complaint += text;
    },
    // Ends at once if it starts unexpectedly.
    onShutdownSignal(listener) {
      setImmediate(listener);
      return () => undefined;
    },
  });
  return { code, complaint, printed, folder };
}

describe('startup with an invalid setting', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    [
      'a short secret',
      { JWT_SECRET: 'abc' },
      /^questline: JWT_SECRET: expected 64 hexadecimal characters \(0-9, a-f\), got 3 characters\n$/,
    ],
    [
      'a secret that is not hexadecimal',
      { SESSION_SECRET: 'x'.repeat(64) },
      /^questline: SESSION_SECRET: .*, got other characters\n$/,
    ],
    [
      'equal secrets',
      { JWT_SECRET: A, SESSION_SECRET: B, SECRET_ENCRYPTION_KEY: A.toUpperCase() },
      /^questline: SECRET_ENCRYPTION_KEY: is the same as JWT_SECRET; .*\n$/,
    ],
    ['a port that is no number', { PORT: 'http' }, /^questline: PORT: .*0 to 65535, got "http"\n$/],
    ['a port beyond the last', { PORT: '70000' }, /^questline: PORT: .*got "70000"\n$/],
    ['a public URL without a scheme', { PUBLIC_URL: 'example.com' }, /PUBLIC_URL: .*got "example.com"\n$/],
    ['an address of a bucket that is none', { S3_ENDPOINT: 'bucket:9' }, /S3_ENDPOINT: .*got "bucket:9"/],
    ['a database of another kind', { DATABASE_URL: 'mysql://u:hush@h/d' }, /^questline: DATABASE_URL: .*\n$/],
    ['a Redis URL that is none', { REDIS_URL: 'localhost:hush' }, /^questline: REDIS_URL: .*\n$/],
    [
      'half a bucket',
      { S3_ENDPOINT: 'http://127.0.0.1:9', S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'a' },
      /^questline: S3_SECRET_ACCESS_KEY: missing; set all of S3_ENDPOINT, .*\n$/,
    ],
    [
      'a ceiling without its window',
      { RATE_LIMIT_COMPLETIONS: '1000' },
      /RATE_LIMIT_COMPLETIONS: expected a number from 1 to 1000000 per minute or hour, such as 600\/minute, got "1000"/,
    ],
    [
      'a switch that is neither',
      { TRUST_PROXY: 'maybe' },
      /TRUST_PROXY: expected true or false, got "maybe"/,
    ],
    ['half a mail sign-in', { MAIL_HOST: 'mail', MAIL_USERNAME: 'me' }, /MAIL_PASSWORD: missing/],
    ['a sender that is no address', { MAIL_FROM: 'Ada' }, /^questline: MAIL_FROM: .*got "Ada"\n$/],
    ['two senders', { MAIL_FROM: 'a@b.c, d@e.f' }, /^questline: MAIL_FROM: expected .*\n$/],
    ['a name of two lines', { APP_NAME: 'A\nB' }, /^questline: APP_NAME: expected .* one line\n$/],
    ['a key with a line break', { OPENAI_API_KEY: 'hush\nhush' }, /^questline: OPENAI_API_KEY: .*\n$/],
    [
      'a folder that is a file',
      { STORAGE_DIR: 'file/data' },
      /^questline: STORAGE_DIR: .*file is not a folder\n$/,
    ],
  ];

  for (const [name, env, complaint] of cases) {
    it(name, async () => {
      const folder = emptyFolder();
      writeFileSync(join(folder, 'file'), '');
      const result = await refused({ PORT: '0', ...env }, folder);
      expect(result).toMatchObject({ code: 1, printed: '', complaint: expect.stringMatching(complaint) });
      expect(result.complaint).not.toMatch(/hush|at .*\.ts|xxxx/);
      expect(readdirSync(folder)).toEqual(['file']);
    });
  }

  it('stops with every problem at once and changes nothing', async () => {
    const { code, complaint } = await refused({
      JWT_SECRET: '1',
      PORT: '-1',
      PUBLIC_URL: 'ftp://x',
      TRUST_PROXY: '2',
    });
    expect(code).toBe(1);
    const [head, ...faults] = complaint.trim().split('\n');
    expect(head).toBe('questline: 4 issues; nothing was changed');
    expect(faults.map((line) => line.trim().split(':')[0])).toEqual([
      'JWT_SECRET',
      'PORT',
      'PUBLIC_URL',
      'TRUST_PROXY',
    ]);
  });

  it('stops when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const cwd = emptyFolder();
    const result = await outcome(['start', '--demo'], { cwd, env: { PORT: String(port) } });
    expect(result).toEqual({
      code: 1,
      stdout: '',
      stderr: `questline: PORT: ${port} is in use by another program; set another port, or 0 for any free port\n`,
    });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('stops when a folder cannot be created', async () => {
    const folder = emptyFolder();
    chmodSync(folder, 0o555);
    // root can write to all folders except this one.
    const place = process.getuid?.() === 0 ? '/proc/questline' : 'data';
    const { code, complaint } = await refused({ PORT: '0', STORAGE_DIR: place }, folder);
    expect(complaint).toMatch(/^questline: STORAGE_DIR: .* (?:is not writable|cannot be opened) \(.*\)\n$/);
    expect(code).toBe(1);
  });

  it('stops when the secrets file was edited', async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'secrets.env'), `JWT_SECRET=${A}\nSESSION_SECRET=oops\n`);
    const { code, complaint } = await refused({ PORT: '0' }, folder);
    expect(code).toBe(1);
    expect(complaint).toMatch(
      /^questline: SESSION_SECRET: expected 64 .* got 4 characters in .*secrets\.env\n$/,
    );
    expect(readdirSync(join(folder, 'data'))).toEqual(['secrets.env']);
  });

  it('stops when the database is unreachable, without printing its password', async () => {
    const env = { PORT: '0', DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/none' };
    const { code, complaint, folder } = await refused(env);
    expect({ code, complaint }).toEqual({
      code: 1,
      complaint: 'questline: DATABASE_URL: connection refused, no server listens there (ECONNREFUSED)\n',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('startup with an unavailable service', () => {
  it('stops when Redis is unreachable, without printing its password', async () => {
    const env = { PORT: '0', REDIS_URL: 'redis://:hush@127.0.0.1:1' };
    const { code, complaint, folder } = await refused(env);
    expect({ code, complaint }).toEqual({
      code: 1,
      complaint: 'questline: REDIS_URL: connection refused, no server listens there (ECONNREFUSED)\n',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** Every row of every table of a start in this folder. */
function getRows(folder: string): Readonly<Record<string, readonly unknown[]>> {
  const database = new DatabaseSync(join(folder, 'data', 'questline.db'), { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table' order by name").all();
  const rows = Object.fromEntries(
    tables.map(({ name }) => [String(name), database.prepare(`select * from "${String(name)}"`).all()]),
  );
  database.close();
  return rows;
}

describe('encryption key of a workspace', () => {
  it('must equal the key of the first start', async () => {
    const folder = emptyFolder();
    const env = { PORT: '0', JWT_SECRET: A, SESSION_SECRET: B, SECRET_ENCRYPTION_KEY: C };
    expect((await refused(env, folder)).code).toBe(0);
    expect(existsSync(join(folder, 'data', 'secrets.env'))).toBe(false);

    const before = getRows(folder);
    const fingerprints = Object.entries(before).filter(([table]) => table.endsWith('deployment'));
    expect(fingerprints).toEqual([[expect.any(String), Array(3).fill(expect.anything())]]);
    const changed = await refused({ ...env, SECRET_ENCRYPTION_KEY: 'd'.repeat(64) }, folder);
    expect(getRows(folder)).toEqual(before);
    expect(changed.complaint).toMatch(
      /^questline: SECRET_ENCRYPTION_KEY: differs from the key that this data was created with/,
    );
    expect(changed.code).toBe(1);

    const lost = await refused({ PORT: '0', JWT_SECRET: A, SESSION_SECRET: B }, folder);
    expect(lost.complaint).toMatch(/^questline: SECRET_ENCRYPTION_KEY: missing/);
    expect(existsSync(join(folder, 'data', 'secrets.env'))).toBe(false);

    expect((await refused({ ...env, SECRET_ENCRYPTION_KEY: C.toUpperCase() }, folder)).code).toBe(0);
  });

  it('is checked before migrations run', async () => {
    const folder = emptyFolder();
    const env = { PORT: '0', JWT_SECRET: A, SESSION_SECRET: B, SECRET_ENCRYPTION_KEY: C };
    expect((await refused(env, folder)).code).toBe(0);
    const database = new DatabaseSync(join(folder, 'data', 'questline.db'));
    const gone = database
      .prepare("delete from questline_migrations where name like 'collection users %'")
      .run();
    expect(gone.changes).toBe(1);
    database.close();

    const before = getRows(folder);
    const changed = await refused({ ...env, SECRET_ENCRYPTION_KEY: 'd'.repeat(64) }, folder);
    expect(changed).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(/^questline: SECRET_ENCRYPTION_KEY: /),
    });
    expect(getRows(folder)).toEqual(before);
    expect((await refused(env, folder)).code).toBe(0);
    expect(getRows(folder)).not.toEqual(before);
  });

  it('may be configured while the other secrets are generated', async () => {
    const folder = emptyFolder();
    expect((await refused({ PORT: '0', SECRET_ENCRYPTION_KEY: C }, folder)).code).toBe(0);
    const text = readFileSync(join(folder, 'data', 'secrets.env'), 'utf8');
    expect(text).toMatch(/^JWT_SECRET=[0-9a-f]{64}$/m);
    expect(text).not.toContain('SECRET_ENCRYPTION_KEY=');
  });
});

describe('blank setting', () => {
  it('counts as unset', async () => {
    const blank = { OPENAI_API_KEY: ' ', PUBLIC_URL: '', DATABASE_URL: '', JWT_SECRET: '', PORT: '0' };
    expect((await refused(blank)).code).toBe(0);
  });

  it('of a provider key disables its models', async () => {
    const env = { PORT: '0', OPENAI_API_KEY: '', ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef' };
    const { url, key, curl } = await startLines(questline(['start', '--demo'], { env }));
    const answer = await fetch(`${url}/api/models`, { headers: { authorization: `Bearer ${key}` } });
    const { models } = (await answer.json()) as { models: { backend: string; id: string }[] };
    expect([...new Set(models.map(({ backend }) => backend))].sort()).toEqual(['anthropic', 'demo']);
    // The first call uses the real model.
    const asked = /"model":"([^"]+)"/.exec(curl)?.[1];
    expect(models.find(({ id }) => id === asked)?.backend).toBe('anthropic');
  });
});
