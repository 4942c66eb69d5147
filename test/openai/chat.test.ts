import type { ModelInfo } from '@questline/core/ports';
import { zodResponseFormat } from 'openai/helpers/zod';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { sayAtOnce, silent } from '../support/chat.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { collect, reason, useTools } from '../support/vendor-wire.ts';
import { toDataUrl, toTextDocument, WORD_TYPE, wordExtractor } from '../support/word-files.ts';
import { ASK, createOpenAIApp, readError, TOOLS } from './support.ts';

describe('chat completions of the official SDK', () => {
  it('answers in one piece, with usage in the classes of the ledger and the charge', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { data, response } = await app.client.chat.completions.create(ASK).withResponse();
    expect(data).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: Math.floor(app.clock.now() / 1000),
      model: 'scripted',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          logprobs: null,
          message: {
            role: 'assistant',
            content: 'Rain.',
            refusal: null,
            reasoning_content: 'hm',
            reasoning_details: [{ type: 'thinking', thinking: 'hm', signature: 's1' }],
          },
        },
      ],
      usage: {
        prompt_tokens: 45,
        completion_tokens: 9,
        total_tokens: 54,
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 5, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 7,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      credits: { used: 0.54, usd_cost: 0.0054 },
    });
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge?.usage).toEqual({ input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 });
    expect(charge).toMatchObject({ amount: 540_000, operation: 'createChatCompletion' });
    expect(response.headers.get('x-credits-used')).toBe('0.54');
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('10000');
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('9999');
    expect(response.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/);
    expect(response.headers.get('x-request-id')).not.toBeNull();
  });

  it('streams text and reasoning, and reports usage only when it is requested', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const chunks = await collect(
      await app.client.chat.completions.create({
        ...ASK,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'Rain.' },
      { reasoning_details: [{ type: 'thinking', thinking: 'hm', signature: 's1' }] },
      {},
      undefined,
    ]);
    expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual(Array(5).fill(null));
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 45, completion_tokens: 9, total_tokens: 54 },
      credits: { used: 0.54, usd_cost: 0.0054 },
    });
    const [{ id } = { id: '' }] = chunks;
    expect(id).toMatch(/^chatcmpl-/);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ id, model: 'scripted', created: Math.floor(app.clock.now() / 1000) });
    }

    const without = await collect(await app.client.chat.completions.create({ ...ASK, stream: true }));
    expect(without.some((chunk) => 'usage' in chunk)).toBe(false);
    expect(without.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it.each([false, true])('runs parallel tools in several rounds (stream: %s)', async (stream) => {
    const app = await createOpenAIApp({ onCall: useTools });
    const messages: ChatCompletionMessageParam[] = [...ASK.messages];
    const ask = async () => {
      const body = { ...ASK, messages, tools: TOOLS, parallel_tool_calls: true };
      if (!stream) return app.client.chat.completions.create(body);
      return app.client.chat.completions.stream(body).finalChatCompletion();
    };
    const [first] = (await ask()).choices;
    expect(first?.finish_reason).toBe('tool_calls');
    expect(first?.message.content ?? '').toBe('');
    const calls =
      first?.message.tool_calls?.flatMap((call) => (call.type === 'function' ? [call] : [])) ?? [];
    expect(calls.map(({ id, function: { name, arguments: text } }) => [id, name, text])).toEqual([
      ['t1', 'weather', '{"city":"Oslo"}'],
      ['t2', 'time', '{}'],
    ]);
    if (first !== undefined) messages.push(first.message);
    messages.push({ role: 'tool', tool_call_id: 't2', content: 'noon' });
    messages.push({ role: 'tool', tool_call_id: 't1', content: [{ type: 'text', text: 'rain' }] });
    const second = await ask();
    expect(second.choices[0]?.message.content).toBe('Rain, at noon.');
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
          { type: 'tool_result', toolUseId: 't1', toolName: 'weather', content: 'rain', isError: false },
        ],
      },
    ]);
    expect(app.calls[0]?.request.tools).toEqual([
      {
        name: 'weather',
        description: 'The weather of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
      },
      { name: 'time', description: '', parameters: { type: 'object', properties: {} } },
    ]);
    expect(app.calls[0]?.request.parallelToolCalls).toBe(true);
  });

  it('keeps reasoning over rounds when the message is sent back unchanged', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const [first] = (await app.client.chat.completions.create(ASK)).choices;
    if (first === undefined) throw new Error('no answer');
    await app.client.chat.completions.create({
      ...ASK,
      messages: [...ASK.messages, first.message, { role: 'user', content: 'And tomorrow?' }],
    });
    expect(app.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'text', text: 'Rain.' },
    ]);
  });

  it('answers a repeated idempotency key with the first answer, and charges once', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const headers = { 'Idempotency-Key': 'k1' };
    const first = app.send('POST', '/chat/completions', ASK, headers);
    await vi.waitFor(() => expect(app.calls).toHaveLength(1));
    expect((await app.send('POST', '/chat/completions', ASK, headers)).status).toBe(409);
    app.calls[0]?.say({ type: 'text', text: 'Rain.' }, { type: 'usage', usage: { input: 1, output: 1 } });
    app.calls[0]?.end();
    const answer = await (await first).json();
    const repeated = await app.send('POST', '/chat/completions', ASK, headers);
    expect(await repeated.json()).toEqual(answer);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    const other = await app.send('POST', '/chat/completions', { ...ASK, seed: 2 }, headers);
    expect((await readError(other)).code).toBe('idempotency_key_reused');
    expect(app.calls).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
  });

  it('runs failed work again under the same idempotency key', async () => {
    let count = 0;
    const app = await createOpenAIApp({
      onCall(call) {
        count += 1;
        if (count === 1) call.fail(new Error('once'));
        else sayAtOnce('Rain.')(call);
      },
    });
    const headers = { 'Idempotency-Key': 'k1' };
    expect((await app.send('POST', '/chat/completions', ASK, headers)).status).toBe(502);
    expect((await app.send('POST', '/chat/completions', ASK, headers)).status).toBe(200);
  });

  it('parses a structured answer', async () => {
    const app = await createOpenAIApp({ onCall: sayAtOnce('{"city":"Oslo"}') });
    const answer = await app.client.chat.completions.parse({
      ...ASK,
      response_format: zodResponseFormat(z.object({ city: z.string() }), 'place'),
    });
    expect(answer.choices[0]?.message.parsed).toEqual({ city: 'Oslo' });
    expect(app.calls[0]?.request.responseFormat).toMatchObject({
      type: 'schema',
      name: 'place',
      strict: true,
      schema: { type: 'object', required: ['city'] },
    });
  });

  it('gets fewer output tokens if the credit is low and the request names no limit', async () => {
    const thinking: ModelInfo = { ...SCRIPTED_MODEL, supportsThinking: true, maxOutputTokens: 32_768 };
    const model = createScriptedProvider(sayAtOnce('Hello.'), [thinking]);
    const app = await createOpenAIApp({ model, credits: 100 });
    const refused = await app.send('POST', '/chat/completions', { ...ASK, max_tokens: 32_768 });
    expect([refused.status, (await readError(refused)).code]).toEqual([429, 'insufficient_quota']);
    expect((await app.send('POST', '/chat/completions', ASK)).status).toBe(200);
    expect(app.calls.map(({ request }) => request.maxTokens)).toEqual([6250]);
  });

  it('passes every option to the model', async () => {
    const app = await createOpenAIApp();
    const { response } = await app.client.chat.completions
      .create({
        ...ASK,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'developer', content: [{ type: 'text', text: 'Use metric units.' }] },
          ...ASK.messages,
        ],
        tools: TOOLS,
        tool_choice: { type: 'function', function: { name: 'time' } },
        temperature: 1.5,
        top_p: 0.5,
        stop: ['END', 'STOP'],
        seed: 7,
        max_tokens: 100,
        max_completion_tokens: 50,
        reasoning_effort: 'low',
        response_format: { type: 'json_object' },
        verbosity: 'low',
        frequency_penalty: 0.5,
      })
      .withResponse();
    expect(app.calls[0]?.request).toEqual({
      model: 'scripted',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'system', content: [{ type: 'text', text: 'Use metric units.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo?' }] },
      ],
      tools: expect.any(Array),
      toolChoice: { name: 'time' },
      temperature: 1.5,
      topP: 0.5,
      stop: ['END', 'STOP'],
      seed: 7,
      maxTokens: 50,
      reasoningEffort: 'low',
      responseFormat: { type: 'json' },
      promptCache: { mode: 'auto', key: expect.any(String) },
    });
    expect(response.headers.get('x-ignored-fields')).toBe('frequency_penalty, verbosity');
  });

  it('reads images from data URLs and fetches https URLs through the guard', async () => {
    const png = 'iVBORw0KGgo=';
    const fetched: string[] = [];
    const app = await createOpenAIApp({
      web: {
        fetchFile: async (url) => {
          fetched.push(url);
          return { mediaType: 'image/png', data: Buffer.from(png, 'base64') };
        },
      },
    });
    const ask = (url: string) =>
      app.client.chat.completions.create({
        ...ASK,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url, detail: 'low' } },
            ],
          },
        ],
      });
    await ask(`data:image/png;base64,${png}`);
    await ask('https://images.example.com/a.png');
    const image = { type: 'image', mediaType: 'image/png', data: png };
    expect(app.calls.map(({ request }) => request.messages[0]?.content[1])).toEqual([image, image]);
    expect(fetched).toEqual(['https://images.example.com/a.png']);
    await expect(ask('http://images.example.com/a.png')).rejects.toMatchObject({
      status: 400,
      param: 'messages[0].content[1].image_url.url',
    });
  });

  it('sends inline documents to the model', async () => {
    const app = await createOpenAIApp();
    await app.client.chat.completions.create({
      ...ASK,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
      ],
    });
    expect(app.calls[0]?.request.messages[0]?.content).toEqual([
      { type: 'document', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
    ]);
  });

  it('sends the text of inline documents that a model does not read', async () => {
    const app = await createOpenAIApp({ extractors: [wordExtractor] });
    const ask = (filename: string, file_data: string) =>
      app.client.chat.completions.create({
        ...ASK,
        messages: [{ role: 'user', content: [{ type: 'file', file: { filename, file_data } }] }],
      });
    await ask('a.docx', toDataUrl(WORD_TYPE, 'A lake.'));
    await ask('a.csv', toDataUrl('text/csv', 'Gr\xf6\xdfe'));
    expect(app.calls.map(({ request }) => request.messages[0]?.content)).toEqual([
      [toTextDocument('a.docx', 'Text: A lake.')],
      [toTextDocument('a.csv', 'Größe')],
    ]);
    await expect(ask('a.docx', toDataUrl(WORD_TYPE, 'broken'))).rejects.toMatchObject({
      status: 400,
      param: 'messages[0].content[0].file.file_data',
      message: expect.stringContaining('a.docx could not be read: the document is damaged'),
    });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('aborts the call when the client aborts, and charges what was produced', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const leaving = new AbortController();
    const asked = app.client.chat.completions.create({ ...ASK, stream: true }, { signal: leaving.signal });
    await vi.waitFor(() => expect(app.calls).toHaveLength(1));
    app.calls[0]?.say({ type: 'text', text: 'One two three' });
    for await (const { choices } of await asked) {
      if (choices[0]?.delta.content === 'One two three') leaving.abort();
    }
    await app.calls[0]?.whenStopped;
    await vi.waitFor(async () => {
      const [charge] = await app.ledger.charges({ account: app.account }, 10);
      expect(charge?.amount).toBeGreaterThan(0);
    });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('ends a cut tool call with an error, and without a finish reason', async () => {
    const app = await createOpenAIApp({
      onCall(call) {
        call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"ci' });
        call.fail(new Error('the connection broke'));
      },
    });
    const body = { ...ASK, tools: TOOLS };
    await expect(app.client.chat.completions.stream(body).finalChatCompletion()).rejects.toThrow(
      'The model gave no answer',
    );
    const text = await (await app.send('POST', '/chat/completions', { ...body, stream: true })).text();
    const frames = text.trim().split('\n\n');
    expect(JSON.parse(frames.at(-1)?.slice(6) ?? '')).toEqual({
      error: {
        message: expect.any(String),
        type: 'server_error',
        param: null,
        code: 'provider_error',
      },
    });
    expect(text).not.toContain('"finish_reason":"');
    expect(text).not.toContain('[DONE]');
    await expect(app.client.chat.completions.create(body)).rejects.toMatchObject({ status: 502 });
  });

  it('lists models for the clients of both vendors', async () => {
    const app = await createOpenAIApp();
    const page = await app.client.models.list();
    expect(page.data).toEqual([
      {
        id: 'scripted',
        object: 'model',
        type: 'model',
        created: 0,
        created_at: '1970-01-01T00:00:00.000Z',
        owned_by: 'scripted',
        display_name: 'Scripted',
        shutdown_date: null,
        kind: 'text',
        context_window: 100_000,
        max_output_tokens: 10_000,
        max_input_tokens: 100_000,
        max_tokens: 10_000,
        capabilities: null,
        lifecycle: 'active',
        deprecated_at: null,
        retires_at: null,
        line: null,
      },
    ]);
    expect(await (await app.send('GET', '/models')).json()).toEqual({
      object: 'list',
      data: page.data,
      has_more: false,
      first_id: 'scripted',
      last_id: 'scripted',
    });
    expect(await app.client.models.retrieve('scripted')).toEqual(page.data[0]);
    await expect(app.client.models.retrieve('none')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});
