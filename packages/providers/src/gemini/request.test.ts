import type { GenerateRequest, ModelContent, ModelMessage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { contentBody } from './request.ts';

const text = (value: string): ModelContent => ({ type: 'text', text: value });
const user = (...content: ModelContent[]): ModelMessage => ({ role: 'user', content });
const assistant = (...content: ModelContent[]): ModelMessage => ({ role: 'assistant', content });
const HELLO: GenerateRequest = { model: 'gemini-3.8-flash', maxTokens: 1000, messages: [user(text('Hi'))] };
const TOOLS = [{ name: 'f', description: 'F', parameters: { type: 'object' } }];

const build = (fields: Partial<GenerateRequest>) => contentBody({ ...HELLO, ...fields }, 'vendor');

describe('request to Gemini', () => {
  it.each<[string, Partial<GenerateRequest>, object]>([
    ['nothing more', {}, {}],
    ['temperature', { temperature: 0 }, { temperature: 0 }],
    ['topP and topK', { topP: 0, topK: 0 }, { topP: 0, topK: 0 }],
    [
      'at most five stops',
      { stop: ['a', 'b', 'c', 'd', 'e', 'f'] },
      { stopSequences: ['a', 'b', 'c', 'd', 'e'] },
    ],
    ['one stop', { stop: ['a'] }, { stopSequences: ['a'] }],
    ['no empty stops', { stop: [] }, {}],
    ['a seed', { seed: 0 }, { seed: 0 }],
    ['JSON', { responseFormat: { type: 'json' } }, { responseMimeType: 'application/json' }],
    [
      'a schema',
      { responseFormat: { type: 'schema', name: 'a', schema: { type: 'object' } } },
      { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    ],
    ['a level', { reasoningEffort: 'none' }, { thinkingConfig: { thinkingLevel: 'low' } }],
    [
      'a level for a budget',
      { thinking: { budgetTokens: 20_000 } },
      { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
    ],
  ])('has %s', (_title, fields, config) => {
    expect(build(fields)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 1000, ...config },
    });
  });

  it.each([
    ['none', 40_000, 0],
    ['minimal', 40_000, 512],
    ['low', 40_000, 1024],
    ['medium', 40_000, 8192],
    ['high', 40_000, 24_576],
    ['xhigh', 40_000, 24_576],
    ['high', 1000, 750],
  ] as const)(
    'has a budget for the effort %s within %i tokens before the third generation',
    (effort, cap, budget) => {
      for (const model of ['gemini-2.5-flash', 'gemini-1.5-pro']) {
        expect(build({ model, maxTokens: cap, reasoningEffort: effort }).generationConfig).toEqual({
          maxOutputTokens: cap,
          thinkingConfig: { thinkingBudget: budget },
        });
      }
    },
  );

  it('has the budget of the caller before that of the effort', () => {
    const fields = { model: 'gemini-2.5-flash', maxTokens: 9000, thinking: { budgetTokens: 700 } };
    expect(build({ ...fields, reasoningEffort: 'high' }).generationConfig).toMatchObject({
      thinkingConfig: { thinkingBudget: 700, includeThoughts: true },
    });
  });

  it.each([
    [undefined, undefined],
    ['auto', undefined],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [{ name: 'f' }, { mode: 'ANY', allowedFunctionNames: ['f'] }],
  ] as const)('has tools with the choice %j', (toolChoice, config) => {
    const body = build({ tools: TOOLS, ...(toolChoice !== undefined && { toolChoice }) });
    expect(body.tools).toEqual([
      { functionDeclarations: [{ name: 'f', description: 'F', parametersJsonSchema: { type: 'object' } }] },
    ]);
    expect(body.toolConfig).toEqual(config && { functionCallingConfig: config });
    expect(build({ ...(toolChoice !== undefined && { toolChoice }) })).not.toHaveProperty('toolConfig');
  });
});

describe('contents for Gemini', () => {
  const send = (message: ModelMessage, model = HELLO.model) =>
    (build({ model, messages: [user(text('Hi')), message] }).contents as object[]).slice(1);
  const sign = (signature: unknown, toolUseId?: string): ModelContent => ({
    type: 'thinking',
    block: { type: 'thought_signature', signature, ...(toolUseId !== undefined && { toolUseId }) },
  });
  const use = (id: string): ModelContent => ({ type: 'tool_use', id, name: 'f', input: undefined });
  const call = (id: string, thoughtSignature?: string) => ({
    functionCall: { id, name: 'f', args: {} },
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  });
  const NONE = 'skip_thought_signature_validator';

  it.each<[string, ModelContent[], object[]]>([
    ['no empty text', [text(''), text('a')], [{ text: 'a' }]],
    [
      'a signature after its text',
      [text('a'), sign('s'), text('b')],
      [{ text: 'a', thoughtSignature: 's' }, { text: 'b' }],
    ],
    [
      'a signature without a text before it on the last text',
      [sign('s'), text('a'), text('b')],
      [{ text: 'a' }, { text: 'b', thoughtSignature: 's' }],
    ],
    [
      'the signature of a text before one without a text',
      [sign('s1'), text('a'), sign('s2')],
      [{ text: 'a', thoughtSignature: 's2' }],
    ],
    ['no signature without a text', [sign('s'), use('c')], [call('c', NONE)]],
    [
      'no signature of a call on a text',
      [text('a'), sign('s', 'c'), use('c')],
      [{ text: 'a' }, call('c', 's')],
    ],
    [
      'no thought of others',
      [{ type: 'thinking', block: { type: 'thinking', signature: 's' } }, text('a')],
      [{ text: 'a' }],
    ],
    ['no signature that is no text', [text('a'), sign(7)], [{ text: 'a' }]],
    [
      'the signature of a call, wherever it is',
      [use('c'), use('d'), sign('s', 'c')],
      [call('c', 's'), call('d')],
    ],
    ['a placeholder for the first call only', [use('c'), use('d')], [call('c', NONE), call('d')]],
    [
      'the signature of a later call',
      [use('c'), use('d'), sign('s', 'd')],
      [call('c', NONE), call('d', 's')],
    ],
  ])('contain %s', (_title, content, parts) => {
    expect(send(assistant(...content))).toEqual([{ role: 'model', parts }]);
  });

  it('have no placeholder before the third generation, and no turn without parts', () => {
    expect(send(assistant(use('c')), 'gemini-2.5-flash')).toEqual([{ role: 'model', parts: [call('c')] }]);
    expect(send(assistant(text('')))).toEqual([]);
  });

  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' } as const;

  it.each<[ModelMessage, string]>([
    [user({ ...pdf, mediaType: 'a/b' }), 'a document of type a/b'],
    [user(use('c')), 'tool_use in a user message'],
    [assistant(pdf), 'document in an assistant message'],
    [{ role: 'system', content: [pdf] }, 'document in a system message'],
  ])('never contain %j', (message, words) => {
    expect(() => send(message)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', message: `vendor: cannot take ${words}` }),
    );
  });
});
