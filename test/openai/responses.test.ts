import { zodTextFormat } from 'openai/helpers/zod';
import type { ResponseInput } from 'openai/resources/responses/responses';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { sayAtOnce, silent } from '../support/chat.ts';
import { reason, useTools } from '../support/vendor-wire.ts';
import { createOpenAIApp, readError } from './support.ts';
import { BOTH, FUNCTIONS } from './support-responses.ts';

const GRAMMAR = { type: 'grammar', syntax: 'lark', definition: 'start: patch+' };
const GRAMMAR_TEXT = 'The input follows this lark grammar:\nstart: patch+';

describe.each(BOTH)('responses of the official SDK, %s,', (_title, QUESTION, isStored) => {
  it('answer in one piece, with usage in the classes of the ledger and the charge', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { data, response } = await app.client.responses
      .create({ ...QUESTION, metadata: { team: 'a' } })
      .withResponse();
    expect(data).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      model: 'scripted',
      created_at: Math.floor(app.clock.now() / 1000),
      output_text: 'Rain.',
      output: [
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: expect.stringMatching(/^questline\./),
        },
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Rain.', annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 45,
        input_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 7 },
        total_tokens: 54,
      },
      credits: { used: 0.54, usd_cost: 0.0054 },
      metadata: { team: 'a' },
      store: isStored,
    });
    expect(new Set(data.output.map(({ id }) => id)).size).toBe(2);
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge?.usage).toEqual({ input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 });
    expect(charge?.amount).toBe(540_000);
    expect(response.headers.get('x-credits-used')).toBe('0.54');
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('9999');
  });

  it('stream the same response with the helper of the SDK', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const plain = await app.client.responses.create(QUESTION);
    const deltas: string[] = [];
    const stream = app.client.responses.stream(QUESTION);
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const streamed = await stream.finalResponse();
    expect(deltas.join('')).toBe('Rain.');
    const strip = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replaceAll(/"(resp|rs|msg)_[^"]+"/g, '"id"'));
    expect(strip({ ...streamed, output_parsed: undefined, output: [] })).toEqual(
      strip({ ...plain, output: [] }),
    );
    expect(strip(streamed.output)).toMatchObject(strip(plain.output) as object[]);
  });

  it.each([false, true])('run parallel tools in several rounds (stream: %s)', async (stream) => {
    const app = await createOpenAIApp({ onCall: useTools });
    const input: ResponseInput = [{ role: 'user', content: 'Weather in Oslo?' }];
    const ask = async () => {
      const body = { ...QUESTION, input, tools: FUNCTIONS, parallel_tool_calls: true };
      return stream ? app.client.responses.stream(body).finalResponse() : app.client.responses.create(body);
    };
    const first = await ask();
    expect(first.output).toMatchObject([
      { type: 'function_call', call_id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call', call_id: 't2', name: 'time', arguments: '{}' },
    ]);
    input.push(...(first.output as ResponseInput));
    input.push({ type: 'function_call_output', call_id: 't2', output: 'noon' });
    input.push({
      type: 'function_call_output',
      call_id: 't1',
      output: [{ type: 'input_text', text: 'rain' }],
    });
    expect((await ask()).output_text).toBe('Rain, at noon.');
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
          { type: 'tool_result', toolUseId: 't1', toolName: 'weather', content: 'rain', isError: false },
          { type: 'tool_result', toolUseId: 't2', toolName: 'time', content: 'noon', isError: false },
        ],
      },
    ]);
    expect(app.calls[0]?.request).toMatchObject({
      parallelToolCalls: true,
      tools: [
        {
          name: 'weather',
          description: 'The weather of a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
        { name: 'time', description: '', parameters: { type: 'object', properties: {} } },
      ],
    });
  });

  it('parse a structured answer', async () => {
    const app = await createOpenAIApp({ onCall: sayAtOnce('{"city":"Oslo"}') });
    const answer = await app.client.responses.parse({
      ...QUESTION,
      text: { format: zodTextFormat(z.object({ city: z.string() }), 'place') },
    });
    expect(answer.output_parsed).toEqual({ city: 'Oslo' });
    expect(app.calls[0]?.request.responseFormat).toMatchObject({
      type: 'schema',
      name: 'place',
      strict: true,
      schema: { type: 'object', required: ['city'] },
    });
    await app.client.responses.create({ ...QUESTION, text: { format: { type: 'json_object' } } });
    expect(app.calls[1]?.request.responseFormat).toEqual({ type: 'json' });
  });

  it('answer a repeated idempotency key with the first answer, and charge once', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const headers = { 'Idempotency-Key': 'k1' };
    const first = await (await app.send('POST', '/responses', QUESTION, headers)).json();
    const repeated = await app.send('POST', '/responses', QUESTION, headers);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(await repeated.json()).toEqual(first);
    const other = await app.send('POST', '/responses', { ...QUESTION, input: 'x' }, headers);
    expect((await readError(other)).code).toBe('idempotency_key_reused');
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
  });

  it('abort the call when the client aborts, and charge what was produced', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const leaving = new AbortController();
    const asked = app.client.responses.create({ ...QUESTION, stream: true }, { signal: leaving.signal });
    await vi.waitFor(() => expect(app.calls).toHaveLength(1), 10_000);
    app.calls[0]?.say({ type: 'text', text: 'One two three' });
    await app.settle();
    await app.clock.advance(10_000);
    for await (const event of await asked) {
      if (event.type === 'response.output_text.delta') leaving.abort();
    }
    await app.calls[0]?.whenStopped;
    await vi.waitFor(async () => {
      const [charge] = await app.ledger.charges({ account: app.account }, 10);
      expect(charge).toMatchObject({ status: 'settled', amount: 130_000 });
    }, 10_000);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('pass every option to the model, and list those without effect', async () => {
    const app = await createOpenAIApp();
    const { data, response } = await app.client.responses
      .create({
        ...QUESTION,
        instructions: 'Be brief.',
        tools: FUNCTIONS,
        tool_choice: { type: 'function', name: 'time' },
        parallel_tool_calls: false,
        temperature: 1.5,
        top_p: 0.5,
        max_output_tokens: 50,
        text: { verbosity: 'low' },
        store: isStored,
        truncation: 'auto',
        service_tier: 'auto',
        prompt_cache_key: 'p1',
        safety_identifier: 's1',
        user: 'u1',
        include: ['web_search_call.action.sources'],
      })
      .withResponse();
    expect(app.calls[0]?.request).toEqual({
      model: 'scripted',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo?' }] },
      ],
      tools: expect.any(Array),
      toolChoice: { name: 'time' },
      parallelToolCalls: false,
      temperature: 1.5,
      topP: 0.5,
      maxTokens: 50,
      promptCache: { mode: 'auto', key: expect.any(String) },
    });
    expect(data).toMatchObject({
      instructions: 'Be brief.',
      tools: FUNCTIONS,
      tool_choice: { type: 'function', name: 'time' },
      parallel_tool_calls: false,
      temperature: 1.5,
      max_output_tokens: 50,
      prompt_cache_key: 'p1',
      store: isStored,
      truncation: 'disabled',
    });
    expect(response.headers.get('x-ignored-fields')).toBe(
      'prompt_cache_key, safety_identifier, service_tier, truncation, user, text.verbosity',
    );
  });

  it('offer only the allowed tools', async () => {
    const app = await createOpenAIApp();
    const tools = [{ type: 'function', name: 'time' }];
    await app.client.responses.create({
      ...QUESTION,
      tools: FUNCTIONS,
      tool_choice: { type: 'allowed_tools', mode: 'required', tools },
    });
    expect(app.calls[0]?.request).toMatchObject({ tools: [{ name: 'time' }], toolChoice: 'required' });
    expect(app.calls[0]?.request.tools).toHaveLength(1);
  });

  it.each([
    [{}, ''],
    [{ description: 'Edits files.' }, 'Edits files.'],
    [{ format: GRAMMAR }, GRAMMAR_TEXT],
    [{ description: 'Edits files.', format: GRAMMAR }, `Edits files.\n\n${GRAMMAR_TEXT}`],
    [{ description: 'Edits files.', format: { type: 'text' } }, 'Edits files.'],
  ])('describe a custom tool to the model by its description and its grammar: %j', async (fields, text) => {
    const app = await createOpenAIApp();
    const tools = [{ type: 'custom', name: 'edit', ...fields }];
    expect((await app.send('POST', '/responses', { ...QUESTION, tools })).status).toBe(200);
    expect(app.calls[0]?.request.tools).toMatchObject([{ name: 'edit', description: text }]);
  });
});
