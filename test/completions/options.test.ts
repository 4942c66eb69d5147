import type { GenerateRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, getEvents, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

const tool = (name: string) => ({
  toolSchema: { name, description: 'A tool', parameters: { type: 'object' } },
});

async function asked(options: object, top: object = {}) {
  const provider = createScriptedProvider(
    (call) => {
      call.say({ type: 'text', text: 'Hi' }, { type: 'finish', reason: 'stop' });
      call.end();
    },
    [{ ...SCRIPTED_MODEL, supportsThinking: true }],
  );
  const app = await createTestApp({ models: [provider] });
  const response = await app.ask('POST', '/api/ai/v1/completions', {
    body: {
      model: 'scripted',
      messages: [{ role: 'user', content: 'Hi' }],
      options: { tools: [tool('look'), tool('touch')], maxTokens: 100, ...options },
      ...top,
    },
  });
  const text = await response.text();
  return { status: response.status, text, request: provider.calls[0]?.request as GenerateRequest };
}

/** Camel case, snake case, a value and the expected request to the model. */
const OPTIONS: readonly (readonly [string, string, unknown, Partial<GenerateRequest>])[] = [
  ['topP', 'top_p', 0.5, { topP: 0.5 }],
  ['topK', 'top_k', 40, { topK: 40 }],
  ['stop', 'stop', 'END', { stop: ['END'] }],
  ['stop', 'stop', ['END', 'FIN'], { stop: ['END', 'FIN'] }],
  ['seed', 'seed', -7, { seed: -7 }],
  ['toolChoice', 'tool_choice', 'none', { toolChoice: 'none' }],
  ['toolChoice', 'tool_choice', 'required', { toolChoice: 'required' }],
  ['toolChoice', 'tool_choice', { name: 'touch' }, { toolChoice: { name: 'touch' } }],
  ['parallelToolCalls', 'parallel_tool_calls', false, { parallelToolCalls: false }],
  ['reasoningEffort', 'reasoning_effort', 'minimal', { reasoningEffort: 'minimal' }],
  ['maxTokens', 'max_tokens', 77, { maxTokens: 77 }],
];

describe('option of a completion', () => {
  it.each(OPTIONS)('reaches the model as %s and as %s: %o', async (camel, snake, value, expected) => {
    const bare = camel === 'maxTokens' ? { maxTokens: undefined } : {};
    const requests = [
      (await asked({ [camel]: value })).request,
      (await asked({ ...bare, [snake]: value })).request,
      // At the top level the cap has one spelling.
      (await asked({}, { [camel === 'maxTokens' ? snake : camel]: value })).request,
      (await asked({}, { [snake]: value })).request,
    ];
    for (const request of requests) expect(request).toMatchObject(expected);
  });

  it('has priority at the top level over options', async () => {
    const { request } = await asked({ topP: 0.1, seed: 1 }, { top_p: 0.9, seed: 0 });
    expect([request.topP, request.seed]).toEqual([0.9, 0]);
  });

  it('is not sent by default', async () => {
    const { request } = await asked({});
    const names = ['topP', 'topK', 'stop', 'seed', 'toolChoice', 'parallelToolCalls', 'reasoningEffort'];
    for (const name of names) expect(request).not.toHaveProperty(name);
  });

  it.each([
    [{ topP: 1.1 }, 'options.topP'],
    [{ top_k: 0 }, 'options.top_k'],
    [{ stop: Array.from({ length: 9 }, String) }, 'options.stop'],
    [{ stop: '' }, 'options.stop'],
    [{ seed: 0.5 }, 'options.seed'],
    [{ toolChoice: 'some' }, 'options.toolChoice'],
    [{ tool_choice: { name: 'smell' } }, 'toolChoice: the request offers no tool of this name'],
    [{ tools: [], toolChoice: 'required' }, 'toolChoice: the request offers no tools'],
    [{ parallel_tool_calls: 'no' }, 'options.parallel_tool_calls'],
    [{ reasoningEffort: 'huge' }, 'options.reasoningEffort'],
  ])('is rejected when invalid: %o', async (options, message) => {
    const { status, text } = await asked(options);
    expect([status, text]).toEqual([422, expect.stringContaining(message)]);
  });
});

describe('ignored fields of a completion', () => {
  it('are named in the meta event at both levels', async () => {
    const { text } = await asked({ presencePenalty: 1 }, { max_completion_tokens: 5 });
    expect(getEvents(text)[0]).toEqual({
      type: 'meta',
      requestId: expect.any(String),
      ignored: ['max_completion_tokens', 'options.presencePenalty'],
    });
  });

  it('are not named when the model does not report which fields it ignores', async () => {
    const { text } = await asked({ topK: 1, seed: 1 });
    expect(getEvents(text)[0]).not.toHaveProperty('ignored');
  });

  it('are limited to twenty names of 64 characters', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, place) => [`x${place}`.repeat(50), 1]));
    const { ignored } = getEvents((await asked(many)).text)[0] as { ignored: string[] };
    expect([ignored.length, Math.max(...ignored.map((name) => name.length))]).toEqual([20, 64]);
  });
});

describe('cache breakpoint of a client', () => {
  it('marks its message for the cache', async () => {
    const { request } = await asked(
      {},
      {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'One', cache_control: { type: 'ephemeral' } }] },
          { role: 'assistant', content: 'Two' },
          { role: 'user', content: 'Three' },
        ],
      },
    );
    expect(request.messages.map(({ cacheBreakpoint }) => cacheBreakpoint)).toEqual([
      true,
      undefined,
      undefined,
    ]);
    expect(request.messages[0]?.content).toEqual([{ type: 'text', text: 'One' }]);
  });

  it('marks its message also from a text of a tool result', async () => {
    const marked = { type: 'text', text: 'sun', cache_control: { type: 'ephemeral' } };
    const { request } = await asked(
      {},
      {
        messages: [
          { role: 'user', content: 'One' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'call', name: 'weather', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call', content: [marked] }] },
          { role: 'user', content: 'Three' },
        ],
      },
    );
    expect(request.messages.map(({ cacheBreakpoint }) => cacheBreakpoint)).toEqual([
      undefined,
      undefined,
      true,
      undefined,
    ]);
  });
});
