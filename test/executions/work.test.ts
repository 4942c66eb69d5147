import { setImmediate as turn } from 'node:timers/promises';
import { COLLECTIONS } from '@questline/core';
import { type PromptContext, STEPS } from '@questline/core/internal';
import { StorageUnavailable, type Store } from '@questline/core/ports';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withLateWrites } from '../../packages/core/test/late-store.ts';
import { type ChatAppOptions, sayAtOnce, silent } from '../support/chat.ts';
import { callTool, createExecutionApp, type ExecutionApp } from '../support/execution.ts';
import { openFrames } from '../support/live-events.ts';
import type { ModelCall } from '../support/model.ts';
import { pass } from '../support/running-chat.ts';

/** Computes, and then answers with a reason to stop. */
function compute(call: ModelCall): void {
  if (call.request.messages.at(-1)?.content[0]?.type === 'tool_result') {
    call.say({ type: 'text', text: 'It is 42.' }, { type: 'finish', reason: 'max_tokens' });
    call.end();
  } else {
    callTool(call, 'calculator', { expression: '6*7' }, 'I compute.');
  }
}

async function readMessages({ json, sessionId }: ExecutionApp): Promise<readonly string[]> {
  const { body } = await json('GET', `/api/v1/sessions/${sessionId}/messages`);
  return body.data.map(({ content }: { content: string }) => content).sort();
}

const WHOLE = {
  status: 'completed',
  answer: 'It is 42.',
  stop_reason: 'max_tokens',
  total_iterations: 2,
  steps: [
    { type: 'thought', content: 'I compute.', iteration: 1 },
    { type: 'action', content: '{"expression":"6*7"}', iteration: 1, tool_name: 'calculator' },
    { type: 'observation', content: '42', iteration: 1, tool_name: 'calculator' },
    { type: 'final_answer', content: 'It is 42.', iteration: 2 },
  ],
};

describe('end of a run', () => {
  it('is seen with its last step and its messages, also where writes take effect late', async () => {
    const app = await createExecutionApp({ onCall: compute, store: withLateWrites });
    const { id } = (await app.run()).body;
    let run = await app.look(id);
    for (let turns = 0; turns < 1000 && run.status !== 'completed'; turns += 1) {
      await turn();
      run = await app.look(id);
    }
    expect(run).toMatchObject(WHOLE);
    expect(await readMessages(app)).toEqual(['Do it', 'It is 42.']);
  });

  it('is written whole or not at all, where its last step cannot be stored', async () => {
    let left = 1;
    const failing = (store: Store): Store => ({
      ...store,
      transaction: (work, options) => store.transaction((inner) => work(failing(inner)), options),
      collection(definition) {
        const collection = store.collection(definition);
        return {
          ...collection,
          insert(record) {
            const isLast =
              definition.name === STEPS.name && 'type' in record && record.type === 'final_answer';
            if (!isLast || left === 0) return collection.insert(record);
            left -= 1;
            return Promise.reject(new StorageUnavailable('broken off'));
          },
        };
      },
    });
    const app = await createExecutionApp({ onCall: compute, store: failing });
    const { id } = (await app.run()).body;
    await app.settle();
    expect([left, (await app.look(id)).status, await readMessages(app)]).toEqual([0, 'running', []]);
    for (let seconds = 0; seconds < 120; seconds += 1) await pass(app, 1000);
    expect(await app.look(id)).toMatchObject({
      ...{ status: 'failed', answer: null, error: expect.stringContaining('interrupted') },
      steps: WHOLE.steps.slice(0, 3),
    });
    expect([await readMessages(app), app.calls.length]).toEqual([['Do it'], 2]);
  });

  it('is written in one step, where the store can', async () => {
    let transactions = 0;
    const app = await createExecutionApp({
      ...(await openSqlite()),
      onCall: sayAtOnce('At once.'),
      store: (store) => ({
        ...store,
        transaction: (...given) => {
          transactions += 1;
          return store.transaction(...given);
        },
      }),
    });
    const { id } = (await app.run()).body;
    transactions = 0;
    await app.settle();
    await app.settle();
    expect(await app.look(id)).toMatchObject({ status: 'completed', answer: 'At once.' });
    expect([transactions, await readMessages(app)]).toEqual([0, ['At once.', 'Do it']]);
  });
});

it('a run is followed while it works', async () => {
  const app = await createExecutionApp({ onCall: silent });
  const { id } = (await app.run()).body;
  await app.settle();
  const reader = openFrames(await app.ask('GET', `/api/v1/agent-executions/${id}/events`));
  expect((await reader.next())?.data).toMatchObject({ type: 'snapshot', state: { id, status: 'running' } });
  const [call] = app.calls;
  call?.say({ type: 'text', text: 'It is 42.' });
  await pass(app);
  expect((await reader.next())?.data).toEqual({ type: 'step', iteration: 1 });
  expect((await reader.next())?.data).toEqual({ type: 'text', text: 'It is 42.' });
  call?.end();
  await app.settle();
  let last = await reader.next();
  for (let next = last; next !== undefined; next = await reader.next()) last = next;
  expect(last?.data).toEqual({ type: 'end', state: await app.look(id) });
});

it.each([
  [true, true],
  [false, false],
  [undefined, false],
])('prompt sources know whether a run uses mementos: %s', async (enable_mementos, mementos) => {
  const seen: PromptContext['features'][] = [];
  const app = await createExecutionApp({
    onCall: compute,
    services: (services) => ({
      ...services,
      promptSources: [
        ...services.promptSources,
        ({ features }: PromptContext) => {
          seen.push(features);
          return [];
        },
      ],
    }),
  });
  await app.run({ enable_mementos });
  await app.settle();
  expect(seen).toEqual([{ questMaster: false, mementos, agents: false }]);
});

async function openSqlite(): Promise<Pick<ChatAppOptions, 'ports'>> {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: COLLECTIONS });
  return { ports: (given) => createSqlPorts(database, given) };
}
