import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { COLLECTIONS, createApi, createServices } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { ModelChunk, ModelInfo, ModelProvider } from '@questline/core/ports';
import { createPostgresDatabase, createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { createRandom } from '@questline/testing';
import pg from 'pg';
import type { EngineAddress } from '../../../packages/sql/test/engines.ts';
import { SCRIPTED_MODEL } from '../../support/model.ts';

export interface Address {
  readonly engine: EngineAddress;
  /** A file with one line per provider call, from all processes. */
  readonly calls: string;
}

/** Lease of a job: without a heartbeat for this time, another worker takes over. */
const LEASE_MS = 1000;
const WORDS = ['river', 'caf\u00e9 ', '\u{1f30d}', '\n\n', 'a "quoted" \\ word ', ' ', 'data: id: 5\n'];
const STEPS = 150;

const MODEL: ModelInfo = { ...SCRIPTED_MODEL, id: 'writer', provider: 'writer' };

/** A complete service on one database, as each process opens it. */
export async function openWorkspace({ engine, calls }: Address, onError: (error: unknown) => void) {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const { database, close } = connect(engine);
  await migrate(database, { collections: COLLECTIONS });
  const services = createServices(
    { ...createSqlPorts(database, { clock, ids }), models: [createWriter(calls)], clock, ids },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { DefaultAPIModel: MODEL.id },
      worker: { leaseMs: LEASE_MS, pollMs: 50 },
      onError: ({ error }) => onError(error),
    },
  );
  return { services, api: createApi(services, { worker: false }), close };
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
function createWriter(calls: string): ModelProvider {
  return {
    id: MODEL.provider,
    models: () => [MODEL],
    async generate({ messages }) {
      appendFileSync(calls, `${JSON.stringify(messages.at(-1)?.content)}\n`);
      return write();
    },
  };
}

async function* write(): AsyncGenerator<ModelChunk> {
  const random = createRandom(5);
  for (let step = 0; step < STEPS; step += 1) {
    await pause(10);
    if (step % 20 === 10) yield { type: 'thinking_delta', text: `thought ${step} ` };
    yield { type: 'text', text: `${step}${WORDS[random.below(WORDS.length)]}` };
  }
  yield { type: 'usage', usage: { input: 50, output: STEPS } };
  yield { type: 'finish', reason: 'stop' };
}
