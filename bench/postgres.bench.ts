/**
 * Compares operations on PostgreSQL with a bare server that does the same to the same tables in few prepared statements.
 * CPU is the server process's own and that of its backends, which must be on this machine; windows alternate, and the median
 * of their ratios is reported.
 */
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { NOT_MEASURED, readBackendTime } from './support/backends.ts';
import { hammer, type Scenario } from './support/hammer.ts';
import { complete } from './support/load.ts';
import { type Measured, start } from './support/process.ts';
import { median, reportRatio } from './support/report.ts';

const PAIRS = Number(process.env.BENCH_PAIRS ?? 5);
const SHARE = Number(process.env.BENCH_SHARE ?? 1);
const CONCURRENCY = 16;
const SESSIONS = 64;
const MESSAGE = 'Tell me a short story about a lighthouse keeper and a storm.';
const URL_OF_TESTS = process.env.QUESTLINE_TEST_POSTGRES_URL;

interface Side {
  readonly server: Measured;
  readonly database: string;
  readonly reader: Pool;
  readonly sessions: readonly string[];
  readonly quest: string;
}

interface Operation {
  readonly name: string;
  readonly goal: number;
  readonly requests: number;
  run(side: Side, requests: number): Promise<unknown>;
}

const byScenario =
  (create: (side: Side) => Scenario): Operation['run'] =>
  (side, requests) =>
    hammer(side.server.url, { requests, concurrency: CONCURRENCY }, create(side));

const OPERATIONS: readonly Operation[] = [
  {
    ...{ name: 'a chat with its turn', goal: 1.4, requests: 1500 },
    run: byScenario(({ sessions }) => {
      let number = 0;
      return async (ask) => {
        number += 1;
        const sessionId = sessions[number % sessions.length];
        await ask('POST', '/api/chat', JSON.stringify({ message: MESSAGE, sessionId }));
      };
    }),
  },
  {
    ...{ name: 'a poll', goal: 1.3, requests: 6000 },
    run: byScenario(
      ({ quest }) =>
        async (ask) =>
          void (await ask('GET', `/api/v1/quests/${quest}`)),
    ),
  },
  {
    ...{ name: 'a list of sessions', goal: 1.3, requests: 6000 },
    run: byScenario(() => async (ask) => void (await ask('GET', '/api/v1/sessions'))),
  },
  {
    ...{ name: 'a completion of 8 events', goal: 1.1, requests: 2500 },
    run: ({ server }, requests) => complete(server.url, { requests, concurrency: CONCURRENCY }),
  },
];

async function compare(connectionString: string): Promise<void> {
  const pool = new Pool({ connectionString, max: 1 });
  const upstream = await start('upstream', 'upstream.ts');
  const databases = ['questline', 'bare'].map((name) => `bench_${name}_${process.pid}`);
  const servers: Measured[] = [];

  const readers: Pool[] = [];

  const isQuiet = async ({ reader }: Side): Promise<boolean> => {
    const { rows } = await reader.query<{ count: string }>('select count(*) from questline_jobs');
    return Number(rows[0]?.count) === 0;
  };
  const open = async (name: string, database: string): Promise<Side> => {
    await pool.query(`create database ${database}`);
    const url = new URL(connectionString);
    url.pathname = `/${database}`;
    const environment = { DATABASE_URL: url.href, UPSTREAM: `${upstream.url}/burst8/v1` };
    const server = await start(name, `servers/${name}.ts`, environment);
    servers.push(server);
    const sessions: string[] = [];
    let quest = '';
    await hammer(server.url, { requests: SESSIONS, concurrency: 1 }, async (ask) => {
      const answer = JSON.parse(await ask('POST', '/api/chat', JSON.stringify({ message: MESSAGE })));
      sessions.push(answer.sessionId);
      quest = answer.id;
    });
    const reader = new Pool({ connectionString: url.href, max: 1, application_name: NOT_MEASURED });
    readers.push(reader);
    return { server, database, reader, sessions, quest };
  };
  /** CPU per request, in microseconds: Node and PostgreSQL. */
  const getCost = async (side: Side, { run, requests }: Operation, share: number) => {
    const count = Math.ceil(requests * share);
    const before = await side.server.read();
    const backendsBefore = await readBackendTime(pool, side.database);
    await run(side, count);
    while (!(await isQuiet(side))) await pause(50);
    const after = await side.server.read();
    const backends = (await readBackendTime(pool, side.database)) - backendsBefore;
    return { node: (after.cpu - before.cpu) / count, postgres: backends / count };
  };

  try {
    const [ours, bare] = [
      await open('questline-beside-bare', databases[0] ?? ''),
      await open('bare-postgres', databases[1] ?? ''),
    ];
    for (const operation of OPERATIONS) {
      for (const side of [bare, ours]) await getCost(side, operation, SHARE / 2);
      const costs = new Map([ours, bare].map((side) => [side, [] as { node: number; postgres: number }[]]));
      for (let index = 0; index < PAIRS; index += 1) {
        for (const side of index % 2 === 0 ? [bare, ours] : [ours, bare]) {
          costs.get(side)?.push(await getCost(side, operation, SHARE));
        }
      }
      const list = (side: Side) => costs.get(side) ?? [];
      const ratios = list(ours).map(({ node, postgres }, at) => {
        const other = list(bare)[at] ?? { node: 1, postgres: 1 };
        return (node + postgres) / (other.node + other.postgres);
      });
      const show = (side: Side): string => {
        const [node, postgres] = (['node', 'postgres'] as const).map((part) =>
          median(list(side).map((cost) => cost[part])).toFixed(0),
        );
        return `${node} + ${postgres} us`;
      };
      reportRatio(
        `${operation.name}, Node + PostgreSQL`,
        median(ratios),
        operation.goal,
        `${show(ours)} (bare ${show(bare)}); load ${loadavg()[0]?.toFixed(1)}`,
      );
    }
  } finally {
    for (const reader of readers) await reader.end();
    for (const server of [...servers, upstream]) await server.stop();
    for (const database of databases) await pool.query(`drop database if exists ${database} with (force)`);
    await pool.end();
  }
}

if (URL_OF_TESTS === undefined) console.log('QUESTLINE_TEST_POSTGRES_URL is not set: not measured');
else await compare(URL_OF_TESTS);
