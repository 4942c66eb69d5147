import { setImmediate as turn } from 'node:timers/promises';
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
