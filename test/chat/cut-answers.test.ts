import type { ModelInfo, ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp, sayAtOnce } from '../support/chat.ts';
import { createExecutionApp } from '../support/execution.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';

const USAGE: ModelPart = { type: 'usage', usage: { input: 10, output: 0, reasoning: 500 } };
const CAPPED: ModelPart = { type: 'finish', reason: 'max_tokens' };
const THOUGHT: ModelPart = { type: 'thinking_delta', text: 'Hm. '.repeat(50) };

const end = (call: ModelCall, ...parts: ModelPart[]): void => {
  call.say(...parts);
  call.end();
};
const spent = (call: ModelCall): void => end(call, THOUGHT, USAGE, CAPPED);
const cut = (call: ModelCall): void => end(call, { type: 'text', text: 'Once upon a' }, USAGE, CAPPED);

describe('answer that reaches its output cap', () => {
  it('fails with a reason when it is empty, and is charged and stored', async () => {
    const app = await createChatApp({ onCall: spent });
    const { body } = await app.chat({ message: 'Think', wait: true });
    expect(body).toMatchObject({ status: 'done', type: 'error', stopReason: 'max_tokens' });
    expect(body.response).toMatch(/used its whole output limit/);
    const quest = await app.poll(body.id);
    expect(quest).toMatchObject({ type: 'error', stopReason: 'max_tokens', reply: body.response });
    expect(quest.promptMeta).toMatchObject({ credits: 5.1 });
  });

  it('is a message with a notice when it contains text', async () => {
    const app = await createChatApp({ onCall: cut });
    const { body } = await app.chat({ message: 'Tell', wait: true });
    expect(body).toMatchObject({ type: 'message', response: 'Once upon a', stopReason: 'max_tokens' });
    expect(await app.poll(body.id)).toMatchObject({ reply: 'Once upon a', stopReason: 'max_tokens' });
  });

  it('fails when only earlier rounds have text', async () => {
    const app = await createChatApp({
      onCall(call) {
        if (call.request.messages.length > 2) return spent(call);
        end(
          call,
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{}' },
          { type: 'finish', reason: 'tool_use' },
        );
      },
    });
    const { body } = await app.chat({ message: 'Roll', tools: ['dice_roll'], wait: true });
    expect(body).toMatchObject({ type: 'error', stopReason: 'max_tokens', responses: ['I look.'] });
  });

  it('does not complete a run when it is empty', async () => {
    const app = await createExecutionApp({ onCall: spent });
    const { id } = (await app.run()).body;
    await app.settle();
    const run = await app.look(id);
    expect(run).toMatchObject({ status: 'failed', answer: null, stop_reason: 'max_tokens' });
    expect(run.error).toMatch(/used its whole output limit/);
  });

  it('completes a run with a notice when it contains text', async () => {
    const app = await createExecutionApp({ onCall: cut });
    const { id } = (await app.run()).body;
    await app.settle();
    expect(await app.look(id)).toMatchObject({
      status: 'completed',
      answer: 'Once upon a',
      stop_reason: 'max_tokens',
    });
  });

  it('fails a single generation when it is empty', async () => {
    const app = await createChatApp({ onCall: spent });
    const { status, body } = await app.json('POST', '/api/infer', {
      body: { model: 'scripted', messages: [{ role: 'user', content: 'Why?' }] },
      credential: await app.token(),
    });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toMatch(/used its whole output limit/);
  });
});

describe('output cap', () => {
  const thinker: ModelInfo = {
    ...SCRIPTED_MODEL,
    id: 'thinker',
    contextWindow: 1_000_000,
    maxOutputTokens: 128_000,
    supportsThinking: true,
    prices: { input: 1, output: 1 },
  };
  const plain: ModelInfo = { ...thinker, id: 'plain', supportsThinking: false };
  const named: ModelInfo = { ...thinker, id: 'named', defaultMaxTokens: 50_000 };
  const small: ModelInfo = { ...thinker, id: 'small', contextWindow: 32_000, maxOutputTokens: 32_000 };
  const models = [thinker, plain, named, small, SCRIPTED_MODEL];

  it.each([
    ['thinker', 32_768],
    ['plain', 4096],
    ['named', 50_000],
    ['small', 8000],
  ])('of %s defaults to %i', async (model, expected) => {
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), models),
      credits: 1_000_000,
    });
    await app.chat({ message: 'Hi', model, wait: true });
    await (
      await app.ask('POST', '/api/ai/v1/completions', {
        body: { model, messages: [{ role: 'user', content: 'Hi' }] },
      })
    ).text();
    expect(app.calls.map(({ request }) => request.maxTokens)).toEqual([expected, expected]);
  });

  it('reserves nothing for reasoning that is disabled, and holds only what can be used', async () => {
    const quiet: ModelInfo = { ...thinker, id: 'quiet', reasoningEfforts: ['none', 'low', 'high'] };
    const held: number[] = [];
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), [quiet, thinker]),
      settings: { admin: {} },
      credits: 1_000_000,
      ledger: (ledger) => ({
        ...ledger,
        hold(request) {
          held.push(request.amount);
          return ledger.hold(request);
        },
      }),
    });
    for (const [model, more] of [
      ['quiet', {}],
      ['quiet', { reasoningEffort: 'none' }],
      ['thinker', { reasoningEffort: 'none' }],
      ['quiet', { reasoningEffort: 'none', max_tokens: 500 }],
    ] as const) {
      await (
        await app.ask('POST', '/api/ai/v1/completions', {
          body: { model, messages: [{ role: 'user', content: '12345' }], ...more },
        })
      ).text();
    }
    expect(app.calls.map(({ request }) => request.maxTokens)).toEqual([32_768, 4096, 32_768, 500]);
    // 2 input tokens and the cap, at 0.0001 credits each.
    expect(held).toEqual([32_770, 4098, 32_770, 502].map((tokens) => tokens * 100));
  });

  it('is lowered to the maximum of the model, which the answer reports', async () => {
    const app = await createExecutionApp({ onCall: sayAtOnce('Hello.') });
    const { body } = await app.chat({ message: 'Hi', maxTokens: 10_000.5, wait: true });
    expect(body).not.toHaveProperty('maxTokens');
    expect((await app.chat({ message: 'Hi', max_tokens: 20_000, wait: true })).body.maxTokens).toBe(10_000);
    expect((await app.run({ max_tokens: 20_000 })).body.max_tokens).toBe(10_000);
  });

  it('is lowered to the available credit by default, and rejected when requested explicitly', async () => {
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), models),
      // 0.0001 credits per token: enough for 16,384 output tokens and the input, not for 32,768.
      credits: 2,
    });
    const complete = async (more: object) =>
      app.ask('POST', '/api/ai/v1/completions', {
        body: { model: 'thinker', messages: [{ role: 'user', content: 'Hi' }], ...more },
      });
    expect((await (await complete({})).text()).includes('[DONE]')).toBe(true);
    expect((await complete({ max_tokens: 32_768 })).status).toBe(422);
    const { body } = await app.chat({ message: 'Hi', model: 'thinker', wait: true });
    expect(body).toMatchObject({ type: 'message', response: 'Hello.' });
    const named = await app.chat({ message: 'Hi', model: 'thinker', maxTokens: 32_768, wait: true });
    expect(named.body).toMatchObject({ type: 'error', errorCode: 'insufficient_credits' });
    expect(app.calls.map(({ request }) => request.maxTokens)).toEqual([16_384, 16_384]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('reserves tokens for reasoning in small tasks of reasoning models', async () => {
    const onCall = sayAtOnce('{"mementos": []}');
    const caps = async (info: ModelInfo): Promise<number[]> => {
      const app = await createChatApp({
        model: createScriptedProvider(onCall, [info]),
        credits: 1_000_000,
        settings: { admin: { DefaultAPIModel: info.id }, enrichment: true },
      });
      const message = 'I keep bees near Oslo, and I like them a lot.';
      await app.chat({ message, enableMementos: true, wait: true });
      await app.settle();
      return app.calls.slice(1).map(({ request }) => request.maxTokens);
    };
    expect(await caps(thinker)).toEqual([9192, 9192]);
    expect(await caps(plain)).toEqual([1000, 1000]);
  });
});

describe('content blocks of a round', () => {
  it('are sent back in their original order, including text before a thinking block', async () => {
    const thought = (thinking: string) =>
      ({ type: 'thinking', block: { type: 'thinking', thinking, signature: `of ${thinking}` } }) as const;
    const redacted = { type: 'thinking', block: { type: 'redacted_thinking', data: 'x' } } as const;
    const app = await createChatApp({
      onCall(call) {
        if (call.request.messages.length > 2) return sayAtOnce('Done.')(call);
        end(
          call,
          { type: 'text', text: 'I ' },
          { type: 'text', text: 'look.' },
          thought('one'),
          redacted,
          { type: 'text', text: 'Now.' },
          { type: 'tool_use_delta', index: 0, id: 'a', name: 'dice_roll', arguments: '{}' },
          { type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{}' },
          thought('two'),
          { type: 'tool_use', id: 'b', name: 'dice_roll', arguments: '{"sides":' },
          { type: 'finish', reason: 'tool_use' },
        );
      },
    });
    await app.chat({ message: 'Roll', tools: ['dice_roll'], wait: true });
    const turns = app.calls[1]?.request.messages.slice(-2);
    expect(turns?.[0]?.content).toEqual([
      { type: 'text', text: 'I look.' },
      thought('one'),
      redacted,
      { type: 'text', text: 'Now.' },
      { type: 'tool_use', id: 'a', name: 'dice_roll', input: {} },
      thought('two'),
      { type: 'tool_use', id: 'b', name: 'dice_roll', input: {} },
    ]);
    expect(turns?.[1]?.content).toMatchObject([
      { toolUseId: 'a', isError: false },
      { toolUseId: 'b', isError: true, content: 'The arguments were not valid JSON.' },
    ]);
  });
});
