import { setImmediate as turn } from 'node:timers/promises';
import type { Settings } from '@questline/core';
import type { GenerateRequest, ModelInfo, ModelProvider, Usage } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createAnthropicUpstream, createPromptCache, type Script } from '@questline/testing/upstreams';
import { afterEach, describe, expect, it } from 'vitest';
import { createExecutionApp } from '../support/execution.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Micro-credits per token: 100 credits are one US dollar. */
const MICRO = { input: 200, output: 1000, cachedInput: 20, cacheWrite: 250 };

const MODEL: ModelInfo = {
  id: 'cached',
  providerModel: 'claude-sonnet-5-5',
  name: 'Cached',
  type: 'text',
  provider: 'anthropic',
  contextWindow: 200_000,
  maxOutputTokens: 8000,
  supportsTools: true,
  supportsThinking: true,
  prices: { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 2.5 },
};

type Change = (request: GenerateRequest, call: number) => GenerateRequest;
type Answer = (call: number, body: { readonly tool_choice?: { readonly type?: string } }) => Script['steps'];

const hello: Answer = () => [{ text: 'Hello.' }];
/** Calls a tool in each round except the tenth, or until tools are forbidden. */
const working =
  (rounds: number): Answer =>
  (call, { tool_choice }) =>
    call >= rounds || tool_choice?.type === 'none'
      ? [{ text: 'Done.' }]
      : [
          { text: 'I count.' },
          { tool: 'calculator', id: `c${call}`, arguments: [`{"expression":"${call}+1"}`] },
        ];

/** A workspace with the vendor's protocol and a cache that follows the vendor's rules. */
async function cachedApp(
  answer: Answer,
  settings: Partial<Settings> = {},
  change: Change = (request) => request,
) {
  const cache = createPromptCache();
  const usages: Required<Usage>[] = [];
  const upstream = await createAnthropicUpstream({
    script: ({ body }) => {
      const usage = { ...cache.count(body), output: 7 } as Required<Usage>;
      usages.push(usage);
      const steps = answer(usages.length, body as Parameters<Answer>[1]);
      return { ...(steps && { steps }), usage };
    },
  });
  const anthropic = createAnthropicProvider({
    apiKey: 'k',
    baseUrl: upstream.baseUrl,
    models: () => [MODEL],
  });
  closers.push(
    () => upstream.close(),
    async () => anthropic.close?.(),
  );
  let calls = 0;
  const provider: ModelProvider = {
    ...anthropic,
    generate: (request, options) => {
      calls += 1;
      return anthropic.generate(change(request, calls), options);
    },
  };
  const app = await createExecutionApp({
    models: [provider],
    credits: 100_000,
    settings: {
      // About 2,400 tokens: more than the minimum of the cache.
      systemPrompt: 'This is a library. '.repeat(500),
      ...settings,
      admin: { DefaultAPIModel: 'cached', ...settings.admin },
    },
  });
  return {
    ...app,
    usages,
    upstream,
    async done(id: string) {
      for (;;) {
        const run = await app.look(id);
        if (run.status !== 'pending' && run.status !== 'running') return run;
        await turn();
      }
    },
    charged: async () =>
      (await app.ledger.charges({ account: app.account }, 100)).map(({ amount }) => amount),
  };
}

function hitRate(usages: readonly Required<Usage>[]): number {
  const sum = (read: (usage: Required<Usage>) => number) =>
    usages.reduce((all, usage) => all + read(usage), 0);
  return sum(({ cachedInput }) => cachedInput) / sum((u) => u.input + u.cachedInput + u.cacheWrite);
}

function price({ input, output, cachedInput, cacheWrite }: Required<Usage>): number {
  return (
    input * MICRO.input +
    output * MICRO.output +
    cachedInput * MICRO.cachedInput +
    cacheWrite * MICRO.cacheWrite
  );
}

const sum = (amounts: readonly number[]): number => amounts.reduce((all, amount) => all + amount, 0);

/** A run whose model uses a tool in nine rounds and answers in the tenth. */
async function tenRounds(change?: Change, body: object = {}) {
  const app = await cachedApp(working(10), {}, change);
  const { id } = (await app.run({ message: 'Count', tools: ['calculator'], ...body })).body;
  const run = await app.done(id);
  expect([run.status, run.total_iterations, run.error]).toEqual(['completed', 10, null]);
  expect(app.usages).toHaveLength(10);
  return app;
}

describe('run of ten rounds', () => {
  it('reads most of its input from the cache and is charged exactly', async () => {
    const app = await tenRounds();
    expect(hitRate(app.usages)).toBeGreaterThan(0.8);
    const [first, ...rest] = app.usages;
    expect([first?.cachedInput, rest.every(({ cachedInput }) => cachedInput > 2000)]).toEqual([0, true]);
    expect(sum(await app.charged())).toBe(sum(app.usages.map(price)));
    const uncached = app.usages.map((usage) =>
      price({
        ...usage,
        input: usage.input + usage.cachedInput + usage.cacheWrite,
        cachedInput: 0,
        cacheWrite: 0,
      }),
    );
    // Including output.
    expect(sum(await app.charged())).toBeLessThan(sum(uncached) / 2);
  });

  it('keeps reading the prompt prefix when the last round must not use tools', async () => {
    const app = await tenRounds(undefined, { max_iterations: 10 });
    expect(hitRate(app.usages)).toBeGreaterThan(0.8);
    const last = app.usages.at(-1);
    expect([(last?.cachedInput ?? 0) > 2000, last?.cacheWrite]).toEqual([true, 0]);
  });

  const time: Change = (request, call) => ({
    ...request,
    messages: request.messages.map((message) =>
      message.role === 'system'
        ? { ...message, content: [{ type: 'text', text: `Call ${call}` }, ...message.content] }
        : message,
    ),
  });
  const shuffled: Change = (request, call) => ({
    ...request,
    tools: call % 2 === 0 ? [...(request.tools ?? [])].reverse() : (request.tools ?? []),
  });
  const renewed: Change = (request, call) => ({
    ...request,
    tools: (request.tools ?? []).map((tool) => ({ ...tool, description: `${tool.description} (${call})` })),
  });
  it.each([
    ['the system text contains changing data', time, 0],
    ['tools change their order', shuffled, 0.799],
    ['a tool description changes', renewed, 0],
  ] as const)('reads little from the cache when %s', async (_case, change, most) => {
    const app = await tenRounds(change);
    expect(hitRate(app.usages)).toBeLessThanOrEqual(most);
  });
});

describe('three equal calls', () => {
  const ask = async (app: Awaited<ReturnType<typeof cachedApp>>) => {
    const response = await app.ask('POST', '/api/ai/v1/completions', {
      body: {
        model: 'cached',
        messages: [
          { role: 'system', content: 'Rules of the house. '.repeat(500) },
          { role: 'user', content: 'Hi' },
        ],
        options: { maxTokens: 50 },
      },
    });
    expect(await response.text()).toContain('[DONE]');
  };

  it('write, read and read the cache and are charged less on each read', async () => {
    const app = await cachedApp(hello);
    for (let call = 0; call < 3; call += 1) await ask(app);
    const [written, ...read] = app.usages;
    expect(written).toMatchObject({ cachedInput: 0, cacheWrite: expect.any(Number) });
    for (const usage of read)
      expect(usage).toMatchObject({ cachedInput: written?.cacheWrite, cacheWrite: 0 });
    expect((await app.charged()).toReversed()).toEqual(app.usages.map(price));
    const { recent } = (await app.json('GET', '/api/v1/usage')).body;
    const rates = recent.map(({ cache_hit_rate }) => cache_hit_rate).toReversed();
    expect(rates).toEqual([0, expect.closeTo(0.999, 2), expect.closeTo(0.999, 2)]);
  });

  it('are charged in full when the cache is disabled', async () => {
    const app = await cachedApp(hello, { promptCache: 'off' });
    for (let call = 0; call < 3; call += 1) await ask(app);
    expect(hitRate(app.usages)).toBe(0);
    expect(JSON.stringify(app.upstream.requests.map(({ body }) => body))).not.toContain('cache_control');
  });

  it('hold the full input price whatever the cache contains', async () => {
    const app = await cachedApp(hello);
    const held: number[] = [];
    const { ledger } = app;
    const hold = ledger.hold.bind(ledger);
    ledger.hold = (request) => {
      held.push(request.amount);
      return hold(request);
    };
    for (let call = 0; call < 2; call += 1) await ask(app);
    // 10,002 input characters and 50 output tokens.
    const full = Math.ceil(10_002 / 2.5) * MICRO.input + 50 * MICRO.output;
    expect(held).toEqual([full, full]);
  });
});

describe('turns of a session', () => {
  it('begin with the cached prefix, followed by the parts of a single turn', async () => {
    const app = await cachedApp(hello);
    const say = (message: string) => app.chat({ message, sessionId: app.sessionId, wait: true });
    for (let number = 0; number < 4; number += 1) {
      await say(`${'Tell me more. '.repeat(100)}${number}`);
      await app.clock.advance(1);
    }
    const [, ...later] = app.usages;
    for (const { cachedInput, input, cacheWrite } of later) {
      expect(cachedInput / (cachedInput + input + cacheWrite)).toBeGreaterThan(0.8);
    }
  });

  it('share a cache key that contains no id', async () => {
    const keys: (string | undefined)[] = [];
    const app = await cachedApp(hello, {}, (request) => {
      keys.push(request.promptCache?.key);
      return request;
    });
    for (const message of ['One', 'Two']) {
      await app.chat({ message, sessionId: app.sessionId, wait: true });
    }
    await app.chat({ message: 'Elsewhere', newConversation: true, wait: true });
    const [first, second, other] = keys;
    expect(first).toMatch(/^[\w-]{32}$/);
    expect([second === first, other === first]).toEqual([true, false]);
    expect(first).not.toContain(app.sessionId.slice(0, 8));
  });
});
