import { answered, createToolbox, defineTool } from '@questline/core';
import { estimateInput, promptSize } from '@questline/core/internal';
import { type ModelInfo, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerParts, createChatApp, sayAtOnce } from '../support/chat.ts';
import { callTool, createExecutionApp } from '../support/execution.ts';
import { addMemento } from '../support/mementos.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';

const SMALL: ModelInfo = { ...SCRIPTED_MODEL, contextWindow: 4000, maxOutputTokens: 500 };

/** A tool whose schema has about this many characters. */
const bigTool = (size: number, answer = 600) =>
  createToolbox([
    defineTool({
      id: 'look_up',
      description: 'd'.repeat(size),
      input: z.object({}),
      offered: 'default',
      run: () => answered('r'.repeat(answer)),
    }),
  ]);

describe('request of a turn to a model with a small context', () => {
  it.each([1000, 2000, 3000, 4000])(
    'leaves room for the answer beside tools of %i characters, in each round',
    async (size) => {
      const model = createScriptedProvider(
        (call) => {
          const last = call.request.messages.at(-1)?.content[0];
          const isAsked = JSON.stringify(call.request.messages.at(-1)).includes('Look');
          if (last?.type !== 'tool_result' && isAsked) callTool(call, 'look_up', {});
          else sayAtOnce('y'.repeat(600))(call);
        },
        [SMALL],
      );
      const app = await createChatApp({
        model,
        settings: { admin: { DefaultAPIModel: 'scripted' }, tools: [bigTool(size)] },
      });
      const ask = (message: string, more: object = {}) =>
        app.chat({ message, wait: true, historyCount: 20, ...more });
      const { sessionId } = (await ask('x'.repeat(600))).body;
      for (let turn = 0; turn < 6; turn += 1) {
        await app.clock.advance(1);
        await ask('x'.repeat(600), { sessionId });
      }
      await app.clock.advance(1);
      const before = app.calls.length;
      await ask('Look', { sessionId, tools: ['look_up'] });
      const requests = app.calls.slice(before).map(({ request }) => request);
      expect(requests).toHaveLength(2);
      for (const { messages, tools = [], maxTokens } of requests) {
        const used = estimateInput(promptSize({ messages, tools })) + maxTokens;
        expect(used).toBeLessThanOrEqual(SMALL.contextWindow);
      }
      for (const { tools = [] } of requests) expect(tools.map(({ name }) => name)).toEqual(['look_up']);
      // Some of the history is left, and some is left out.
      const count = requests[0]?.messages.length ?? 0;
      expect(count).toBeGreaterThan(2);
      expect(count).toBeLessThan(16);
    },
  );
});

describe('request for a plan', () => {
  const isPlanning = (call: ModelCall): boolean =>
    JSON.stringify(call.request.messages).includes('You are a planner');
  const plan = JSON.stringify({
    tasks: ['a', 'b'].map((id) => ({ id, title: id, instructions: `Do ${id}.`, dependsOn: [] })),
  });

  it.each([
    [['low', 'high'] as const, 'low'],
    [['none', 'high'] as const, undefined],
    [undefined, undefined],
  ])(
    'has low effort where the model supports it, and the answers have that of the model: %j',
    async (efforts, expected) => {
      const info: ModelInfo = { ...SCRIPTED_MODEL, ...(efforts && { reasoningEfforts: efforts }) };
      const model = createScriptedProvider(
        (call) => {
          call.say(...answerParts(isPlanning(call) ? plan : 'Done.'));
          call.end();
        },
        [info],
      );
      const app = await createChatApp({ model });
      const { body } = await app.chat({ message: 'Compare both', enableQuestMaster: true, wait: true });
      expect(body).toMatchObject({ type: 'message', response: 'Done.' });
      expect(app.calls.map((call) => [isPlanning(call), call.request.reasoningEffort])).toEqual([
        [true, expected],
        ...Array.from({ length: 3 }, () => [false, undefined]),
      ]);
      const [planning, ...others] = app.calls.map(({ request }) => request);
      expect(planning?.promptCache).toEqual({ mode: 'off' });
      expect(planning?.maxTokens).toBeLessThan(Number(others[0]?.maxTokens));
      for (const { promptCache } of others) expect(promptCache).not.toEqual({ mode: 'off' });
    },
  );
});

describe('requests of a run to a model with a small context', () => {
  it('leave room for the answer in every round, and keep the task', async () => {
    const model = createScriptedProvider((call) => callTool(call, 'look_up', {}), [SMALL]);
    const app = await createExecutionApp({
      model,
      settings: { admin: { DefaultAPIModel: 'scripted' }, tools: [bigTool(500, 1500)] },
    });
    await app.run({ max_iterations: 12, message: 'The task' });
    await app.settle();
    expect(app.calls).toHaveLength(12);
    for (const { messages, tools = [], maxTokens } of app.calls.map(({ request }) => request)) {
      const used = estimateInput(promptSize({ messages, tools })) + maxTokens;
      expect(used).toBeLessThanOrEqual(SMALL.contextWindow);
      expect(messages.filter(({ content }) => JSON.stringify(content).includes('The task'))).toHaveLength(1);
    }
    expect(app.calls.at(-1)?.request.messages.length).toBeLessThan(20);
  });

  it('leave out nothing where the size of the context is unknown', async () => {
    const model = createScriptedProvider(
      (call) => callTool(call, 'look_up', {}),
      [{ ...SMALL, contextWindow: 0 }],
    );
    const app = await createExecutionApp({
      model,
      settings: { admin: { DefaultAPIModel: 'scripted' }, tools: [bigTool(500, 1500)] },
    });
    await app.run({ max_iterations: 12 });
    await app.settle();
    expect(app.calls.map(({ request }) => request.messages.length)).toEqual(
      Array.from({ length: 12 }, (_, round) => 2 + 2 * round),
    );
  });
});

describe('request to a fallback model', () => {
  const THINKER: ModelInfo = { ...SCRIPTED_MODEL, id: 'thinker', supportsThinking: true };
  const PLAIN: ModelInfo = { ...SCRIPTED_MODEL, id: 'plain', supportsTools: false };

  it('contains tools and reasoning only where the model supports them', async () => {
    const model = createScriptedProvider(
      (call) => {
        if (call.request.model !== 'plain') throw new ProviderError('not_configured', 'down');
        sayAtOnce('Hello.')(call);
      },
      [SCRIPTED_MODEL, THINKER, PLAIN],
    );
    const app = await createExecutionApp({
      model,
      settings: { admin: { DefaultAPIModel: 'scripted' }, fallbacks: { thinker: ['plain'] } },
    });
    const thinking = { enabled: true, budget_tokens: 2000 };
    const { id } = (await app.run({ model: 'thinker', thinking, tools: ['calculator'] })).body;
    await app.settle();
    expect((await app.look(id)).status).toBe('completed');
    const [first, second] = app.calls.map(({ request }) => request);
    expect(first).toMatchObject({ model: 'thinker', thinking: { budgetTokens: 2000 } });
    expect(first?.tools?.map(({ name }) => name)).toContain('calculator');
    expect(second).toMatchObject({ model: 'plain' });
    for (const field of ['thinking', 'tools', 'toolChoice']) expect(second).not.toHaveProperty(field);
  });
});

describe('marks for the cache of a provider', () => {
  const getMarks = (call: ModelCall | undefined) =>
    call?.request.messages.map(({ role, cacheBreakpoint = false }) => [role, cacheBreakpoint]);

  it('are at the end of each round that may go on, and not at the end of the last one', async () => {
    const app = await createExecutionApp({
      onCall(call) {
        if (call.request.toolChoice === 'none') sayAtOnce('Done.')(call);
        else callTool(call, 'calculator', { expression: '1' });
      },
    });
    await app.run({ max_iterations: 3 });
    await app.settle();
    const [system, task, ...rounds] = getMarks(app.calls.at(-1)) ?? [];
    expect(getMarks(app.calls[1])?.slice(2)).toEqual([
      ['assistant', false],
      ['user', true],
    ]);
    expect([system, task?.[0]]).toEqual([['system', false], 'user']);
    expect(rounds).toEqual([
      ['assistant', false],
      ['user', false],
      ['assistant', false],
      ['user', false],
    ]);
  });

  it('are not added to a request without tools, which has no list of tools', async () => {
    const app = await createChatApp();
    await addMemento(app, { id: '1'.repeat(24), text: 'The user keeps bees.' });
    await app.chat({ message: 'How are my bees?', enableMementos: true, wait: true });
    expect(app.calls[0]?.request).not.toHaveProperty('tools');
    // Mementos are of this turn only: the next turn does not begin in the same way.
    expect(JSON.stringify(app.calls[0]?.request.messages.at(-1))).toContain('keeps bees');
    expect(getMarks(app.calls[0])?.at(-1)).toEqual(['user', false]);
  });
});
