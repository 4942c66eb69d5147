import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { sayAtOnce, silent } from '../support/chat.ts';
import { collect, reason, useTools } from '../support/vendor-wire.ts';
import { ASK, createAnthropicApp, TOOLS } from './support.ts';

const USAGE = {
  input_tokens: 10,
  output_tokens: 9,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 30,
  output_tokens_details: { thinking_tokens: 7 },
  server_tool_use: null,
};

describe('messages of the official SDK', () => {
  it('are answered in one piece, with usage in the classes of the ledger and the charge', async () => {
    const app = await createAnthropicApp({ onCall: reason });
    const { data, response, request_id: requestId } = await app.client.messages.create(ASK).withResponse();
    expect(data).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's1' },
        { type: 'text', text: 'Rain.', citations: null },
      ],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        ...USAGE,
        cache_creation: null,
        inference_geo: null,
        service_tier: 'standard',
        speed: null,
      },
      credits: { used: 0.54, usd_cost: 0.0054 },
    });
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge?.usage).toEqual({ input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 });
    expect(charge).toMatchObject({ amount: 540_000, operation: 'createAnthropicMessage' });
    expect(response.headers.get('x-credits-used')).toBe('0.54');
    expect(response.headers.get('anthropic-ratelimit-requests-limit')).toBe('10000');
    expect(response.headers.get('anthropic-ratelimit-requests-remaining')).toBe('9999');
    expect(Date.parse(response.headers.get('anthropic-ratelimit-requests-reset') ?? '')).toBeGreaterThan(
      app.clock.now() - 1,
    );
    expect(requestId).toBe(response.headers.get('x-request-id'));
  });

  it('are streamed to the same message', async () => {
    const app = await createAnthropicApp({ onCall: reason });
    const whole = await app.client.messages.create(ASK);
    const stream = app.client.messages.stream(ASK);
    const streamed = await stream.finalMessage();
    expect(streamed.content).toMatchObject([
      { type: 'thinking', thinking: 'hm', signature: 's1' },
      { type: 'text', text: 'Rain.' },
    ]);
    expect(streamed.usage).toEqual(whole.usage);
    expect(streamed.stop_reason).toBe('end_turn');
    const events = await collect(await app.client.messages.create({ ...ASK, stream: true }));
    expect(events[0]).toMatchObject({ message: { id: expect.stringMatching(/^msg_/), model: 'scripted' } });
    const credits = { used: 0.54, usd_cost: 0.0054 };
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', usage: USAGE, credits });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ amount }) => amount)).toEqual([540_000, 540_000, 540_000]);
  });

  it.each([false, true])('run parallel tools in several rounds (stream: %s)', async (stream) => {
    const app = await createAnthropicApp({ onCall: useTools });
    const messages: MessageParam[] = [...ASK.messages];
    const ask = async () => {
      const body = { ...ASK, messages, tools: TOOLS };
      return stream ? app.client.messages.stream(body).finalMessage() : app.client.messages.create(body);
    };
    const first = await ask();
    expect(first.stop_reason).toBe('tool_use');
    const calls = first.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
    expect(calls.map(({ id, name, input }) => [id, name, input])).toEqual([
      ['t1', 'weather', { city: 'Oslo' }],
      ['t2', 'time', {}],
    ]);
    messages.push({ role: 'assistant', content: first.content });
    messages.push({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't2', content: 'noon' },
        { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'rain' }], is_error: true },
        { type: 'text', text: 'Well?' },
      ],
    });
    const second = await ask();
    expect(second.content).toMatchObject([{ type: 'text', text: 'Rain, at noon.' }]);
    expect(second.stop_reason).toBe('end_turn');
    expect(app.calls[1]?.request.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 't2', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 't2', toolName: 'time', content: 'noon', isError: false },
          { type: 'tool_result', toolUseId: 't1', toolName: 'weather', content: 'rain', isError: true },
          { type: 'text', text: 'Well?' },
        ],
      },
    ]);
    expect(app.calls[0]?.request.tools).toEqual([
      {
        name: 'weather',
        description: 'The weather of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
      },
      { name: 'time', description: '', parameters: { type: 'object' } },
    ]);
  });

  it('have a structured answer', async () => {
    const app = await createAnthropicApp({ onCall: sayAtOnce('{"city":"Oslo"}') });
    const format = zodOutputFormat(z.object({ city: z.string() }));
    const answer = await app.client.messages.parse({ ...ASK, output_config: { format } });
    expect(answer.parsed_output).toEqual({ city: 'Oslo' });
    expect(app.calls[0]?.request.responseFormat).toMatchObject({
      type: 'schema',
      schema: { type: 'object', required: ['city'] },
    });
  });

  it('stop the model when the client leaves, and charge what was produced', async () => {
    const app = await createAnthropicApp({ onCall: silent });
    const stream = app.client.messages.stream(ASK);
    const left = stream.done().catch((error: unknown) => error);
    stream.on('text', () => stream.abort());
    await vi.waitFor(() => expect(app.calls).toHaveLength(1));
    app.calls[0]?.say({ type: 'text', text: 'One two three' });
    await left;
    await app.calls[0]?.whenStopped;
    await vi.waitFor(async () => {
      const [charge] = await app.ledger.charges({ account: app.account }, 10);
      expect(charge?.amount).toBeGreaterThan(0);
    });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('answer a repeated idempotency key with the first answer, and charge once', async () => {
    const app = await createAnthropicApp({ onCall: sayAtOnce('Rain.') });
    const headers = { 'Idempotency-Key': 'k1' };
    const first = await app.send('POST', '/messages', ASK, headers);
    const repeated = await app.send('POST', '/messages', ASK, headers);
    expect(await repeated.json()).toEqual(await first.json());
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect((await app.send('POST', '/messages', { ...ASK, top_k: 3 }, headers)).status).toBe(400);
    expect(app.calls).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
  });

  it('estimate tokens without a charge', async () => {
    const app = await createAnthropicApp();
    const count = (content: string) =>
      app.client.messages.countTokens({
        model: 'scripted',
        messages: [{ role: 'user', content }],
        tools: TOOLS,
      });
    const short = await count('x'.repeat(250));
    const long = await count('x'.repeat(2500));
    expect(long.input_tokens - short.input_tokens).toBe(900);
    expect(long).toEqual({ input_tokens: expect.any(Number), estimated: true });
    const ask = { model: 'scripted', messages: ASK.messages };
    const [plain, offering] = [
      await app.client.messages.countTokens(ask),
      await app.client.messages.countTokens({ ...ask, tools: TOOLS }),
    ];
    expect(offering.input_tokens).toBeGreaterThan(plain.input_tokens);
    const other = { ...ask, model: 'none' };
    await expect(app.client.messages.countTokens(other)).rejects.toMatchObject({ status: 404 });
    expect((await app.send('POST', '/messages/count_tokens', { ...ask, container: 'c' })).status).toBe(400);
    const response = await app.send('POST', '/messages/count_tokens', {
      model: 'scripted',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'url', url: 'https://images.example.com/a.png' } },
            { type: 'document', source: { type: 'file', file_id: 'none' } },
          ],
        },
      ],
    });
    expect(await response.json()).toEqual({ input_tokens: 2000, estimated: true });
    expect(response.headers.get('x-token-count')).toBe('estimate');
    expect(app.calls).toHaveLength(0);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
  });

  it('find models under the fields of both vendors', async () => {
    const app = await createAnthropicApp();
    const models = await collect(app.client.models.list());
    expect(models).toMatchObject([
      { id: 'scripted', type: 'model', object: 'model', display_name: 'Scripted', max_tokens: 10_000 },
    ]);
    expect(await app.client.models.retrieve('scripted')).toMatchObject({ id: 'scripted', created: 0 });
    await expect(app.client.models.retrieve('none')).rejects.toMatchObject({
      status: 404,
      type: 'not_found_error',
    });
  });
});
