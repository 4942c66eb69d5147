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

/** Starts in this very process, with settings that must stop the start. */
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
    // Should it start after all, it ends at once.
    onEnd(listener) {
      setImmediate(listener);
      return () => undefined;
    },
  });
  return { code, complaint, printed, folder };
}

describe('a wrong setting stops the start, names the variable and changes nothing', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    [
      'a short secret',
      { JWT_SECRET: 'abc' },
      /^questline: JWT_SECRET: expected 64 hexadecimal characters \(0-9, a-f\), got 3 characters\n$/,
    ],
    [
      'a secret that is not hexadecimal',
      { SESSION_SECRET: 'x'.repeat(64) },
      /^questline: SESSION_SECRET: .*, got other characters among them\n$/,
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
      /^questline: S3_SECRET_ACCESS_KEY: missing; S3_ENDPOINT, .* go together\n$/,
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

  it('everything that is wrong, at once', async () => {
    const { code, complaint } = await refused({
      JWT_SECRET: '1',
      PORT: '-1',
      PUBLIC_URL: 'ftp://x',
      TRUST_PROXY: '2',
    });
    expect(code).toBe(1);
    const [head, ...faults] = complaint.trim().split('\n');
    expect(head).toBe('questline: 4 things are wrong; nothing was changed');
    expect(faults.map((line) => line.trim().split(':')[0])).toEqual([
      'JWT_SECRET',
      'PORT',
      'PUBLIC_URL',
      'TRUST_PROXY',
    ]);
  });

  it('a port that somebody else has', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const cwd = emptyFolder();
    const result = await outcome(['start', '--demo'], { cwd, env: { PORT: String(port) } });
    expect(result).toEqual({
      code: 1,
      stdout: '',
      stderr: `questline: PORT: ${port} is in use by another program; set another one, or 0 for any free one\n`,
    });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('a folder that cannot be made', async () => {
    const folder = emptyFolder();
    chmodSync(folder, 0o555);
    // The administrator may write everywhere but here.
    const place = process.getuid?.() === 0 ? '/proc/questline' : 'data';
    const { code, complaint } = await refused({ PORT: '0', STORAGE_DIR: place }, folder);
    expect(complaint).toMatch(/^questline: STORAGE_DIR: .* (?:is not writable|cannot be opened) \(.*\)\n$/);
    expect(code).toBe(1);
  });

  it('a file of secrets that somebody has edited', async () => {
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

  it('a database that nobody can reach, without its password', async () => {
    const env = { PORT: '0', DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/none' };
    const { code, complaint, folder } = await refused(env);
    expect({ code, complaint }).toEqual({
      code: 1,
      complaint: 'questline: DATABASE_URL: nothing listens there (ECONNREFUSED)\n',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a service that is away stops the start and changes nothing', () => {
  it('Redis, without its password', async () => {
    const env = { PORT: '0', REDIS_URL: 'redis://:hush@127.0.0.1:1' };
    const { code, complaint, folder } = await refused(env);
    expect({ code, complaint }).toEqual({
      code: 1,
      complaint: 'questline: REDIS_URL: nothing listens there (ECONNREFUSED)\n',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** Every row of every table that a start has left in this folder. */
function rowsOf(folder: string): Readonly<Record<string, readonly unknown[]>> {
  const database = new DatabaseSync(join(folder, 'data', 'questline.db'), { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table' order by name").all();
  const rows = Object.fromEntries(
    tables.map(({ name }) => [String(name), database.prepare(`select * from "${String(name)}"`).all()]),
  );
  database.close();
  return rows;
}

describe('the encryption key', () => {
  it('must stay what it was at the first start', async () => {
    const folder = emptyFolder();
    const env = { PORT: '0', JWT_SECRET: A, SESSION_SECRET: B, SECRET_ENCRYPTION_KEY: C };
    expect((await refused(env, folder)).code).toBe(0);
    expect(existsSync(join(folder, 'data', 'secrets.env'))).toBe(false);

    const before = rowsOf(folder);
    const fingerprints = Object.entries(before).filter(([table]) => table.endsWith('deployment'));
    expect(fingerprints).toEqual([[expect.any(String), [expect.anything()]]]);
    const changed = await refused({ ...env, SECRET_ENCRYPTION_KEY: 'd'.repeat(64) }, folder);
    expect(rowsOf(folder)).toEqual(before);
    expect(changed.complaint).toMatch(
      /^questline: SECRET_ENCRYPTION_KEY: is not the one this data was begun with/,
    );
    expect(changed.code).toBe(1);

    const lost = await refused({ PORT: '0', JWT_SECRET: A, SESSION_SECRET: B }, folder);
    expect(lost.complaint).toMatch(/^questline: SECRET_ENCRYPTION_KEY: is missing/);
    expect(existsSync(join(folder, 'data', 'secrets.env'))).toBe(false);

    expect((await refused({ ...env, SECRET_ENCRYPTION_KEY: C.toUpperCase() }, folder)).code).toBe(0);
  });

  it('is looked at before a database of an earlier version is brought forward', async () => {
    const folder = emptyFolder();
    const env = { PORT: '0', JWT_SECRET: A, SESSION_SECRET: B, SECRET_ENCRYPTION_KEY: C };
    expect((await refused(env, folder)).code).toBe(0);
    const database = new DatabaseSync(join(folder, 'data', 'questline.db'));
    const gone = database
      .prepare("delete from questline_migrations where name like 'collection users %'")
      .run();
    expect(gone.changes).toBe(1);
    database.close();

    const before = rowsOf(folder);
    const changed = await refused({ ...env, SECRET_ENCRYPTION_KEY: 'd'.repeat(64) }, folder);
    expect(changed).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(/^questline: SECRET_ENCRYPTION_KEY: /),
    });
    expect(rowsOf(folder)).toEqual(before);
    expect((await refused(env, folder)).code).toBe(0);
    expect(rowsOf(folder)).not.toEqual(before);
  });

  it('may be given while the other secrets are made', async () => {
    const folder = emptyFolder();
    expect((await refused({ PORT: '0', SECRET_ENCRYPTION_KEY: C }, folder)).code).toBe(0);
    const text = readFileSync(join(folder, 'data', 'secrets.env'), 'utf8');
    expect(text).toMatch(/^JWT_SECRET=[0-9a-f]{64}$/m);
    expect(text).not.toContain('SECRET_ENCRYPTION_KEY=');
  });
});

describe('a blank value', () => {
  it('counts as not set', async () => {
    const blank = { OPENAI_API_KEY: ' ', PUBLIC_URL: '', DATABASE_URL: '', JWT_SECRET: '', PORT: '0' };
    expect((await refused(blank)).code).toBe(0);
  });

  it('of a provider key turns its models off', async () => {
    const env = { PORT: '0', OPENAI_API_KEY: '', ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef' };
    const { url, key, curl } = await startLines(questline(['start', '--demo'], { env }));
    const answer = await fetch(`${url}/api/models`, { headers: { authorization: `Bearer ${key}` } });
    const { models } = (await answer.json()) as { models: { backend: string; id: string }[] };
    expect([...new Set(models.map(({ backend }) => backend))].sort()).toEqual(['anthropic', 'demo']);
    // The first look asks the real one.
    const asked = /"model":"([^"]+)"/.exec(curl)?.[1];
    expect(models.find(({ id }) => id === asked)?.backend).toBe('anthropic');
  });
});
