import { describe, expect, it, vi } from 'vitest';
import { silent } from '../support/chat.ts';
import { reason, useTools } from '../support/vendor-wire.ts';
import { ASK, createAnthropicApp, readEvents, TOOLS } from './support.ts';

describe('events of the Anthropic wire', () => {
  it('come in the order of the vendor, with tokens at the start and at the end', async () => {
    const app = await createAnthropicApp({ onCall: reason });
    const response = await app.send('POST', '/messages', { ...ASK, stream: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = readEvents(await response.text());
    expect(events).toMatchObject([
      {
        type: 'message_start',
        message: { content: [], stop_reason: null, usage: { input_tokens: 7, output_tokens: 0 } },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's1' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Rain.' } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 10, output_tokens: 9, cache_read_input_tokens: 30 },
      },
      { type: 'message_stop' },
    ]);
  });

  it('start with the tokens of the provider, if it reports them first', async () => {
    const app = await createAnthropicApp({
      onCall(call) {
        call.say({ type: 'usage', usage: { input: 3, cachedInput: 40 } });
        call.say(
          { type: 'text', text: 'Hi' },
          { type: 'usage', usage: { input: 3, cachedInput: 40, output: 1 } },
        );
        call.end();
      },
    });
    const [start] = readEvents(await (await app.send('POST', '/messages', { ...ASK, stream: true })).text());
    expect(start).toMatchObject({
      message: { usage: { input_tokens: 3, cache_read_input_tokens: 40, output_tokens: 0 } },
    });
  });

  it('contain tool calls as blocks of their own, each complete', async () => {
    const app = await createAnthropicApp({ onCall: useTools });
    const response = await app.send('POST', '/messages', { ...ASK, tools: TOOLS, stream: true });
    const events = readEvents(await response.text()).filter(({ type }) => type.startsWith('content_block'));
    expect(events).toMatchObject([
      { index: 0, content_block: { type: 'tool_use', id: 't1', name: 'weather', input: {} } },
      { index: 0, delta: { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' } },
      { type: 'content_block_stop', index: 0 },
      { index: 1, content_block: { type: 'tool_use', id: 't2', name: 'time', input: {} } },
      { index: 1, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_stop', index: 1 },
    ]);
  });

  it('start the message, and ping, while a model is silent', async () => {
    const app = await createAnthropicApp({ onCall: silent });
    const asked = app.send('POST', '/messages', { ...ASK, stream: true });
    await vi.waitFor(() => expect(app.calls).toHaveLength(1));
    await app.clock.advance(10_000);
    const response = await asked;
    await app.clock.advance(25_000);
    app.calls[0]?.say({ type: 'text', text: 'Rain.' }, { type: 'usage', usage: { input: 1, output: 1 } });
    app.calls[0]?.end();
    const events = readEvents(await response.text());
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'ping',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('end a cut tool call with an error, and without the call or the end of a message', async () => {
    const app = await createAnthropicApp({
      onCall(call) {
        call.say({ type: 'text', text: 'Let me see.' });
        call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"ci' });
        call.fail(new Error('the connection broke'));
      },
    });
    const body = { ...ASK, tools: TOOLS };
    await expect(app.client.messages.stream(body).finalMessage()).rejects.toMatchObject({
      type: 'api_error',
      message: expect.stringContaining('The model gave no answer'),
    });
    const response = await app.send('POST', '/messages', { ...body, stream: true });
    const events = readEvents(await response.text());
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'error',
    ]);
    expect(events.at(-1)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: expect.any(String) },
      request_id: response.headers.get('request-id'),
    });
    await expect(app.client.messages.create(body)).rejects.toMatchObject({ status: 502 });
  });
});
