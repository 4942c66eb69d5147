import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { COLLECTIONS, createApi, createServices } from '@questline/core';
import { createIds, createMemoryPorts, createSystemClock } from '@questline/core/memory';
import type { Clock, Ids, ModelChunk, ModelInfo, ModelProvider } from '@questline/core/ports';
import { createRedisEventLog } from '@questline/redis';
import { createPostgresDatabase, createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { createRandom } from '@questline/testing';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { EngineAddress } from '../../../packages/sql/test/engines.ts';
import { SCRIPTED_MODEL } from '../../support/model.ts';

export interface Address {
  /** Absent: in the memory of one process. */
  readonly engine?: EngineAddress;
  /** Keeps the events. Absent: the engine does. */
  readonly redis?: { readonly url: string; readonly prefix: string };
  /** A file with one line per provider call, from all processes. */
  readonly calls: string;
  readonly answer: Answer;
}

/** The answer that the model writes. */
export interface Answer {
  /** Number of texts. */
  readonly steps: number;
  /** Milliseconds before each text. */
  readonly pauseMs: number;
  /** Additional characters of each text. Default 0. */
  readonly padding?: number;
}

/** Lease of a job: without a heartbeat for this time, another worker takes over. Longer than a busy machine may stop a process. */
const LEASE_MS = 3000;
const WORDS = ['river', 'caf\u00e9 ', '\u{1f30d}', '\n\n', 'a "quoted" \\ word ', ' ', 'data: id: 5\n'];

const MODEL: ModelInfo = { ...SCRIPTED_MODEL, id: 'writer', provider: 'writer' };

/** A complete service on one engine, as each process opens it. */
export async function openWorkspace(address: Address, onError: (error: unknown) => void) {
  const clock = createSystemClock();
  const tools = { clock, ids: createIds({ clock }) };
  const { ports, close } = await openPorts(address, tools);
  const services = createServices(
    { ...ports, models: [createWriter(address)], ...tools },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { DefaultAPIModel: MODEL.id },
      worker: { leaseMs: LEASE_MS, pollMs: 50 },
      onError: ({ error }) => onError(error),
    },
  );
  return { services, api: createApi(services, { worker: false }), close };
}

async function openPorts({ engine, redis }: Address, tools: { readonly clock: Clock; readonly ids: Ids }) {
  if (engine === undefined) return { ports: createMemoryPorts(tools), close: async () => undefined };
  const { database, close } = connect(engine);
  await migrate(database, { collections: COLLECTIONS });
  const ports = createSqlPorts(database, tools);
  if (redis === undefined) return { ports, close };
  const client = new Redis(redis.url);
  const eventLog = createRedisEventLog({ client, prefix: redis.prefix, timeoutMs: 20_000 });
  return {
    ports: { ...ports, eventLog },
    async close() {
      await client.quit();
      await close();
    },
  };
}

function connect(engine: EngineAddress) {
  if (engine.dialect === 'sqlite') {
    const database = createSqliteDatabase({ path: engine.path, timeoutMs: 20_000 });
    return { database, close: () => database.close() };
  }
  const pool = new pg.Pool({ connectionString: engine.url, max: 5 });
  const database = createPostgresDatabase({ pool, schema: engine.schema, timeoutMs: 20_000 });
  return { database, close: () => pool.end() };
}

/** Writes slowly, so that connections can break at any byte of an answer and a process at any moment of it. */
function createWriter({ calls, answer }: Address): ModelProvider {
  return {
    id: MODEL.provider,
    models: () => [MODEL],
    async generate({ messages }) {
      appendFileSync(calls, `${JSON.stringify(messages.at(-1)?.content)}\n`);
      return write(answer);
    },
  };
}

async function* write({ steps, pauseMs, padding = 0 }: Answer): AsyncGenerator<ModelChunk> {
  const random = createRandom(5);
  for (let step = 0; step < steps; step += 1) {
    await pause(pauseMs);
    // Different kinds of events are not joined to one.
    if (step % 3 === 1) yield { type: 'thinking_delta', text: `thought ${step} ` };
    yield { type: 'text', text: `${step}${random.pick(WORDS)}${'x'.repeat(padding)}` };
  }
  yield { type: 'usage', usage: { input: 50, output: steps } };
  yield { type: 'finish', reason: 'stop' };
}
