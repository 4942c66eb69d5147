import { COLLECTIONS } from '@questline/core';
import type { ModelContent, ModelPart } from '@questline/core/ports';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerParts, type ChatAppOptions, sayAtOnce, silent } from '../support/chat.ts';
import { callTool, createExecutionApp } from '../support/execution.ts';

type Thinking = Extract<ModelContent, { type: 'thinking' }>;

const thinking = (block: Thinking['block']): ModelPart => ({ type: 'thinking', block });

describe('thought of a round', () => {
  it.each([
    [
      'its text',
      [{ type: 'text', text: 'I compute.' }, thinking({ type: 'thinking', thinking: 'Hm.' })],
      'I compute.',
    ],
    [
      'its reasoning where it has no text',
      [
        thinking({ type: 'thinking', thinking: 'First. ' }),
        thinking({ type: 'thinking', thinking: 'Then.' }),
      ],
      'First. Then.',
    ],
    [
      'the readable part of its reasoning',
      [
        thinking({ type: 'redacted_thinking', data: 'xyz' }),
        thinking({ type: 'thinking', thinking: 'Seen.' }),
      ],
      'Seen.',
    ],
    [
      'absent where its reasoning cannot be read',
      [thinking({ type: 'redacted_thinking', data: 'xyz' })],
      undefined,
    ],
    ['absent without text and reasoning', [], undefined],
  ] as const)('is %s', async (_name, parts, expected) => {
    const app = await createExecutionApp({
      onCall(call) {
        if (call.request.messages.at(-1)?.content[0]?.type === 'tool_result') return sayAtOnce('Two.')(call);
        for (const part of parts) call.say(part);
        callTool(call, 'calculator', { expression: '1+1' });
      },
    });
    const { id } = (await app.run()).body;
    await app.settle();
    const { status, steps } = await app.look(id);
    expect(status).toBe('completed');
    const thoughts = steps.filter(({ type }: { type: string }) => type === 'thought');
    expect(thoughts.map(({ content }: { content: string }) => content)).toEqual(
      expected === undefined ? [] : [expected],
    );
  });
});

it('keeps the text of each round of a cancelled run as a paragraph', async () => {
  const app = await createExecutionApp({
    onCall(call) {
      const round = app.calls.length;
      if (round < 4)
        return callTool(call, 'calculator', { expression: '1' }, round === 2 ? '' : `Round ${round}.`);
      call.say({ type: 'text', text: 'Last ' }, { type: 'text', text: 'one.' });
    },
  });
  const { id } = (await app.run()).body;
  await app.settle();
  await app.json('POST', `/api/v1/agent-executions/${id}/cancel`);
  await app.settle();
  const quest = await app.poll(id);
  expect(quest).toMatchObject({ status: 'stopped', replies: ['Round 1.\n\nRound 3.\n\nLast one.'] });
});

async function openSqlite(): Promise<Pick<ChatAppOptions, 'ports'>> {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: COLLECTIONS });
  return { ports: (given) => createSqlPorts(database, given) };
}

describe.each([
  ['memory', async () => ({})],
  ['SQLite', openSqlite],
] as const)('slots of runs on %s', (_name, open) => {
  const MAX_RUNS = 3;

  it.each([[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]])(
    'are free for as many runs as have ended: %j %j %j',
    async (...ended: number[]) => {
      const app = await createExecutionApp({
        ...(await open()),
        onCall: silent,
        settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: MAX_RUNS },
      });
      const ids: string[] = [];
      for (let count = 0; count < MAX_RUNS; count += 1) ids.push((await app.run()).body.id);
      await app.settle();
      for (const place of ended) {
        const call = app.calls[place];
        call?.say(...answerParts('Done.'));
        call?.end();
      }
      await app.settle();
      const statuses: number[] = [];
      for (let count = 0; count <= ended.length; count += 1) statuses.push((await app.run()).status);
      expect(statuses).toEqual([...ended.map(() => 202), 409]);
    },
  );
});
