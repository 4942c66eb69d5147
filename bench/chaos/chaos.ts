import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createServices, createUser, issueApiKey } from '@questline/core';
import { OFFERED_SCOPES } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createPostgresDatabase, createSqlPorts } from '@questline/sql';
import { createRandom } from '@questline/testing';
import { type OwnPostgres, startOwnPostgres } from '../../test/support/postgres-server.ts';
import { type Audit, audit, countHolds, countOpenWork, findOverdrawn } from './audits.ts';
import { planFaults, runFaults } from './faults.ts';
import { startFleet } from './fleet.ts';
import { createMemory, type Memory } from './memory.ts';
import { createOperations } from './operations.ts';
import { startOwnRedis } from './redis.ts';

export interface ChaosOptions {
  /** The programs of PostgreSQL. */
  readonly programs: string;
  /** The same seed repeats the faults and the operations. */
  readonly seed: number;
  readonly seconds: number;
  /** Faults happen only in the first seconds, so that the work of killed processes ends within the run. */
  readonly faultSeconds: number;
  readonly say: (line: string) => void;
}

export interface ChaosResult {
  readonly memory: Memory;
  readonly audits: readonly Audit[];
  readonly faults: ReadonlyMap<string, number>;
  /** Processes that ended by themselves. */
  readonly ends: readonly string[];
  readonly holdsAfterLoad: number;
}

const PROCESSES = 3;
const PER_SECOND = 26;
const MAX_AT_ONCE = 120;
/** Credits of the accounts. The last one is out of credit most of the time. */
const CREDITS = [100_000, 100_000, 100_000, 100_000, 30];
/** Of so many operations, at least one must have become a quest, and one a completion that reported its charge. */
const MIN_SHARE = 20;
/** A killed process's jobs are leased for a minute; a quest may lose its process twice. */
const SETTLE_MS = 200_000;
/** Holds of killed processes end with their lease, after 25 seconds, and are swept every minute. */
const HOLDS_MS = 90_000;
const SECRETS = { JWT_SECRET: 'a', SESSION_SECRET: 'b', SECRET_ENCRYPTION_KEY: 'c' };

/** Runs the self-hosted server in three processes under load while its processes and stores break, then audits. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { programs, seed, seconds, faultSeconds, say } = options;
  const folder = await mkdtemp(join(tmpdir(), 'questline-chaos-'));
  const random = createRandom(seed);
  const [postgresPort = 0, redisPort = 0, ...ports] = await freePorts(PROCESSES + 2);
  const closing: (() => Promise<void>)[] = [];
  let isClean = false;
  try {
    const postgres = await startOwnPostgres(programs, folder, postgresPort);
    closing.push(postgres.stop);
    const redis = await startOwnRedis(redisPort);
    closing.push(redis.stop);
    const secrets = Object.entries(SECRETS).map(([name, letter]) => [name, letter.repeat(64)]);
    const fleet = await startFleet(ports, folder, {
      ...Object.fromEntries(secrets),
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      QUESTLINE_SELF_HOST: 'false',
      PAID_CALLS_PER_DAY: '1000000',
    });
    closing.push(fleet.stop);
    const keys = await openAccounts(postgres);
    say(`started; logs in ${folder}`);

    const memory = createMemory();
    const overdrawn = new Set<string>();
    const watching = setInterval(() => {
      findOverdrawn(postgres.pool).then(
        (rows) => {
          for (const row of rows) overdrawn.add(row);
        },
        () => undefined,
      );
    }, 500);
    const operations = createOperations();
    const client = { memory, keys, urls: fleet.urls };
    const breaking = runFaults(
      planFaults(createRandom(seed + 1), faultSeconds * 1000),
      { postgres, redis, fleet },
      say,
    );
    const underWay = new Set<Promise<void>>();
    const began = performance.now();
    for (let number = 0; number < seconds * PER_SECOND; number += 1) {
      await pause(Math.max(0, began + (number * 1000) / PER_SECOND - performance.now()));
      // Operations draw their own numbers, whatever the order in which they continue.
      const operation = random.pick(operations.bag);
      if (underWay.size >= MAX_AT_ONCE) continue;
      const running = operation(client, createRandom(seed * 100_003 + number), number);
      underWay.add(running);
      void running.finally(() => underWay.delete(running));
    }
    const faults = await breaking;
    await Promise.all(underWay);
    await operations.close();
    say(`${memory.quests.size} quests accepted; waiting for the end of all work`);
    await until(async () => (await countOpenWork(postgres.pool)) === 0, SETTLE_MS);
    const holdsAfterLoad = await countHolds(postgres.pool);
    say(`${holdsAfterLoad} holds are open`);
    await until(async () => (await countHolds(postgres.pool)) === 0, HOLDS_MS);
    clearInterval(watching);
    const audits = [
      ...(await audit(postgres.pool, memory)),
      { name: 'accounts below 0 during the run', wrong: [...overdrawn] },
      { name: 'too little work', wrong: findIdleParts(memory, seconds * PER_SECOND) },
      { name: 'holds left', wrong: Array<string>(await countHolds(postgres.pool)).fill('a hold') },
    ];
    isClean = audits.every(({ wrong }) => wrong.length === 0);
    return { memory, audits, faults, ends: [...fleet.ends], holdsAfterLoad };
  } finally {
    for (const close of closing.reverse()) await close().catch((error: unknown) => say(String(error)));
    if (isClean) await rm(folder, { recursive: true, force: true });
    else say(`the logs are kept: ${folder}`);
  }
}

/** A run without work has no faults to find. @param sent how many operations were begun at most. */
function findIdleParts({ quests, reported }: Memory, sent: number): string[] {
  const least = Math.floor(sent / MIN_SHARE);
  const counts = { 'quests accepted': quests.size, 'completions reported': reported.size };
  return Object.entries(counts).flatMap(([what, count]) =>
    count < least ? [`${count} ${what}, fewer than ${least} of ${sent}`] : [],
  );
}

async function until(isTrue: () => Promise<boolean>, withinMs: number): Promise<void> {
  for (const end = Date.now() + withinMs; Date.now() < end; await pause(500)) {
    if (await isTrue().catch(() => false)) return;
  }
}

/** @returns a key for each account. */
async function openAccounts({ pool }: OwnPostgres): Promise<string[]> {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const database = createPostgresDatabase({ pool, prefix: 'questline_demo_' });
  const ports = createSqlPorts(database, { clock, ids });
  const services = createServices({ ...ports, models: [], clock, ids }, { jwtSecret: 'a'.repeat(64) });
  const keys: string[] = [];
  for (const [at, credits] of CREDITS.entries()) {
    const user = await createUser(services, { email: `chaos-${at}@example.com`, username: `chaos-${at}` });
    if (user === undefined) throw new Error('the user exists');
    const account = `user:${user.id}`;
    await services.ledger.grant({ account, amount: credits * 1e6, key: 'chaos', reason: 'chaos' });
    const limits = { requestsPerMinute: 100_000, requestsPerDay: 1_000_000 };
    const { key } = await issueApiKey(services, {
      userId: user.id,
      name: 'chaos',
      scopes: OFFERED_SCOPES,
      ...limits,
    });
    keys.push(key);
  }
  return keys;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
