import { COLLECTIONS, createApi, createServices } from '@questline/core';
import { createStoreQueue } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { type ModelChunk, type ModelInfo, type ModelProvider, ProviderError } from '@questline/core/ports';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { IMAGE_MODEL, PICTURE } from '../../support/media.ts';
import { SCRIPTED_MODEL } from '../../support/model.ts';

export interface Address {
  readonly path: string;
  /** `store`: the generic queue on a store; `sql`: the queue of the database. */
  readonly queue: 'store' | 'sql';
}

/** Lease of a job: without a heartbeat for this time, another worker takes over. */
const LEASE_MS = 400;

const STEADY: ModelInfo = { ...SCRIPTED_MODEL, id: 'steady', provider: 'slow' };
const FLAKY: ModelInfo = { ...STEADY, id: 'flaky' };
const PAINTER: ModelInfo = { ...IMAGE_MODEL, provider: 'slow' };

/** A complete service on one SQLite file, as each process opens it. */
export async function openWorkspace({ path, queue }: Address, onError: (error: unknown) => void) {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const database = createSqliteDatabase({ path, timeoutMs: 10_000 });
  await migrate(database, { collections: COLLECTIONS });
  const ports = createSqlPorts(database, { clock, ids });
  const services = createServices(
    {
      ...ports,
      ...(queue === 'store' && { queue: createStoreQueue({ store: ports.store, clock, ids }) }),
      models: [createSlowProvider()],
      web: { fetchFile: async () => PICTURE },
      clock,
      ids,
    },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { DefaultAPIModel: 'steady' },
      fallbacks: { flaky: ['steady'] },
      enrichment: true,
      maxLiveExecutions: 1000,
      worker: { leaseMs: LEASE_MS, pollMs: 50 },
      onError: ({ error }) => onError(error),
    },
  );
  return { services, api: createApi(services, { worker: false }), close: () => database.close() };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Answers slowly, so that a kill can hit any moment of an answer. Calls the dice tool and plans on request,
 * and answers the prompts of follow-up jobs.
 */
function createSlowProvider(): ModelProvider {
  return {
    id: 'slow',
    models: () => [STEADY, FLAKY, PAINTER],
    async image({ count }) {
      await pause(Math.random() * 200);
      return { images: Array.from({ length: count }, () => PICTURE) };
    },
    async generate(request) {
      await pause(Math.random() * 20);
      if (request.model === 'flaky') throw new ProviderError('timeout', 'as always');
      const last = request.messages.at(-1)?.content[0];
      const asked = JSON.stringify(request.messages);
      if (asked.includes('You are a planner')) return plan();
      if (asked.includes('You write titles, summaries'))
        return sayAtOnce({ name: 'Steady work', summary: 'Words.' });
      const [, fact] = /You extract facts .*remember (\w+)/.exec(asked) ?? [];
      if (fact !== undefined) return sayAtOnce({ mementos: [{ text: `Likes ${fact}`, standing: false }] });
      const isRolling = last?.type === 'text' && last.text.startsWith('roll') && request.tools !== undefined;
      return isRolling ? roll() : answer();
    },
  };
}

async function* roll(): AsyncGenerator<ModelChunk> {
  await pause(Math.random() * 20);
  yield { type: 'tool_use', id: 'call', name: 'dice_roll', arguments: '{"sides":6}' };
  yield { type: 'usage', usage: { input: 50, output: 5 } };
}

/** Two parallel tasks. */
async function* plan(): AsyncGenerator<ModelChunk> {
  await pause(Math.random() * 20);
  const tasks = ['a', 'b'].map((id) => ({ id, title: id, instructions: `Do ${id}.`, dependsOn: [] }));
  yield { type: 'text', text: JSON.stringify({ tasks }) };
  yield { type: 'usage', usage: { input: 50, output: 20 } };
}

async function* sayAtOnce(said: object): AsyncGenerator<ModelChunk> {
  await pause(Math.random() * 100);
  yield { type: 'text', text: JSON.stringify(said) };
  await pause(Math.random() * 100);
  yield { type: 'usage', usage: { input: 50, output: 20 } };
}

async function* answer(): AsyncGenerator<ModelChunk> {
  const steps = Math.random() < 0.5 ? 1 : 30;
  for (let step = 0; step < steps; step += 1) {
    await pause(Math.random() * 40);
    yield { type: 'text', text: 'word ' };
  }
  yield { type: 'usage', usage: { input: 50, output: steps } };
  yield { type: 'finish', reason: 'stop' };
}
