import { describe, expect, test } from 'vitest';
import type { GenerateRequest, ModelContent, ModelMessage, ModelPart, ToolSchema } from '../ports/models.ts';
import { createCatalogue } from './catalogue.ts';
import { createDemoProvider } from './demo.ts';

const demo = createDemoProvider();

const user = (...content: ModelContent[]): ModelMessage => ({ role: 'user', content });
const text = (words: string): ModelContent => ({ type: 'text', text: words });

async function ask(request: Partial<GenerateRequest>): Promise<ModelPart[]> {
  const stream = await demo.generate({ model: 'demo-chat', messages: [], maxTokens: 4096, ...request }, {});
  const parts: ModelPart[] = [];
  for await (const chunk of stream) parts.push(...([chunk].flat() as ModelPart[]));
  return parts;
}

const spoken = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const last = (parts: readonly ModelPart[]) => parts.at(-1);
const toUsage = (parts: readonly ModelPart[]) => {
  const part = parts.find((one) => one.type === 'usage');
  return part?.type === 'usage' ? part.usage : {};
};

const weather: ToolSchema = {
  name: 'weather_info',
  description: 'Weather at a place.',
  parameters: {
    type: 'object',
    properties: {
      lat: { type: 'number', minimum: -90, maximum: 90 },
      lon: { type: 'number', minimum: -180, maximum: 180 },
      units: { type: 'string', enum: ['metric', 'imperial'] },
    },
    required: ['lat', 'lon', 'units'],
  },
};
const search: ToolSchema = {
  name: 'web_search',
  description: 'Searches.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const fetchPage: ToolSchema = {
  name: 'web_fetch',
  description: 'Fetches.',
  parameters: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
};
const tools = [weather, search, fetchPage];

describe('answer of the demo model', () => {
  test('arrives in several chunks, repeats the question, describes itself, and ends with usage and a reason', async () => {
    const parts = await ask({ messages: [user(text('Why is the sky blue?'))] });
    expect(parts.filter((part) => part.type === 'text').length).toBeGreaterThan(5);
    expect(spoken(parts)).toContain('Why is the sky blue?');
    expect(spoken(parts)).toContain('offline demo model');
    expect(parts.at(-2)).toEqual({
      type: 'usage',
      usage: { input: 5, output: Math.ceil(spoken(parts).length / 4) },
    });
    expect(last(parts)).toEqual({ type: 'finish', reason: 'stop' });
  });

  test('is always the same', async () => {
    const request = { messages: [user(text('Use web_search for "cats"'))], tools };
    expect(await ask(request)).toEqual(await ask(request));
  });

  test('stops at the cap by its own token count', async () => {
    const parts = await ask({ messages: [user(text('count to 500'))], maxTokens: 20 });
    expect(toUsage(parts).output).toBe(20);
    expect(spoken(parts)).toHaveLength(80);
    expect(last(parts)).toEqual({ type: 'finish', reason: 'max_tokens' });
  });

  test('can have any length', async () => {
    const parts = await ask({ messages: [user(text('Please count to 120.'))] });
    expect(spoken(parts)).toContain('1, 2, 3, ');
    expect(spoken(parts)).toContain('119, 120.');
  });

  test('names the received images and documents', async () => {
    const parts = await ask({
      messages: [
        user(
          { type: 'image', mediaType: 'image/png', data: Buffer.alloc(2048).toString('base64') },
          {
            type: 'document',
            mediaType: 'text/plain',
            name: 'note.txt',
            data: Buffer.from('hi').toString('base64'),
          },
        ),
      ],
    });
    expect(spoken(parts)).toContain('an image (image/png, 2.0 KB) and note.txt (text/plain, 2 bytes)');
  });

  test('follows a requested schema', async () => {
    const schema = {
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: 5 },
        tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
        score: { type: 'integer', minimum: 10 },
        nested: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
        maybe: { anyOf: [{ type: 'null' }, { type: 'string' }] },
      },
      required: ['title', 'tags', 'score', 'nested', 'maybe'],
    };
    const parts = await ask({
      messages: [user(text('Summary'))],
      responseFormat: { type: 'schema', name: 'summary', schema },
    });
    expect(JSON.parse(spoken(parts))).toEqual({
      title: 'Summa',
      tags: ['Summary', 'Summary'],
      score: 10,
      nested: { ok: false },
      maybe: null,
    });
    const json = await ask({ messages: [user(text('Summary'))], responseFormat: { type: 'json' } });
    expect(JSON.parse(spoken(json))).toMatchObject({ question: 'Summary' });
  });

  test('of the echo model repeats the message', async () => {
    const words = 'Say  "hi" \u{1F600}\n\nto   the use of web_search.';
    const parts = await ask({ model: 'demo-echo', messages: [user(text(words))], tools });
    expect(spoken(parts)).toBe(words);
  });
});

describe('tools of the demo model', () => {
  test.each([
    ['What is the weather at 52.52, 13.4?', 'weather_info', { lat: 52.52, lon: 13.4, units: 'metric' }],
    ['Weather at 95 0 in imperial units', 'weather_info', { lat: 90, lon: 0, units: 'imperial' }],
    ['Please search the web for "red pandas"', 'web_search', { query: 'red pandas' }],
    [
      'Use the web_fetch tool on https://example.org/a?b=c',
      'web_fetch',
      { url: 'https://example.org/a?b=c' },
    ],
  ])('are called for the message: %s', async (question, name, input) => {
    const parts = await ask({ messages: [user(text(question))], tools });
    const calls = parts.filter((part) => part.type === 'tool_use');
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ id: 'demo_call_1', name });
    expect(JSON.parse(calls[0]?.type === 'tool_use' ? calls[0].arguments : '')).toEqual(input);
    expect(last(parts)).toEqual({ type: 'finish', reason: 'tool_use' });
  });

  const getCalls = async (more: Partial<GenerateRequest>) => {
    const parts = await ask({ messages: [user(text('Use web_search and web_fetch'))], tools, ...more });
    const deltas = parts.flatMap((part) => (part.type === 'tool_use_delta' ? [part] : []));
    const calls = parts.flatMap((part) => (part.type === 'tool_use' ? [part] : []));
    for (const [place, call] of calls.entries()) {
      const pieces = deltas.filter(({ index }) => index === place);
      expect(pieces[0]).toMatchObject({ id: call.id, name: call.name });
      expect(pieces.map((piece) => piece.arguments).join('')).toBe(call.arguments);
    }
    return calls.map(({ name }) => name);
  };

  test('are called as the choice of tools says', async () => {
    const quiet = [user(text('Hello'))];
    expect(await getCalls({ toolChoice: 'none' })).toEqual([]);
    expect(await getCalls({ parallelToolCalls: false })).toEqual(['web_search']);
    expect(await getCalls({ toolChoice: { name: 'web_fetch' } })).toEqual(['web_fetch']);
    expect(await getCalls({ messages: quiet })).toEqual([]);
    expect(await getCalls({ messages: quiet, toolChoice: 'required' })).toHaveLength(1);
  });

  test('stop the answer before the first stop sequence', async () => {
    const parts = await ask({ messages: [user(text('count to 9'))], stop: ['4', '7'] });
    expect(spoken(parts)).toBe('1, 2, 3, ');
  });

  test('are called together when several are named', async () => {
    const parts = await ask({ messages: [user(text('Use web_search and web_fetch'))], tools });
    const calls = parts.filter((part) => part.type === 'tool_use');
    expect(calls.map((call) => [call.id, call.name])).toEqual([
      ['demo_call_1', 'web_search'],
      ['demo_call_2', 'web_fetch'],
    ]);
  });

  test('are not called unless the message asks for one', async () => {
    const parts = await ask({ messages: [user(text('Hello there'))], tools });
    expect(last(parts)).toEqual({ type: 'finish', reason: 'stop' });
    expect(spoken(parts)).toContain('3 tools: ask me to use weather_info');
  });

  test('are answered last: the answer repeats the result, and a later call has a new id', async () => {
    const conversation: ModelMessage[] = [
      user(text('What is the weather at 1, 2?')),
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'demo_call_1', name: 'weather_info', input: { lat: 1, lon: 2 } }],
      },
      user({
        type: 'tool_result',
        toolUseId: 'demo_call_1',
        toolName: 'weather_info',
        content: 'Sunny, 21 degrees',
        isError: false,
      }),
    ];
    const answer = await ask({ messages: conversation, tools });
    expect(spoken(answer)).toContain('The tool weather_info answered:\n\nSunny, 21 degrees');
    expect(last(answer)).toEqual({ type: 'finish', reason: 'stop' });
    const again = await ask({ messages: [...conversation, user(text('And the weather at 3, 4?'))], tools });
    expect(again.find((part) => part.type === 'tool_use')).toMatchObject({ id: 'demo_call_2' });
  });
});

describe('thinking of the demo model', () => {
  test('is streamed and then returned as a block before the answer, if requested', async () => {
    const parts = await ask({ messages: [user(text('Hello'))], thinking: { budgetTokens: 1024 } });
    const deltas = parts.map((part) => (part.type === 'thinking_delta' ? part.text : '')).join('');
    const place = parts.findIndex((part) => part.type === 'thinking');
    expect(parts[place]).toEqual({
      type: 'thinking',
      block: { type: 'thinking', thinking: deltas },
    });
    expect(parts.findIndex((part) => part.type === 'text')).toBeGreaterThan(place);
    expect(toUsage(parts).reasoning).toBe(Math.ceil(deltas.length / 4));
  });

  test('is absent by default, and counts against the cap', async () => {
    const plain = await ask({ messages: [user(text('Hello'))] });
    expect(plain.some((part) => part.type.startsWith('thinking'))).toBe(false);
    const parts = await ask({
      messages: [user(text('Hello'))],
      thinking: { budgetTokens: 5 },
      maxTokens: 12,
    });
    expect(toUsage(parts)).toMatchObject({ reasoning: 5, output: 7 });
  });
});

describe('demo provider', () => {
  test('offers priced models with clear names', () => {
    const list = createCatalogue({ providers: [demo] }).list();
    expect(list.map((entry) => entry.info.id)).toEqual(['demo-chat', 'demo-echo', 'demo-embedding']);
    expect(list.every((entry) => entry.prices !== undefined)).toBe(true);
    expect(demo.models()).toBe(demo.models());
  });

  test('rejects models that it does not have', async () => {
    await expect(ask({ model: 'demo-embedding' })).rejects.toMatchObject({ kind: 'invalid_request' });
    await expect(demo.embed?.({ model: 'demo-chat', inputs: ['a'] }, {})).rejects.toMatchObject({
      kind: 'invalid_request',
    });
  });

  test('offers the models of its media, and makes them', async () => {
    const image = { mediaType: 'image/png', data: new Uint8Array(1) };
    const info = { id: 'demo-image', name: 'Image', type: 'image', provider: 'demo' } as const;
    const models = [{ ...info, contextWindow: 1, maxOutputTokens: 0 }];
    const provider = createDemoProvider({
      media: { models, image: async () => ({ images: [image] }) },
    });
    expect(provider.models().map(({ id }) => id)).toContain('demo-image');
    const made = await provider.image?.({ model: 'demo-image', prompt: 'A panda', count: 1 }, {});
    expect(made?.images).toEqual([image]);
  });

  test('does not embed for an aborted call', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    const embedding = demo.embed?.({ model: 'demo-embedding', inputs: ['a'] }, { signal });
    await expect(embedding).rejects.toThrow('gone');
  });

  test('embeds texts with common words as similar vectors', async () => {
    const inputs = ['The red panda eats bamboo', 'A red panda in the bamboo', 'Quarterly tax report'];
    const result = await demo.embed?.({ model: 'demo-embedding', inputs, dimensions: 128 }, {});
    const [a = [], b = [], c = []] = result?.embeddings ?? [];
    const dot = (x: readonly number[], y: readonly number[]) =>
      x.reduce((sum, v, i) => sum + v * (y[i] ?? 0), 0);
    expect(a).toHaveLength(128);
    expect(dot(a, a)).toBeCloseTo(1, 10);
    expect(dot(a, b)).toBeGreaterThan(0.5);
    expect(dot(a, c)).toBeLessThan(0.3);
    expect(result?.tokens).toBe(14);
  });
});
