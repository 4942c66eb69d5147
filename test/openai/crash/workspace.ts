import { setTimeout as wait } from 'node:timers/promises';
import { createApi, createServices } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { Clock, ModelPart, ModelProvider, ToolRegistry } from '@questline/core/ports';
import { createOpenAIApi } from '@questline/openai';
import { createSqlPorts } from '@questline/sql';
import { connect } from '../../../packages/sql/test/connect.ts';
import type { EngineAddress } from '../../../packages/sql/test/engines.ts';
import { SCRIPTED_MODEL } from '../../support/model.ts';
import { createToolServer } from '../support-mcp.ts';

export interface Address {
  readonly engine: EngineAddress;
  /** Where the model stops. */
  readonly stopsAt:
    | 'nowhere'
    | 'the beginning'
    | 'the middle'
    | 'the search'
    | 'the approved call'
    | 'the beginning, for some seconds';
  /** Time passes `times` as fast, from `since` on. Default: as it does. */
  readonly speed?: { readonly since: number; readonly times: number };
}

const LEASE_MS = 3000;
const SOME_SECONDS = 8;

/** A complete service on one database, as each process opens it. */
export async function openWorkspace({ engine, stopsAt, speed }: Address, onError: (error: unknown) => void) {
  const clock = speed === undefined ? createSystemClock() : createFastClock(speed);
  const ids = createIds({ clock });
  const { database, close } = connect(engine);
  const services = createServices(
    {
      ...createSqlPorts(database, { clock, ids }),
      models: [createModel(stopsAt)],
      web: { search: forever },
      clock,
      ids,
    },
    {
      jwtSecret: 'a'.repeat(64),
      tools: [createNotes(stopsAt)],
      worker: { leaseMs: LEASE_MS, pollMs: 50 },
      onError: ({ error }) => onError(error),
    },
  );
  const api = createApi(services, { worker: false });
  const { handle } = createOpenAIApi(services, { basePath: '/openai' });
  return { services, api: { ...api, handle }, close };
}

function createFastClock({ since, times }: NonNullable<Address['speed']>): Clock {
  const clock = createSystemClock();
  return {
    now: () => since + Math.round((clock.now() - since) * times),
    timer: (delayMs, ring) => clock.timer(delayMs / times, ring),
  };
}

function createModel(stopsAt: Address['stopsAt']): ModelProvider {
  const models = [SCRIPTED_MODEL];
  return {
    id: 'scripted',
    models: () => models,
    async generate() {
      return answer(stopsAt);
    },
  };
}

async function* answer(stopsAt: Address['stopsAt']): AsyncGenerator<ModelPart> {
  if (stopsAt === 'the beginning') await forever();
  if (stopsAt === 'the beginning, for some seconds') await wait(SOME_SECONDS * 1000);
  if (stopsAt === 'the search') {
    yield { type: 'tool_use', id: 'c1', name: 'web_search', arguments: '{"query":"three"}' };
    yield { type: 'usage', usage: { input: 10, output: 3 } };
    yield { type: 'finish', reason: 'tool_use' };
    return;
  }
  yield { type: 'text', text: 'One two ' };
  yield { type: 'text', text: 'three' };
  if (stopsAt === 'the middle') await forever();
  yield { type: 'usage', usage: { input: 10, output: 3 } };
  yield { type: 'finish', reason: 'stop' };
}

/** A tool server that writes what it was asked, and then, at `the approved call`, answers never. */
function createNotes(stopsAt: Address['stopsAt']): ToolRegistry {
  const { registry, ...notes } = createToolServer();
  return {
    ...registry,
    async run(call, context) {
      if (stopsAt === 'the approved call') await forever();
      return notes.answer(call, context);
    },
  };
}

async function forever(): Promise<never> {
  for (;;) await wait(1000);
}
