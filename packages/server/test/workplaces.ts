import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { startOwnServer } from '../../redis/test/own-server.ts';
import { findServer, getContents } from '../../s3/test/server.ts';
import { mailServer } from '../../smtp/test/mail-server.ts';
import { emptyFolder, questline, type Running } from './command.ts';

/** A running server and its state outside its pages. */
export interface Workplace {
  readonly running: Running;
  readonly url: string;
  /** The code that was sent to an address. */
  code(email: string): Promise<string>;
  /** Descriptions of the places that store files with these bytes. */
  getKeepers(bytes: Buffer): Promise<readonly string[]>;
  /**
   * Starts another process on the same services, whose pages may also connect to other origins. Undefined if
   * not possible.
   */
  readonly another?: () => Promise<Another>;
}

export interface Another extends Pick<Workplace, 'running' | 'url'> {
  readonly origins: readonly string[];
}

type Settings = Readonly<Record<string, string>>;

const POSTGRES_URL = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';

/**
 * The default of `questline start` in an empty folder: a database file, a folder of objects, codes in the
 * terminal.
 */
export async function inFolder(models: Settings): Promise<Workplace> {
  const cwd = emptyFolder();
  const running = questline(['start', '--host', '127.0.0.1'], { cwd, env: { PORT: '0', ...models } });
  const [, url = ''] = await running.until(/listens on (\S+)/);
  return {
    running,
    url,
    async code(email) {
      const pattern = new RegExp(`Mail for ${email}: [^\\n]* is (\\d{6})\\.`);
      return (await running.until(pattern))[1] ?? '';
    },
    async getKeepers(bytes) {
      const folder = join(cwd, 'data', 'objects');
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
        one.isFile(),
      );
      const paths = files.map(({ parentPath, name }) => join(parentPath, name));
      return paths.filter((path) => readFileSync(path).includes(bytes)).map(() => 'folder');
    },
  };
}

/** On PostgreSQL, Redis, an S3-compatible service and a mail server, each with a temporary namespace. */
export async function onServices(models: Settings): Promise<Workplace> {
  const [bucket, redis, mail, database] = [
    await findServer(),
    await startOwnServer(),
    await mailServer(),
    await ownSchema(),
  ];
  if (bucket === undefined || redis === undefined) throw new Error('a service is no longer available');
  onTestFinished(() => redis.close());
  const env = {
    PORT: '0',
    DATABASE_URL: database,
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    S3_ENDPOINT: bucket.endpoint,
    S3_BUCKET: bucket.bucket,
    S3_REGION: bucket.region,
    S3_ACCESS_KEY_ID: bucket.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    MAIL_HOST: '127.0.0.1',
    MAIL_PORT: String(mail.port),
    // Shared, as between processes of several machines.
    JWT_SECRET: secret(),
    SESSION_SECRET: secret(),
    SECRET_ENCRYPTION_KEY: secret(),
    ...models,
  };
  const begin = async (more: Settings): Promise<{ running: Running; url: string }> => {
    const cwd = emptyFolder();
    const running = questline(['start', '--host', '127.0.0.1'], { cwd, env: { ...env, ...more } });
    const [, url = ''] = await running.until(/listens on (\S+)/);
    return { running, url };
  };
  const { running, url } = await begin({});
  return {
    running,
    url,
    async code(email) {
      const find = () =>
        mail.arrived
          .filter(({ to }) => to.includes(email))
          .map(({ mail: { text } }) => /is (\d{6})\./.exec(text ?? '')?.[1])
          .at(-1);
      await expect.poll(find, { timeout: 120_000 }).toBeDefined();
      return find() ?? '';
    },
    async getKeepers(bytes) {
      const contents = await getContents(bucket);
      return [...contents].filter(([, content]) => content.equals(bytes)).map(() => 'bucket');
    },
    async another() {
      const door = await openDoor(bucket.endpoint);
      return { ...(await begin({ S3_PUBLIC_ENDPOINT: door })), origins: [door] };
    },
  };
}

/** Whether all services are available. If everything must be tested, a missing one is a failure. */
export async function hasServices(): Promise<boolean> {
  const client = new pg.Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: 5000 });
  const reached = await client.connect().then(
    () => client.end().then(() => true),
    (error: unknown) => {
      if (process.env.CI === 'true') throw error;
      return false;
    },
  );
  const redis = await startOwnServer();
  await redis?.close();
  const found = reached && redis !== undefined && (await findServer()) !== undefined;
  if (!found) console.warn('not run: PostgreSQL, Redis or an S3-compatible server is missing');
  return found;
}

async function ownSchema(): Promise<string> {
  const schema = `journey_${randomBytes(6).toString('hex')}`;
  const run = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: POSTGRES_URL });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await run(`create schema ${schema}`);
  onTestFinished(() => run(`drop schema ${schema} cascade`));
  return `${POSTGRES_URL}?options=-csearch_path%3D${schema}`;
}

/** A proxy with the CORS rules of a bucket that allows every origin. @returns its address. */
async function openDoor(endpoint: string): Promise<string> {
  const { hostname, port } = new URL(endpoint);
  const door = createServer((incoming, outgoing) => {
    const rules = {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'content-type',
    };
    if (incoming.method === 'OPTIONS') return void outgoing.writeHead(204, rules).end();
    // The Host header must stay as it was signed.
    const { method, url: path, headers } = incoming;
    const inner = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...rules });
      answer.pipe(outgoing);
    });
    inner.on('error', () => outgoing.destroy());
    incoming.pipe(inner);
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  onTestFinished(() => {
    door.closeAllConnections();
    door.close();
  });
  return `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
}

function secret(): string {
  return randomBytes(32).toString('hex');
}
