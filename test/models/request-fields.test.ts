import type { ModelInfo, ModelProvider } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import {
  createAnthropicUpstream,
  createCompatibleUpstream,
  createGeminiUpstream,
  createOpenAIUpstream,
  createXAIUpstream,
  type Upstream,
  type UpstreamOptions,
} from '@questline/testing/upstreams';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendChatMessage } from '../../packages/core/src/features/chat/contract.ts';
import { createCompletion } from '../../packages/core/src/features/completions/contract.ts';
import { createChatApp } from '../support/chat.ts';
import { getEvents } from '../support/model.ts';

/*
 * Follows every field of the completions and chat requests to the bytes that a vendor receives. A new field
 * of a schema fails here until it has a sample.
 */

interface Vendor {
  readonly name: string;
  readonly model: string;
  readonly createUpstream: (options: UpstreamOptions) => Promise<Upstream>;
  readonly createProvider: (baseUrl: string) => ModelProvider;
  /** Options that the protocol of the model lacks. */
  readonly lacks: readonly string[];
}

const apiKey = 'sk-platform-secret';
/** Models that are no longer in the catalogues. */
const older = (provider: string, ...ids: readonly string[]): readonly ModelInfo[] =>
  ids.map((id) => ({
    id,
    name: id,
    type: 'text',
    provider,
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    supportsTools: true,
    supportsThinking: !id.startsWith('gpt-4'),
  }));
const openai = (protocol: 'chat' | 'responses') => ({
  createUpstream: createOpenAIUpstream,
  createProvider: (baseUrl: string) =>
    createOpenAIProvider({
      apiKey,
      baseUrl,
      protocol,
      models: (listed) => [...listed, ...older('openai', 'gpt-5.1', 'gpt-4.1')],
    }),
});
const anthropic = {
  createUpstream: createAnthropicUpstream,
  createProvider: (baseUrl: string) =>
    createAnthropicProvider({
      apiKey,
      baseUrl,
      models: (listed) => [...listed, ...older('anthropic', 'claude-haiku-4-5')],
    }),
};
const SAMPLING = ['temperature', 'topP', 'topK'];

const VENDORS: readonly Vendor[] = [
  {
    name: 'Responses API',
    model: 'gpt-6-luna',
    ...openai('responses'),
    lacks: [...SAMPLING, 'stop', 'seed'],
  },
  { name: 'chat completions', model: 'gpt-5.1', ...openai('chat'), lacks: [...SAMPLING, 'stop'] },
  {
    name: 'chat completions without reasoning',
    model: 'gpt-4.1',
    ...openai('chat'),
    lacks: ['topK', 'thinking', 'reasoningEffort'],
  },
  {
    name: 'xAI',
    model: 'grok-4.7',
    createUpstream: createXAIUpstream,
    createProvider: (baseUrl) => createXAIProvider({ apiKey, baseUrl }),
    lacks: ['stop'],
  },
  { name: 'Claude 5.5', model: 'claude-haiku-5-5', ...anthropic, lacks: [...SAMPLING, 'seed'] },
  {
    name: 'Claude 4.5',
    model: 'claude-haiku-4-5',
    ...anthropic,
    lacks: ['seed', 'reasoningEffort'],
  },
  {
    name: 'Gemini',
    model: 'gemini-3.8-flash',
    createUpstream: createGeminiUpstream,
    createProvider: (baseUrl) => createGeminiProvider({ apiKey, baseUrl }),
    lacks: ['parallelToolCalls'],
  },
  {
    name: 'a compatible server',
    model: 'local',
    createUpstream: createCompatibleUpstream,
    createProvider: (baseUrl) =>
      createOpenAICompatibleProvider({
        id: 'local',
        baseUrl,
        models: [{ id: 'local', supportsThinking: true, supportsTools: true, contextWindow: 100_000 }],
      }),
    lacks: [],
  },
];

async function connect({ model, createUpstream, createProvider }: Vendor) {
  const upstream = await createUpstream({ script: { steps: [{ text: 'Hello.' }] } });
  const provider = createProvider(upstream.baseUrl);
  onTestFinished(async () => {
    await provider.close?.();
    await upstream.close();
  });
  const app = await createChatApp({
    model: Object.assign(provider, { calls: [] }),
    settings: { admin: { enforceCredits: false, DefaultAPIModel: model } },
  });
  const sent = () => JSON.stringify(upstream.requests.at(-1)?.body);
  return {
    app,
    /** Sends a completion, and returns the vendor request and the fields that were named as ignored. */
    async complete(body: object) {
      const response = await app.ask('POST', '/api/ai/v1/completions', { body: { model, ...body } });
      const text = await response.text();
      expect([response.status, text]).toEqual([200, expect.stringContaining('[DONE]')]);
      const [meta] = getEvents(text) as { ignored?: readonly string[] }[];
      return { bytes: sent(), ignored: meta?.ignored ?? [] };
    },
    async chat(body: object) {
      const { status, body: answer } = await app.chat({ message: 'Hi', model, wait: true, ...body });
      expect([status, answer.type, answer.error]).toEqual([200, 'message', undefined]);
      return sent();
    },
  };
}

const tool = (name: string) => ({
  toolSchema: { name, description: `About ${name}`, parameters: { type: 'object', properties: {} } },
});

/** By option: a value and its expected spelling in the vendor request. */
const OPTIONS: Readonly<Record<string, readonly [value: unknown, marker?: string]>> = {
  temperature: [0.625, '0.625'],
  maxTokens: [777, '777'],
  max_tokens: [777, '777'],
  tools: [[tool('zebra')], '"zebra"'],
  response_format: [
    {
      type: 'json_schema',
      json_schema: {
        name: 'verdict',
        schema: { type: 'object', properties: { quokka: { type: 'string' } } },
      },
    },
    'quokka',
  ],
  thinking: [{ enabled: true, budget_tokens: 2048 }],
  topP: [0.375, '0.375'],
  topK: [41, '41'],
  stop: [['ZSTOP'], 'ZSTOP'],
  seed: [7341, '7341'],
  toolChoice: [{ name: 'touch' }, 'touch'],
  parallelToolCalls: [false],
  reasoningEffort: ['high', 'high'],
};

const SNAKE: Readonly<Record<string, string>> = {
  topP: 'top_p',
  topK: 'top_k',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  reasoningEffort: 'reasoning_effort',
};

/** Fields without an effect on the vendor's request, by design. */
const WITHOUT_EFFECT = ['stream', 'store'];

const schemaKeys = (schema: unknown): string[] => Object.keys((schema as { shape: object }).shape);
const optional = (schema: unknown) => (schema as { unwrap(): unknown }).unwrap();

const completionBody = createCompletion.input.body as unknown as { shape: Record<string, unknown> };
const AT_TOP = schemaKeys(completionBody).filter((name) => !['model', 'messages', 'options'].includes(name));
const NESTED = schemaKeys(optional(completionBody.shape.options));

const USER = { role: 'user', content: 'Hi' };

describe('list of samples', () => {
  it('has a sample of every option', () => {
    const spelled = Object.keys(OPTIONS).flatMap((name) => [name, SNAKE[name] ?? name]);
    for (const name of [...AT_TOP, ...NESTED]) expect([...spelled, ...WITHOUT_EFFECT]).toContain(name);
  });
});

describe.each(VENDORS)('option of a completion, by $name', (vendor) => {
  it('reaches the vendor in every spelling and place, or is named as ignored', async () => {
    const { complete } = await connect(vendor);
    const tools = [tool('look'), tool('touch')];
    // The baseline also sets a cap, so that a thinking budget does not change it.
    const ask = async (top: object, options: object) => {
      const cap =
        'max_tokens' in top || 'maxTokens' in options || 'max_tokens' in options ? {} : { max_tokens: 9000 };
      const offered = 'tools' in top || 'tools' in options ? {} : { tools };
      return complete({ messages: [USER], ...cap, ...offered, ...top, options });
    };
    const baseline = (await ask({}, {})).bytes;
    for (const [option, [value, marker]] of Object.entries(OPTIONS)) {
      for (const name of new Set([option, SNAKE[option] ?? option])) {
        const places = [
          ...(AT_TOP.includes(name) ? [{ path: name, asked: await ask({ [name]: value }, {}) }] : []),
          ...(NESTED.includes(name)
            ? [{ path: `options.${name}`, asked: await ask({}, { [name]: value }) }]
            : []),
        ];
        expect(places.length, name).toBeGreaterThan(0);
        for (const { path, asked } of places) {
          const isLacking = vendor.lacks.includes(option);
          expect({ path, ignored: asked.ignored }).toEqual({ path, ignored: isLacking ? [path] : [] });
          expect({ path, same: asked.bytes === baseline }).toEqual({ path, same: isLacking });
          if (!isLacking && marker !== undefined) expect(asked.bytes, path).toContain(marker);
        }
      }
    }
  });

  it('has priority at the top level', async () => {
    const { complete } = await connect(vendor);
    const { bytes } = await complete({
      messages: [USER],
      max_tokens: 777,
      tools: [tool('zebra')],
      reasoning_effort: 'low',
      options: { maxTokens: 888, tools: [tool('okapi')], reasoningEffort: 'high' },
    });
    expect(bytes).toMatch(/777/);
    expect(bytes).toContain('zebra');
    expect(bytes).not.toMatch(/888|okapi/);
  });

  it('names a field at most once, and no field without options', async () => {
    const { complete } = await connect(vendor);
    expect((await complete({ messages: [USER], options: { stream: true } })).ignored).toEqual([]);
    const both = { topK: 3, top_k: 4 };
    const { ignored } = await complete({ messages: [USER], ...both, options: both });
    expect(ignored).toEqual(vendor.lacks.includes('topK') ? ['topK'] : []);
  });
});

const IMAGE = Buffer.from('an image').toString('base64');

/** By type of content part: a conversation with it and its expected form in the vendor request. */
const PARTS: Readonly<
  Record<string, { readonly messages: readonly object[]; readonly markers: readonly string[] }>
> = {
  text: { messages: [{ role: 'user', content: [{ type: 'text', text: 'zebra' }] }], markers: ['zebra'] },
  image: {
    messages: [
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/webp', data: IMAGE } }],
      },
    ],
    markers: [IMAGE, 'image/webp'],
  },
  image_url: {
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/gif;base64,${IMAGE}` } }],
      },
    ],
    markers: [IMAGE, 'image/gif'],
  },
  input_image: {
    messages: [
      { role: 'user', content: [{ type: 'input_image', image_url: `data:image/jpeg;base64,${IMAGE}` }] },
    ],
    markers: [IMAGE, 'image/jpeg'],
  },
  tool_use: {
    messages: [
      USER,
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_9', name: 'look', input: { at: 'quokka' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_9', content: 'seen' }] },
    ],
    markers: ['look', 'quokka', 'seen'],
  },
  tool_result: {
    messages: [
      USER,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_9', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_9',
            is_error: true,
            content: [
              { type: 'text', text: 'one' },
              { type: 'text', text: 'two' },
            ],
          },
        ],
      },
    ],
    markers: ['one\\ntwo'],
  },
};

describe.each(VENDORS)('message of a completion, by $name', (vendor) => {
  it('reaches the vendor with every kind of part', async () => {
    const { complete } = await connect(vendor);
    for (const { messages, markers } of Object.values(PARTS)) {
      const { bytes } = await complete({ messages, tools: [tool('look')] });
      for (const marker of markers) expect(bytes).toContain(marker);
    }
    const { bytes: system } = await complete({ messages: [{ role: 'system', content: 'zebra' }, USER] });
    expect(system).toContain('zebra');
  });

  it('reports a failed tool to the vendor', async () => {
    const { complete } = await connect(vendor);
    const { messages = [] } = PARTS.tool_result ?? {};
    const text = JSON.stringify(messages);
    const failed = await complete({ messages, tools: [tool('look')] });
    const worked = JSON.parse(text.replace('"is_error":true', '"is_error":false'));
    expect((await complete({ messages: worked, tools: [tool('look')] })).bytes).not.toBe(failed.bytes);
  });
});

/** Chat fields that change the vendor request: a value and its expected form. */
const CHAT_FIELDS: Readonly<Record<string, readonly [value: unknown, marker: RegExp, more?: object]>> = {
  message: ['zebra', /zebra/],
  temperature: [0.625, /0\.625/],
  max_tokens: [777, /777/],
  maxTokens: [777, /777/],
  maxOutputTokens: [777, /777/],
  enableTools: [true, /dice_roll/],
  tools: [['dice_roll'], /dice_roll/],
  systemPrompt: ['Speak like a quokka.', /quokka/],
  clientTools: [
    [{ name: 'measure_quokka', description: 'Measures', parameters: { type: 'object', properties: {} } }],
    /measure_quokka/,
    { approvals: true },
  ],
};

/** Fields that select, store or return something without changing a request. They have their own tests. */
const CHAT_WITHOUT_EFFECT = [
  'sessionId',
  'newConversation',
  'organizationId',
  'model',
  'stream',
  'historyCount',
  'fileIds',
  'wait',
  'toolMode',
  'approvals',
  'enableQuestMaster',
  'enableMementos',
  'enableAgents',
  'promptMode',
  'skip_auto_offers',
  'includePromptDetails',
  'includeSystemPrompt',
];

describe('list of chat samples', () => {
  it('has a sample of every field', () => {
    const known = [...Object.keys(CHAT_FIELDS), ...CHAT_WITHOUT_EFFECT];
    expect(schemaKeys(sendChatMessage.input.body).sort()).toEqual(known.sort());
  });
});

describe.each(VENDORS)('field of a chat, by $name', (vendor) => {
  it('reaches the vendor', async () => {
    const { chat } = await connect(vendor);
    for (const [field, [value, marker, more]] of Object.entries(CHAT_FIELDS)) {
      const bytes = await chat({ ...more, [field]: value });
      if (vendor.lacks.includes(field)) expect(bytes, field).not.toMatch(marker);
      else expect(bytes, field).toMatch(marker);
    }
  });
});
