import { describe, expect, it } from 'vitest';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { GenerateRequest } from '../../ports/models.ts';
import type { CompletionBody } from './contract.ts';
import { forStandIn, namedCap, spelledNames, toGenerateRequest } from './request.ts';

const info = {
  id: 'thinker',
  name: 'Thinker',
  type: 'text',
  provider: 'own',
  contextWindow: 100_000,
  maxOutputTokens: 10_000,
  supportsStreaming: true,
  supportsTools: true,
} as const;

const entry = (more: object = {}): CatalogueEntry =>
  ({ info: { ...info, ...more }, providerModel: 'thinker-1' }) as unknown as CatalogueEntry;

const tool = (name: string) => ({
  toolSchema: { name, description: 'A tool', parameters: { type: 'object' } },
});
const body = (more: object = {}): CompletionBody => ({
  model: 'thinker',
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});
const convert = (more: object = {}, model: object = {}): GenerateRequest =>
  toGenerateRequest(body(more), entry(model), { conversation: 'c' } as never);

describe('request to a model', () => {
  it('has only what was asked for', () => {
    expect(convert()).toEqual({
      model: 'thinker-1',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      maxTokens: 4096,
      promptCache: { conversation: 'c' },
    });
  });

  it.each([
    [{ max_tokens: 1, options: { maxTokens: 2, max_tokens: 3 } }, 1],
    [{ options: { maxTokens: 2, max_tokens: 3 } }, 2],
    [{ options: { max_tokens: 3 } }, 3],
    [{ options: {} }, undefined],
    [{}, undefined],
  ])('has the cap of the top level before that of the options: %o', (more, expected) => {
    expect(namedCap(body(more))).toBe(expected);
  });

  it('has a cap within the model', () => {
    expect(convert({ max_tokens: 20_000 }).maxTokens).toBe(10_000);
    expect(convert({ max_tokens: 5 }).maxTokens).toBe(5);
  });

  it('has room for reasoning and an answer by default', () => {
    const thinking = { enabled: true, budget_tokens: 5000 };
    expect(convert({ thinking })).toMatchObject({ maxTokens: 9096, thinking: { budgetTokens: 5000 } });
    expect(convert({ thinking: { enabled: true } })).toMatchObject({
      maxTokens: 8192,
      thinking: { budgetTokens: 4096 },
    });
    const off = convert({ thinking: { enabled: false, budget_tokens: 5000 } });
    expect([off.maxTokens, off.thinking]).toEqual([4096, undefined]);
  });

  it('has the default cap of an effort', () => {
    const model = { supportsThinking: true, reasoningEfforts: ['none', 'low'] };
    expect(convert({}, model).maxTokens).toBe(10_000);
    expect(convert({ reasoningEffort: 'none' }, model).maxTokens).toBe(4096);
  });

  it('has values of the top level before those of the options, also if they are zero or empty', () => {
    const options = {
      temperature: 1,
      tools: [tool('b')],
      thinking: { enabled: true, budget_tokens: 2 },
      response_format: { type: 'json_object' },
      seed: 2,
    };
    expect(convert({ options })).toMatchObject({
      temperature: 1,
      tools: [tool('b').toolSchema],
      thinking: { budgetTokens: 2 },
      responseFormat: { type: 'json' },
      seed: 2,
    });
    const top = {
      temperature: 0,
      tools: [],
      thinking: { enabled: false },
      response_format: { type: 'text' },
      seed: 0,
    };
    const request = convert({ ...top, options });
    expect(request).toMatchObject({ temperature: 0, seed: 0 });
    for (const name of ['tools', 'thinking', 'responseFormat']) expect(request).not.toHaveProperty(name);
  });

  it('has a schema of the answer', () => {
    const json_schema = { name: 'n', schema: { type: 'object' } };
    const { responseFormat } = convert({ response_format: { type: 'json_schema', json_schema } });
    expect(responseFormat).toEqual({ type: 'schema', ...json_schema });
  });

  it.each([
    [{ toolChoice: 'required' }, 'toolChoice: the request offers no tools'],
    [{ toolChoice: { name: 'a' } }, 'toolChoice: the request offers no tools'],
    [
      { toolChoice: { name: 'a' }, tools: [tool('b'), tool('c')] },
      'toolChoice: the request offers no tool of this name',
    ],
  ])('is refused for a choice among tools that it does not offer: %o', (more, message) => {
    expect(() => convert(more)).toThrow(message);
  });

  it.each([
    { toolChoice: 'auto' },
    { toolChoice: 'none' },
    { toolChoice: 'required', tools: [tool('a')] },
    { toolChoice: { name: 'a' }, tools: [tool('a'), tool('b')] },
  ] as const)('has a choice among its tools: %o', (more) => {
    expect(convert(more).toolChoice).toEqual(more.toolChoice);
  });
});

describe('names of ignored fields', () => {
  it('are those that the request sent', () => {
    const request = body({ top_p: 1, options: { topK: 1, top_k: 2, reasoning_effort: 'low', topP: 1 } });
    expect(spelledNames(request, ['topP', 'topK', 'reasoningEffort', 'seed'])).toEqual([
      'top_p',
      'options.topK',
      'options.reasoning_effort',
    ]);
    expect(spelledNames(body({ topP: 1 }), ['topP'])).toEqual(['topP']);
    expect(spelledNames(body(), ['topP'])).toEqual([]);
    expect(spelledNames(request, [])).toEqual([]);
  });
});

describe('request to a fallback model', () => {
  const asked = convert({ thinking: { enabled: true }, max_tokens: 9000, seed: 1 });

  it('has its name and a cap within it', () => {
    const request = forStandIn(asked, { ...entry({ maxOutputTokens: 900 }), providerModel: 'other' });
    expect(request).toEqual({ ...asked, model: 'other', maxTokens: 900, thinking: undefined });
    expect(request).not.toHaveProperty('thinking');
  });

  it('has reasoning where the model supports it', () => {
    expect(forStandIn(asked, entry({ supportsThinking: true })).thinking).toEqual({ budgetTokens: 4096 });
    const plain = forStandIn(convert(), entry({ supportsThinking: true }));
    expect(plain).not.toHaveProperty('thinking');
  });
});
