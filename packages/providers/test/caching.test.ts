import type { GenerateRequest, ModelMessage, ModelPart } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createAnthropicUpstream, createPromptCache } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer } from './collect.ts';
import { connect } from './set-up.ts';

const say = (role: ModelMessage['role'], text: string, more: Partial<ModelMessage> = {}): ModelMessage => ({
  role,
  content: [{ type: 'text', text }],
  ...more,
});
/** 4,000 characters count as 1,000 tokens. */
const long = (mark: string): string => mark.padEnd(8000, '.');
const look = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } };

/** A provider with an upstream that simulates the cache. */
async function cached() {
  const cache = createPromptCache();
  return connect(
    createAnthropicUpstream,
    createAnthropicProvider,
    ({ body }) => ({ steps: [{ text: 'ok' }], usage: { ...cache.count(body), output: 1 } }),
    {},
  );
}

function request(messages: readonly ModelMessage[], more: Partial<GenerateRequest> = {}): GenerateRequest {
  return { model: 'claude-sonnet-5-5', maxTokens: 100, messages, ...more };
}

function toUsage(parts: readonly ModelPart[]) {
  const part = parts.findLast(({ type }) => type === 'usage');
  if (part?.type !== 'usage') throw new Error('expected a usage report');
  const { cachedInput = 0, cacheWrite = 0 } = part.usage;
  return { cachedInput, cacheWrite };
}

function marks(body: unknown): string[] {
  const { tools = [], system = [], messages } = body as Record<string, { content: unknown[] }[]>;
  const blocks = [...tools, ...system, ...(messages ?? []).flatMap(({ content }) => content)];
  return blocks.flatMap((block) => {
    const { name, text, cache_control } = block as Record<string, unknown>;
    return cache_control === undefined ? [] : [String(name ?? text).slice(0, 5)];
  });
}

describe('prompt cache of Anthropic', () => {
  it('is written by the first of three equal calls and read by the others', async () => {
    const { provider } = await cached();
    const asked = request([say('system', long('rules')), say('user', 'Hello')]);
    const first = toUsage(await answer(provider, asked));
    expect(first.cachedInput).toBe(0);
    expect(first.cacheWrite).toBeGreaterThan(1900);
    for (let call = 0; call < 2; call += 1) {
      expect(toUsage(await answer(provider, asked))).toEqual({
        cachedInput: first.cacheWrite,
        cacheWrite: 0,
      });
    }
  });

  it('is not written for a single question', async () => {
    const { provider, upstream } = await cached();
    expect(toUsage(await answer(provider, request([say('user', long('once'))])))).toEqual({
      cachedInput: 0,
      cacheWrite: 0,
    });
    expect(marks(upstream.requests[0]?.body)).toEqual([]);
  });

  it('covers a continued conversation up to its last question', async () => {
    const { provider, upstream } = await cached();
    const turns = [
      say('system', long('rules')),
      say('user', long('one')),
      say('assistant', 'two'),
      say('user', 'three'),
    ];
    await answer(provider, request(turns));
    expect(marks(upstream.requests[0]?.body)).toEqual(['rules', 'one..', 'three']);
    const more = [...turns, say('assistant', 'four'), say('user', 'five')];
    const { cachedInput } = toUsage(await answer(provider, request(more)));
    expect(cachedInput).toBeGreaterThan(3900);
  });

  it('gets at most four breakpoints and keeps the last ones of the caller', async () => {
    const { provider, upstream } = await cached();
    const turns = Array.from({ length: 6 }, (_, place) =>
      say(place % 2 === 0 ? 'user' : 'assistant', long(`t${place}`), { cacheBreakpoint: true }),
    );
    const asked = request([say('system', long('rules')), ...turns, say('user', 'now')], { tools: [look] });
    await answer(provider, asked);
    // The tools alone are shorter than the minimum.
    expect(marks(upstream.requests[0]?.body)).toEqual(['rules', 't4...', 't5...']);
  });

  it('uses the breakpoints of the caller instead of its own', async () => {
    const { provider, upstream } = await cached();
    const messages = [
      say('user', long('one'), { cacheBreakpoint: true }),
      say('assistant', 'two'),
      say('user', 'three'),
    ];
    await answer(provider, request(messages, { tools: [look] }));
    expect(marks(upstream.requests[0]?.body)).toEqual(['one..']);
  });

  it.each([
    ['when it is switched off', long('rules'), { promptCache: { mode: 'off' } }],
    ['for a prompt below the minimum of the model', 'rules', {}],
  ] as const)('is not used %s', async (_case, rules, more) => {
    const { provider, upstream } = await cached();
    const messages = [
      say('system', rules),
      say('user', 'one'),
      say('assistant', 'two'),
      say('user', 'three'),
    ];
    await answer(provider, request(messages, { tools: [look], ...more }));
    expect(marks(upstream.requests[0]?.body)).toEqual([]);
  });

  it.each([
    ['id', { id: 'claude-haiku-4-5' }],
    ['name at the vendor', { id: 'mine', providerModel: 'claude-haiku-4-5' }],
  ])('is not used below the minimum of a model of the host, known by its %s', async (_case, names) => {
    const own = { name: 'Mine', type: 'text', provider: 'x', contextWindow: 9, maxOutputTokens: 9 } as const;
    const models = [{ ...own, ...names, minCacheTokens: 10_000 }];
    const { provider, upstream } = await connect(
      createAnthropicUpstream,
      createAnthropicProvider,
      {},
      { models: () => models },
    );
    const messages = [say('system', long('rules')), say('user', 'Hello')];
    await answer(provider, request(messages, { model: 'claude-haiku-4-5' }));
    expect(marks(upstream.requests[0]?.body)).toEqual([]);
  });

  it('keeps entries for an hour when configured', async () => {
    const { provider, upstream } = await cached();
    const messages = [say('system', long('rules')), say('user', 'Hello')];
    await answer(provider, request(messages, { promptCache: { mode: 'auto', ttl: '1h' } }));
    expect(upstream.requests[0]?.body).toMatchObject({
      system: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }],
    });
  });
});
