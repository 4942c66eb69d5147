import { setImmediate as turn } from 'node:timers/promises';
import type { ModelChunk, ModelProvider } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, getEvents } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

const QUESTION = { model: 'scripted', messages: [{ role: 'user', content: 'Weather in Oslo?' }] };

describe('turn with tools and thinking', () => {
  it('streams text, joins the calls of the turn in one event and accepts blocks and results unchanged', async () => {
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
    const app = await createTestApp({ models: [provider] });
    const tools = [
      { toolSchema: { name: 'weather', description: 'Weather', parameters: { type: 'object' } } },
    ];
    const first = await app.ask('POST', '/api/ai/v1/completions', {
      body: { ...QUESTION, options: { tools } },
      headers: { 'X-Request-ID': 'r-1' },
    });
    const text = await first.text();
    const thinking = [
      { type: 'thinking', thinking: 'hm', signature: 's1' },
      { type: 'thinking', provider_type: 'thought_signature', value: 's2' },
    ];
    expect(text).toMatch(/^: keep-alive\n\ndata: /);
    expect(getEvents(text)).toEqual([
      { type: 'meta', requestId: 'r-1' },
      { type: 'reasoning', text: 'hm' },
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

    const second = await app.ask('POST', '/api/ai/v1/completions', {
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

  it('keeps the connection alive while a model is silent and sends headers within ten seconds', async () => {
    const provider = createScriptedProvider();
    const app = await createTestApp({ models: [provider] });
    const asked = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    // Nothing waits for the first event before the model is called.
    while (provider.calls.length === 0) await turn();
    await turn();
    await app.clock.advance(10_000);
    const response = await asked;
    expect(response.status).toBe(200);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^: keep-alive\n\ndata: {"type":"meta"/);
    const quiet = reader?.read();
    await app.clock.advance(20_000);
    expect((await quiet)?.value).toBe(': keep-alive\n\n');
    const [call] = provider.calls;
    call?.say({ type: 'text', text: 'Here.' });
    call?.end();
    let rest = '';
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read())
      rest += step.value;
    expect(rest).toContain('Here.');
    expect(rest).toMatch(/data: \[DONE\]\n\n$/);
    expect(app.clock.pending).toBe(0);
  });

  it('is never silent for more than ten seconds, and sends no keep-alive while there is output', async () => {
    const provider = createScriptedProvider();
    const app = await createTestApp({ models: [provider] });
    const asked = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    while (provider.calls.length === 0) await turn();
    const [call] = provider.calls;
    call?.say({ type: 'text', text: 'One' });
    const reader = (await asked).body?.pipeThrough(new TextDecoderStream()).getReader();
    const start = app.clock.now();
    const heard: [number, string][] = [];
    const listening = (async () => {
      for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
        for (const part of step.value.split('\n\n').filter((text) => text !== '')) {
          heard.push([
            (app.clock.now() - start) / 1000,
            /"text":"(\w+)"/.exec(part)?.[1] ?? part.slice(0, 12),
          ]);
        }
      }
    })();
    const pass = async (ms: number): Promise<void> => {
      await app.clock.advance(ms);
      await app.settle();
    };
    await app.settle();
    for (const text of ['Two', 'Three']) {
      await pass(4000);
      call?.say({ type: 'text', text });
      await app.settle();
    }
    for (let second = 8; second < 30; second += 1) await pass(1000);
    call?.say({ type: 'finish', reason: 'stop' });
    call?.end();
    await listening;
    expect(heard.slice(2).filter(([, what]) => !what.startsWith('data'))).toEqual([
      [0, 'One'],
      [4, 'Two'],
      [8, 'Three'],
      [18, ': keep-alive'],
      [28, ': keep-alive'],
    ]);
    expect(app.clock.pending).toBe(0);
  });

  it('sends headers after ten seconds when the provider has not accepted the call', async () => {
    let take = (): void => undefined;
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    const provider = createScriptedProvider(() => taken);
    const app = await createTestApp({ models: [provider] });
    const asked = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    while (provider.calls.length === 0) await turn();
    await turn();
    await app.clock.advance(10_000);
    const response = await asked;
    expect(response.status).toBe(200);
    const [call] = provider.calls;
    call?.say({ type: 'text', text: 'Here.' });
    call?.end();
    take();
    expect(await response.text()).toMatch(/"text":"Here\.".*data: \[DONE\]\n\n$/s);
    expect(app.clock.pending).toBe(0);
  });

  it('aborts a provider that accepts the call after the client disconnected, free of charge', async () => {
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
    const app = await createTestApp({ models: [deaf] });
    const controller = new AbortController();
    const asked = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION, signal: controller.signal });
    await app.settle();
    controller.abort();
    await asked;
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    take();
    await app.settle();
    expect(isLeft).toBe(true);
    expect(app.clock.pending).toBe(0);
  });

  it('aborts the provider call when the client disconnects before the first event, and charges the input', async () => {
    const provider = createScriptedProvider();
    const app = await createTestApp({ models: [provider] });
    const controller = new AbortController();
    const asked = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION, signal: controller.signal });
    while (provider.calls.length === 0) await turn();
    controller.abort();
    await provider.calls[0]?.whenStopped;
    await asked;
    const [charge] = await app.ledger.charges({ account: app.account }, 1);
    expect(charge).toMatchObject({ status: 'settled', amount: 70_000, usage: { input: 7, output: 0 } });
    expect(app.incidents).toEqual([]);
    expect(app.clock.pending).toBe(0);
  });
});

describe('invalid provider of the host', () => {
  const hi: ModelChunk = { type: 'text', text: 'x'.repeat(25) };

  /** Returns an invalid result after a first text. */
  const invalid: Readonly<Record<string, (step: number) => Promise<IteratorResult<ModelChunk>>>> = {
    'yields null': async () => ({ done: false, value: null as unknown as ModelChunk }),
    'yields a text part without text': async () => ({
      done: false,
      value: { type: 'text' } as unknown as ModelChunk,
    }),
    'yields a thinking block that is not JSON': async (step) =>
      step === 2
        ? { done: false, value: { type: 'thinking', block: { type: 'thinking', budget: 10n } } }
        : { done: true, value: undefined },
    'throws instead of rejecting': () => {
      throw new Error('SECRET of the provider');
    },
    'returns no promise': () => ({ done: true, value: undefined }) as unknown as Promise<never>,
  };

  it.each(Object.entries(invalid))(
    'ends with one error event and charges the output: %s',
    async (_, next) => {
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
      const app = await createTestApp({ models: [provider] });
      const response = await app.ask('POST', '/api/ai/v1/completions', {
        body: QUESTION,
        headers: { 'X-Request-ID': 'r-1' },
      });
      const text = await response.text();
      expect(getEvents(text).slice(1)).toEqual([
        { type: 'content', text: 'x'.repeat(25) },
        {
          type: 'error',
          message: 'Model response error: the provider failed',
          requestId: 'r-1',
          usage: { inputTokens: 7, outputTokens: 10 },
          credits: { used: 0.17, usdCost: 0.0017 },
        },
        '[DONE]',
      ]);
      expect(text).not.toContain('SECRET');
      expect(isLeft).toBe(true);
      expect(app.incidents).toHaveLength(1);
      const [charge] = await app.ledger.charges({ account: app.account }, 1);
      expect(charge).toMatchObject({ status: 'settled', usage: { output: 10 } });
      expect((await app.ledger.balance(app.account)).held).toBe(0);
      expect(app.clock.pending).toBe(0);
    },
  );
});

async function* endless(): AsyncGenerator<ModelChunk> {
  for (;;) yield { type: 'text', text: 'x' };
}
