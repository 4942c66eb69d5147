import type { GenerateRequest, ModelContent } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { createAiSdkProvider } from '../src/index.ts';
import { finish, getAnswer, hello, scripted } from './scripted.ts';

async function call(request: Partial<GenerateRequest>, fields: object = {}) {
  const { model, calls } = scripted([finish], fields);
  await getAnswer(model, request);
  return calls[0];
}

const say = (...content: readonly ModelContent[]) => ({ messages: [{ role: 'user' as const, content }] });

describe('call options of the bridge', () => {
  test('have no empty list of stops', async () => {
    expect(await call({ stop: [] })).not.toHaveProperty('stopSequences');
    expect(await call({ stop: ['a'] })).toMatchObject({ stopSequences: ['a'] });
  });

  test('join all options of one vendor', async () => {
    const request = { maxTokens: 5000, parallelToolCalls: false, thinking: { budgetTokens: 2000 } };
    const anthropic = { provider: 'anthropic.messages', modelId: 'claude-3-7-sonnet' };
    expect((await call(request, anthropic))?.providerOptions).toEqual({
      anthropic: {
        disableParallelToolUse: true,
        thinking: { type: 'enabled', budgetTokens: 2000 },
      },
    });
  });

  test.each(['v2', 'v3'])('keep the role of a message for %s', async (specificationVersion) => {
    const sent = await call(say({ type: 'text', text: 'Hi' }), { specificationVersion });
    expect(sent?.prompt).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
  });

  test('name the fields that the host leaves out as ignored', () => {
    const { model } = scripted([finish]);
    const provider = createAiSdkProvider({
      id: 'test',
      models: [
        {
          id: 'm',
          model,
          contextWindow: 1000,
          maxOutputTokens: 100,
          prepare: ({ seed: _, ...kept }) => kept,
        },
      ],
    });
    expect(provider.ignores?.({ ...hello, seed: 1, temperature: 0.5 })).toEqual(['seed']);
  });
});

describe('content of the bridge', () => {
  test.each(['application/json', 'application/xml', 'text/csv', ' Text/Plain ; charset=utf-8'])(
    'is text for a document of type %s',
    async (mediaType) => {
      const data = Buffer.from('[1]').toString('base64');
      const sent = await call(say({ type: 'document', mediaType, name: 'a', data }));
      expect(sent?.prompt[0]?.content).toEqual([{ type: 'text', text: 'a:\n\n[1]' }]);
    },
  );

  test('is an empty object for a call without arguments', async () => {
    const content = [{ type: 'tool_use', id: 'c', name: 'f', input: undefined } as const];
    const sent = await call({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', content },
      ],
    });
    expect(sent?.prompt[1]?.content).toEqual([
      { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} },
    ]);
  });
});
