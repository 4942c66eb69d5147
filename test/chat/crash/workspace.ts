import {
  COLLECTIONS,
  createApi,
  createServices,
  createStoreQueue,
  type ModelChunk,
  type ModelInfo,
  type ModelProvider,
  ProviderError,
} from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { IMAGE_MODEL, PICTURE } from '../../support/media.ts';
import { SCRIPTED_MODEL } from '../../support/model.ts';

export interface Address {
  readonly path: string;
  /** `store`: the queue that any store gives; `sql`: the database's own. */
  readonly queue: 'store' | 'sql';
}

/** A worker that shows no sign of life for so long has vanished. */
const LEASE_MS = 400;

const STEADY: ModelInfo = { ...SCRIPTED_MODEL, id: 'steady', provider: 'slow' };
const FLAKY: ModelInfo = { ...STEADY, id: 'flaky' };
const PAINTER: ModelInfo = { ...IMAGE_MODEL, provider: 'slow' };

/** A whole service on one SQLite file, as every process on it has it. */
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
  return { services, api: createApi(services), close: () => database.close() };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Takes its time, so that a process can die at any moment of an answer. Rolls dice and plans when it is told to, and
 * knows what is asked after a turn.
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
      if (asked.includes('You plan work')) return plan();
      if (asked.includes('You keep a workspace tidy'))
        return sayAtOnce({ name: 'Steady work', summary: 'Words.' });
      const [, fact] = /You keep the memory .*remember (\w+)/.exec(asked) ?? [];
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

/** Two parts, side by side. */
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
