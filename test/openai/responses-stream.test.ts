import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { collect, reason, useTools } from '../support/vendor-wire.ts';
import { createOpenAIApp } from './support.ts';
import { BOTH, FUNCTIONS, readEvents } from './support-responses.ts';

describe.each(BOTH)('streams of responses, %s,', (_title, QUESTION, isStored) => {
  it('send every event of text and reasoning in order, numbered without gaps', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const events = await collect(await app.client.responses.create({ ...QUESTION, stream: true }));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const end = events.at(-1);
    expect(end).toMatchObject({
      type: 'response.completed',
      response: {
        status: 'completed',
        store: isStored,
        usage: { input_tokens: 45, output_tokens: 9, total_tokens: 54 },
        credits: { used: 0.54 },
      },
    });
  });

  it('send the complete calls, numbered without gaps', async () => {
    const app = await createOpenAIApp({ onCall: useTools });
    const events = await collect(
      await app.client.responses.create({ ...QUESTION, tools: FUNCTIONS, stream: true }),
    );
    const call = [
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
    ];
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      ...call,
      ...call,
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const items = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
    expect(items).toMatchObject([
      { type: 'function_call', call_id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call', call_id: 't2', name: 'time', arguments: '{}' },
    ]);
    const end = events.at(-1);
    expect(end?.type === 'response.completed' && end.response.output).toEqual(items);
  });

  it.each([
    ['max_tokens', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('end with response.incomplete after %s', async (finish, name) => {
    const app = await createOpenAIApp({
      onCall(call) {
        call.say({ type: 'text', text: 'One' }, { type: 'usage', usage: { input: 1, output: 1 } });
        call.say({ type: 'finish', reason: finish });
        call.end();
      },
    });
    const answer = await app.client.responses.stream(QUESTION).finalResponse();
    const incomplete = { status: 'incomplete', incomplete_details: { reason: name } };
    expect(answer).toMatchObject({ ...incomplete, output: [{ status: 'incomplete' }], output_text: 'One' });
    expect(await app.client.responses.create(QUESTION)).toMatchObject(incomplete);
  });

  it('end with response.failed and an error when the model is cut within a call', async () => {
    const app = await createOpenAIApp({
      onCall(call) {
        call.say({ type: 'text', text: 'Let me see.' });
        call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"ci' });
        call.fail(new Error('the connection broke'));
      },
    });
    const body = { ...QUESTION, tools: FUNCTIONS };
    const seen: ResponseStreamEvent[] = [];
    const read = async (): Promise<void> => {
      for await (const event of await app.client.responses.create({ ...body, stream: true }))
        seen.push(event);
    };
    await expect(read()).rejects.toMatchObject({ code: 'provider_error', type: 'server_error' });
    await expect(app.client.responses.stream(body).finalResponse()).rejects.toThrow(
      'The model gave no answer',
    );
    await expect(app.client.responses.create(body)).rejects.toMatchObject({ status: 502 });

    const events = await readEvents(await app.send('POST', '/responses', { ...body, stream: true }));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'response.failed',
        response: { status: 'failed', output: [], error: { code: 'server_error' }, incomplete_details: null },
      },
      { type: 'error', code: 'provider_error', param: null, message: expect.any(String) },
    ]);
    const names = events.map(({ type }) => type);
    expect(names).not.toContain('response.completed');
    expect(names).not.toContain('response.output_item.done');
    expect(JSON.stringify(events.slice(0, -2).map(({ item }) => item))).not.toContain('function_call');
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.length).toBeGreaterThan(0);
  });

  it('have every field of the type of a response, in both forms', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const plain = (await (await app.send('POST', '/responses', QUESTION)).json()) as object;
    const events = await readEvents(await app.send('POST', '/responses', { ...QUESTION, stream: true }));
    const streamed = events.at(-1)?.response as object;
    // The SDK adds `output_text`. Optional fields of tools of the vendor, of images and of diagnostics are absent.
    const fields: Record<Exclude<keyof Response, Absent>, true> = {
      id: true,
      access_programs: true,
      created_at: true,
      error: true,
      incomplete_details: true,
      instructions: true,
      metadata: true,
      model: true,
      object: true,
      output: true,
      parallel_tool_calls: true,
      temperature: true,
      tool_choice: true,
      tools: true,
      top_p: true,
      background: true,
      completed_at: true,
      conversation: true,
      max_output_tokens: true,
      max_tool_calls: true,
      previous_response_id: true,
      prompt: true,
      prompt_cache_key: true,
      reasoning: true,
      safety_identifier: true,
      service_tier: true,
      status: true,
      text: true,
      top_logprobs: true,
      truncation: true,
      usage: true,
    };
    const expected = [...Object.keys(fields), 'credits', 'store'].sort();
    expect(Object.keys(plain).sort()).toEqual(expected);
    expect(Object.keys(streamed).sort()).toEqual(expected);
  });
});

type Absent =
  | 'output_text'
  | 'image'
  | 'input_transformations'
  | 'moderation'
  | 'prompt_cache_diagnostics'
  | 'prompt_cache_options'
  | 'prompt_cache_retention'
  | 'tool_usage'
  | 'user';
