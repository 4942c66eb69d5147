import type { CatalogueEntry, ModelCatalogue } from '@questline/core/internal';
import type { GenerateRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createMessage } from './contract.ts';
import { toCatalogueId } from './model-ids.ts';
import { findIgnored, refuseUnsupported, toGenerateRequest } from './request.ts';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const read = (fields: object) => createMessage.input.body.parse({ ...BODY, ...fields });
const MESSAGES = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;
const info = {
  id: 'm',
  name: 'M',
  type: 'text',
  provider: 'v',
  contextWindow: 100_000,
  maxOutputTokens: 9000,
} as const;

function createEntry(abilities: object = {}, ignored: readonly string[] = []): CatalogueEntry {
  const provider = { ignores: () => ignored } as unknown as CatalogueEntry['provider'];
  return { info: { ...info, ...abilities }, provider, providerModel: 'vendor-m', prices: undefined };
}

const convert = (fields: object, abilities: object = {}) =>
  toGenerateRequest(read(fields), MESSAGES, createEntry(abilities), { mode: 'auto', key: 'k' });

const TOOLS = [
  { name: 'f', description: 'F', input_schema: { type: 'object' } },
  { type: 'custom', name: 'g', input_schema: {} },
];
const tools = [
  { name: 'f', description: 'F', parameters: { type: 'object' } },
  { name: 'g', description: '', parameters: {} },
];
const FORMAT = { type: 'json_schema', schema: { type: 'object' } };
const responseFormat = { type: 'schema', name: 'answer', schema: { type: 'object' } } as const;

describe('request of a message', () => {
  it.each<[object, Partial<GenerateRequest>]>([
    [{}, {}],
    [
      { temperature: 0, top_p: 0, top_k: 5 },
      { temperature: 0, topP: 0, topK: 5 },
    ],
    [
      { temperature: null, top_p: null, top_k: null, stop_sequences: null, tools: null, tool_choice: null },
      {},
    ],
    [{ top_k: 0, stop_sequences: [], tools: [] }, {}],
    [{ top_k: 1 }, { topK: 1 }],
    [{ stop_sequences: ['a'] }, { stop: ['a'] }],
    [{ max_tokens: 5 }, { maxTokens: 5 }],
    [{ max_tokens: 50_000 }, { maxTokens: 9000 }],
    [{ tools: TOOLS }, { tools }],
    [
      { tools: TOOLS, tool_choice: { type: 'auto' } },
      { tools, toolChoice: 'auto' },
    ],
    [
      { tools: TOOLS, tool_choice: { type: 'none' } },
      { tools, toolChoice: 'none' },
    ],
    [
      { tools: TOOLS, tool_choice: { type: 'any', disable_parallel_tool_use: false } },
      { tools, toolChoice: 'required' },
    ],
    [
      { tools: TOOLS, tool_choice: { type: 'tool', name: 'g', disable_parallel_tool_use: true } },
      { tools, toolChoice: { name: 'g' }, parallelToolCalls: false },
    ],
    [{ tool_choice: { type: 'auto' } }, {}],
    [
      { tools: TOOLS.slice(0, 1), tool_choice: { type: 'auto' } },
      { tools: tools.slice(0, 1), toolChoice: 'auto' },
    ],
    [{ output_config: { format: FORMAT } }, { responseFormat }],
    [{ output_format: FORMAT }, { responseFormat }],
    [{ output_config: { format: null }, output_format: null }, {}],
  ])('%j is that of a model', (fields, expected) => {
    const { maxTokens, ...request } = convert(fields);
    const { maxTokens: cap = maxTokens, ...more } = expected;
    expect(request).toEqual({
      model: 'vendor-m',
      messages: MESSAGES,
      promptCache: { mode: 'auto', key: 'k' },
      ...more,
    });
    expect(maxTokens).toBe(cap);
  });

  const said = (effort: string | null, content = '') => ({
    role: 'system',
    content,
    output_config: { effort },
  });

  it.each<[object, Partial<GenerateRequest>]>([
    [{}, {}],
    [{ output_config: { effort: 'low' } }, { reasoningEffort: 'low' }],
    [{ output_config: { effort: 'medium' } }, { reasoningEffort: 'medium' }],
    [{ output_config: { effort: 'xhigh' } }, { reasoningEffort: 'xhigh' }],
    [{ output_config: { effort: 'max' } }, { reasoningEffort: 'xhigh' }],
    [{ output_config: { effort: 'toString' } }, {}],
    [{ output_config: { effort: null } }, {}],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, { reasoningEffort: 'none' }],
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { thinking: { budgetTokens: 2000 } }],
    [
      { thinking: { type: 'enabled', budget_tokens: 2000 }, output_config: { effort: 'low' } },
      { thinking: { budgetTokens: 2000 }, reasoningEffort: 'low' },
    ],
    [{ thinking: { type: 'adaptive' } }, { thinking: { budgetTokens: 16_384 }, reasoningEffort: 'high' }],
    [
      { thinking: { type: 'adaptive', budget_tokens: null }, output_config: { effort: 'low' } },
      { thinking: { budgetTokens: 16_384 }, reasoningEffort: 'low' },
    ],
    [
      {
        messages: [...BODY.messages, said('low'), said('medium'), said(null)],
        output_config: { effort: 'high' },
      },
      { reasoningEffort: 'medium' },
    ],
  ])('%j has its reasoning, for a model that reasons', (fields, expected) => {
    const pick = ({ thinking, reasoningEffort }: GenerateRequest) => ({
      ...(thinking && { thinking }),
      ...(reasoningEffort && { reasoningEffort }),
    });
    expect(pick(convert(fields, { supportsThinking: true }))).toEqual(expected);
    expect(pick(convert(fields, { reasoningEfforts: ['low'] }))).toEqual(expected);
    expect(pick(convert(fields, { supportsThinking: false, reasoningEfforts: [] }))).toEqual({});
    expect(pick(convert(fields))).toEqual({});
  });

  it.each([
    [{ tools: TOOLS, tool_choice: { type: 'tool', name: 'h' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'tool', name: 'f' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'any' } }, 'tool_choice'],
  ])('%j is refused', (fields, path) => {
    expect(() => convert(fields)).toThrow(
      expect.objectContaining({ status: 400, details: [expect.objectContaining({ path })] }),
    );
  });
});

describe('fields of a message that would change the answer', () => {
  it.each<[object, string]>([
    [{ container: 'c' }, 'container'],
    [{ container: true }, 'container'],
    [{ mcp_servers: [{ name: 's' }] }, 'mcp_servers'],
    [{ inference_geo: 'eu' }, 'inference_geo'],
    [{ tools: [...TOOLS, { type: 'web_search_20250305', name: 'w' }] }, 'tools.2.type'],
    [{ tools: [{ input_schema: {} }] }, 'tools.0.name'],
    [{ tools: [{ name: 'f' }] }, 'tools.0.input_schema'],
  ])('are refused: %j', (fields, path) => {
    expect(() => refuseUnsupported(read(fields))).toThrow(
      expect.objectContaining({ status: 400, details: [expect.objectContaining({ path })] }),
    );
  });

  it('are named shortly', () => {
    const type = 'x'.repeat(200);
    expect(() => refuseUnsupported(read({ tools: [{ type, name: 'f' }] }))).toThrow(
      `not supported: ${'x'.repeat(100)}: tools that`,
    );
  });

  it.each<object>([
    { container: null, mcp_servers: [], inference_geo: null },
    { container: {}, inference_geo: 'global', tools: TOOLS },
    { tools: [{ type: null, name: 'f', input_schema: {} }] },
  ])('are accepted with values that change nothing: %j', (fields) => {
    expect(() => refuseUnsupported(read(fields))).not.toThrow();
  });
});

describe('fields of a message without an effect', () => {
  const find = (fields: object, request: object = {}, ignored: readonly string[] = []) =>
    findIgnored(read(fields), request as GenerateRequest, createEntry({}, ignored));

  it('are named unless they are empty', () => {
    const names = ['context_management', 'diagnostics', 'metadata', 'service_tier', 'speed'];
    const all = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]));
    expect(find(all('x'))).toEqual(names);
    expect(find(all({}))).toEqual([]);
    expect(find(all(null))).toEqual([]);
  });

  it('are thinking that the model does not have, and those of the provider by their names here', () => {
    expect(find({ thinking: { type: 'adaptive' } })).toEqual(['thinking']);
    expect(find({ thinking: { type: 'adaptive' } }, { thinking: { budgetTokens: 1 } })).toEqual([]);
    expect(find({ thinking: { type: 'disabled' } })).toEqual([]);
    expect(find({ thinking: null })).toEqual([]);
    const ignored = [
      'topP',
      'topK',
      'stop',
      'toolChoice',
      'parallelToolCalls',
      'reasoningEffort',
      'responseFormat',
      'temperature',
    ];
    expect(find({}, {}, ignored)).toEqual([
      'top_p',
      'top_k',
      'stop_sequences',
      'tool_choice',
      'tool_choice.disable_parallel_tool_use',
      'output_config.effort',
      'output_config.format',
      'temperature',
    ]);
  });
});

describe('model of a message', () => {
  const catalogue = {
    find: (id: string) =>
      ['claude-a', 'claude-a-20260202', 'claude-b-20260101', 'gpt'].includes(id) ? {} : undefined,
  } as unknown as ModelCatalogue;

  it.each([
    ['claude-a', 'claude-a'],
    ['claude-a-20260101', 'claude-a'],
    ['claude-a-latest', 'claude-a'],
    ['claude-a-20260202', 'claude-a-20260202'],
    ['claude-a[1m]', 'claude-a'],
    ['claude-a-20260101[1m]', 'claude-a'],
    ['claude-b-20260101', 'claude-b-20260101'],
    ['claude-c-20260101', 'claude-c-20260101'],
    ['gpt-20260101', 'gpt-20260101'],
  ])('%s is listed as %s', (name, id) => {
    expect(toCatalogueId(catalogue, name)).toBe(id);
  });
});
