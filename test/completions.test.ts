import { setImmediate as turn } from 'node:timers/promises';
import type { ModelChunk, ModelProvider } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, eventsOf } from './support/model.ts';
import { createWorld } from './support/world.ts';

const QUESTION = { model: 'scripted', messages: [{ role: 'user', content: 'Weather in Oslo?' }] };

describe('a turn with tools and thinking', () => {
  it('sends text as it comes, all calls of the turn in one event, and takes blocks and results back verbatim', async () => {
    const provider = createScriptedProvider((call) => {
      call.say({ type: 'thinking_delta', text: 'hm' });
      call.say({ type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } });
      call.say({ type: 'thinking', block: { type: 'thought_signature', value: 's2' } });
      call.say({ type: 'text', text: 'Let me ' }, { type: 'text', text: 'see.' });
      call.say({ type: 'tool_use', id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' });
      call.say({ type: 'tool_use', id: 't2', name: 'time', arguments: '{}' });
      call.say({ type: 'usage', usage: { input: 5, output: 9 } }, { type: 'finish', reason: 'tool_use' });
      call.end();
    });
    const world = await createWorld({ models: [provider] });
    const tools = [
      { toolSchema: { name: 'weather', description: 'Weather', parameters: { type: 'object' } } },
    ];
    const first = await world.ask('POST', '/api/ai/v1/completions', {
      body: { ...QUESTION, options: { tools } },
      headers: { 'X-Request-ID': 'r-1' },
    });
    const text = await first.text();
    const thinking = [
      { type: 'thinking', thinking: 'hm', signature: 's1' },
      { type: 'thinking', provider_type: 'thought_signature', value: 's2' },
    ];
    expect(text).toMatch(/^: keep-alive\n\ndata: /);
    expect(eventsOf(text)).toEqual([
      { type: 'meta', requestId: 'r-1' },
      { type: 'content', text: 'Let me see.', thinking },
      {
        type: 'tool_use',
        text: '',
        tools: [
          { name: 'weather', arguments: '{"city":"Oslo"}', id: 't1' },
          { name: 'time', arguments: '{}', id: 't2' },
        ],
        usage: { inputTokens: 5, outputTokens: 9 },
        credits: { used: 0.14, usdCost: 0.0014 },
        stopReason: 'tool_use',
      },
      '[DONE]',
    ]);

    const second = await world.ask('POST', '/api/ai/v1/completions', {
      body: {
        ...QUESTION,
        messages: [
          ...QUESTION.messages,
          {
            role: 'assistant',
            content: [...thinking, { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } }],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'rain' }] }],
          },
        ],
      },
    });
    await second.text();
    expect(provider.calls[1]?.request.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
          { type: 'thinking', block: { type: 'thought_signature', value: 's2' } },
          { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 't1', toolName: 'weather', content: 'rain', isError: false },
        ],
      },
    ]);
  });

  it('keeps the connection alive while a model is silent, and sends the head after ten seconds at the latest', async () => {
    const provider = createScriptedProvider();
    const world = await createWorld({ models: [provider] });
    const asked = world.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    // Until the model is asked nothing waits for its first event.
    while (provider.calls.length === 0) await turn();
    await turn();
    await world.clock.advance(10_000);
    const response = await asked;
    expect(response.status).toBe(200);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^: keep-alive\n\ndata: {"type":"meta"/);
    const quiet = reader?.read();
    await world.clock.advance(20_000);
    expect((await quiet)?.value).toBe(': keep-alive\n\n');
    const [call] = provider.calls;
    call?.say({ type: 'text', text: 'Here.' });
    call?.end();
    let rest = '';
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read())
      rest += step.value;
    expect(rest).toContain('Here.');
    expect(rest).toMatch(/data: \[DONE\]\n\n$/);
    expect(world.clock.pending).toBe(0);
  });

  it('sends the head after ten seconds too when the provider has not even taken the call', async () => {
    let take = (): void => undefined;
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    const provider = createScriptedProvider(() => taken);
    const world = await createWorld({ models: [provider] });
    const asked = world.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    while (provider.calls.length === 0) await turn();
    await turn();
    await world.clock.advance(10_000);
    const response = await asked;
    expect(response.status).toBe(200);
    const [call] = provider.calls;
    call?.say({ type: 'text', text: 'Here.' });
    call?.end();
    take();
    expect(await response.text()).toMatch(/"text":"Here\.".*data: \[DONE\]\n\n$/s);
    expect(world.clock.pending).toBe(0);
  });

  it('leaves a provider that takes the call when its client has gone, free of charge', async () => {
    let take = (): void => undefined;
    let isLeft = false;
    const provider = createScriptedProvider();
    const deaf: ModelProvider = {
      ...provider,
      async generate() {
        await new Promise<void>((resolve) => {
          take = resolve;
        });
        const answer = endless();
        return {
          [Symbol.asyncIterator]: () => ({
            next: () => answer.next(),
            async return() {
              isLeft = true;
              return { done: true, value: undefined };
            },
          }),
        };
      },
    };
    const world = await createWorld({ models: [deaf] });
    const controller = new AbortController();
    const asked = world.ask('POST', '/api/ai/v1/completions', { body: QUESTION, signal: controller.signal });
    await world.settle();
    controller.abort();
    await asked;
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    take();
    await world.settle();
    expect(isLeft).toBe(true);
    expect(world.clock.pending).toBe(0);
  });

  it('stops the provider of a client that leaves before the first event, free of charge', async () => {
    const provider = createScriptedProvider();
    const world = await createWorld({ models: [provider] });
    const controller = new AbortController();
    const asked = world.ask('POST', '/api/ai/v1/completions', { body: QUESTION, signal: controller.signal });
    while (provider.calls.length === 0) await turn();
    controller.abort();
    await provider.calls[0]?.whenStopped;
    await asked;
    const [charge] = await world.ledger.charges({ account: world.account }, 1);
    expect(charge).toMatchObject({ status: 'released', amount: 0 });
    expect(world.incidents).toEqual([]);
    expect(world.clock.pending).toBe(0);
  });
});

describe('a provider of the host that breaks its promises', () => {
  const hi: ModelChunk = { type: 'text', text: 'x'.repeat(25) };

  /** What it gives, after a first word. */
  const faulty: Readonly<Record<string, (step: number) => Promise<IteratorResult<ModelChunk>>>> = {
    'gives a part that is none': async () => ({ done: false, value: null as unknown as ModelChunk }),
    'gives text that is none': async () => ({
      done: false,
      value: { type: 'text' } as unknown as ModelChunk,
    }),
    'gives thinking that is no JSON': async (step) =>
      step === 2
        ? { done: false, value: { type: 'thinking', block: { type: 'thinking', budget: 10n } } }
        : { done: true, value: undefined },
    'throws instead of rejecting': () => {
      throw new Error('SECRET of the provider');
    },
    'gives no promise': () => ({ done: true, value: undefined }) as unknown as Promise<never>,
  };

  it.each(Object.entries(faulty))('%s: one error event, and what came out is paid for', async (_, next) => {
    let isLeft = false;
    let steps = 0;
    const provider: ModelProvider = {
      ...createScriptedProvider(),
      generate: async () => ({
        [Symbol.asyncIterator]: () => ({
          next() {
            steps += 1;
            return steps === 1 ? Promise.resolve({ done: false, value: hi }) : next(steps);
          },
          async return() {
            isLeft = true;
            return { done: true, value: undefined };
          },
        }),
      }),
    };
    const world = await createWorld({ models: [provider] });
    const response = await world.ask('POST', '/api/ai/v1/completions', {
      body: QUESTION,
      headers: { 'X-Request-ID': 'r-1' },
    });
    const text = await response.text();
    expect(eventsOf(text).slice(1)).toEqual([
      { type: 'content', text: 'x'.repeat(25) },
      { type: 'error', message: 'Model response error: the provider failed', requestId: 'r-1' },
      '[DONE]',
    ]);
    expect(text).not.toContain('SECRET');
    expect(isLeft).toBe(true);
    expect(world.incidents).toHaveLength(1);
    const [charge] = await world.ledger.charges({ account: world.account }, 1);
    expect(charge).toMatchObject({ status: 'settled', usage: { output: 10 } });
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    expect(world.clock.pending).toBe(0);
  });
});

async function* endless(): AsyncGenerator<ModelChunk> {
  for (;;) yield { type: 'text', text: 'x' };
}
