import { createMemoryStore } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { answerLegacyTaskMethod } from '../src/legacy-tasks.ts';
import { OperationRefused } from '../src/runner.ts';
import { createTaskRecords } from '../src/task-records.ts';
import { createCall } from './tool-calls.ts';

const ID = '0123456789abcdef01234567';
const LATER = '2026-06-01T12:00:05.000Z';

/** Asks about a task of each kind of work, with these answers of operations. */
async function ask(method: string, answers: Parameters<typeof createCall>[0], params: object = {}) {
  const services = { store: createMemoryStore(), clock: createFakeClock() };
  const own = createCall(answers, { services });
  const records = createTaskRecords(own);
  for (const kind of ['execution', 'quest']) await records.add(`${kind}_${ID}`, 1000);
  const parts = { services, maxWaitMs: 1000 } as unknown as Parameters<typeof answerLegacyTaskMethod>[0];
  const context = { ...own, params, count: async () => undefined } as unknown as Parameters<
    typeof answerLegacyTaskMethod
  >[2];
  return answerLegacyTaskMethod(parts, method, context);
}

const execution = { taskId: `execution_${ID}` };

describe('a task of revision 2025-11-25', () => {
  it('has the time of the last change of its work', async () => {
    const answers = {
      getAgentExecution: { status: 'running', updated_at: LATER },
      getQuest: { status: 'running', updatedAt: LATER },
    };
    const { tasks } = await ask('tasks/list', answers);
    expect(tasks).toMatchObject([{ lastUpdatedAt: LATER }, { lastUpdatedAt: LATER }]);
  });

  it('is unknown after its work was deleted, and is listed no more', async () => {
    const answers = { getAgentExecution: { status: 'running' } };
    const { tasks } = await ask('tasks/list', answers);
    expect(tasks).toMatchObject([execution]);
    await expect(ask('tasks/get', answers, { taskId: `quest_${ID}` })).rejects.toMatchObject({
      ...{ code: -32602, message: expect.stringContaining('Task not found') },
    });
  });

  it('has the refusal of its work', async () => {
    const answers = { getAgentExecution: new OperationRefused(403, 'not allowed', undefined) };
    for (const method of ['tasks/get', 'tasks/list']) {
      await expect(ask(method, answers, execution)).rejects.toMatchObject({
        ...{ code: -32000, message: 'not allowed', data: { status: 403 } },
      });
    }
  });

  it('is not cancelled if its work has ended before the cancellation', async () => {
    const answers = {
      getAgentExecution: { status: 'running' },
      cancelAgentExecution: { status: 'completed' },
    };
    await expect(ask('tasks/cancel', answers, execution)).rejects.toMatchObject({
      ...{ code: -32602, message: 'The task has ended' },
    });
    const cancelled = { ...answers, cancelAgentExecution: { status: 'aborted' } };
    expect(await ask('tasks/cancel', cancelled, execution)).toMatchObject({ status: 'cancelled' });
  });
});
