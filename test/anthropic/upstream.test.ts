import type {
  Message,
  MessageCreateParamsNonStreaming,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createAnthropicUpstream, type Script } from '@questline/testing/upstreams';
import { afterEach, describe, expect, it } from 'vitest';
import { collect } from '../support/vendor-wire.ts';
import { ASK, createAnthropicApp } from './support.ts';

const closers: (() => Promise<unknown> | undefined)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function createClaude(script: Script) {
  const upstream = await createAnthropicUpstream({ script });
  const provider = createAnthropicProvider({ apiKey: 'k', baseUrl: upstream.baseUrl });
  closers.push(
    () => upstream.close(),
    async () => provider.close?.(),
  );
  const app = await createAnthropicApp({
    models: [provider],
    credits: 100_000,
    settings: { admin: { DefaultAPIModel: 'claude-haiku-4-5' } },
  });
  const getBody = () => upstream.requests.at(-1)?.body as MessageCreateParamsNonStreaming;
  return { app, upstream, getBody };
}

const CLAUDE = { ...ASK, model: 'claude-haiku-4-5', max_tokens: 4000 };

/** About 6,000 tokens: more than the minimum of the cache. */
const LONG = 'This is a library. '.repeat(1000);
const MARKED = { cache_control: { type: 'ephemeral' as const } };

describe('a model of the vendor behind its own wire', () => {
  it('gets the cache breakpoints of the client, and the tokens of the cache come back', async () => {
    const { app, getBody } = await createClaude({
      steps: [{ text: 'Hi' }],
      usage: { input: 3, cachedInput: 6000, cacheWrite: 20, output: 1 },
    });
    const answer = await app.client.messages.create({
      ...CLAUDE,
      system: [{ type: 'text', text: LONG, ...MARKED }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: LONG, ...MARKED },
            { type: 'text', text: 'And a question' },
          ],
        },
      ],
    });
    expect(getBody().system).toEqual([{ type: 'text', text: LONG, ...MARKED }]);
    expect(getBody().messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: LONG, ...MARKED },
          { type: 'text', text: 'And a question' },
        ],
      },
    ]);
    expect(answer.usage).toMatchObject({
      input_tokens: 3,
      cache_read_input_tokens: 6000,
      cache_creation_input_tokens: 20,
      output_tokens: 1,
    });
    const [charge] = await app.ledger.charges({ account: app.account }, 1);
    expect(charge?.usage).toMatchObject({ input: 3, cachedInput: 6000, cacheWrite: 20, output: 1 });
  });

  it('reports the tokens of the vendor at the start of a stream', async () => {
    const { app } = await createClaude({
      steps: [{ text: 'Hi' }],
      usage: { input: 3, cachedInput: 6000, output: 1 },
    });
    const [start] = await collect(await app.client.messages.create({ ...CLAUDE, stream: true }));
    expect(start).toMatchObject({
      type: 'message_start',
      message: { usage: { input_tokens: 3, cache_read_input_tokens: 6000 } },
    });
  });

  it.each(['claude-haiku-4-5-20251001', 'claude-haiku-4-5[1m]'])('is found as %s', async (model) => {
    const { app, getBody } = await createClaude({ steps: [{ text: 'Hi' }] });
    const answer = await app.client.messages.create({ ...CLAUDE, model });
    expect([answer.model, getBody().model]).toEqual(['claude-haiku-4-5', 'claude-haiku-4-5']);
    expect((await app.client.messages.countTokens({ ...CLAUDE, model })).input_tokens).toBeGreaterThan(0);
    await expect(
      app.client.messages.create({ ...CLAUDE, model: 'claude-haiku-1-20200101' }),
    ).rejects.toMatchObject({ status: 404 });
  });

  it('ends a stream that the vendor cuts in a tool call with an error, without the call', async () => {
    const tool = { tool: 'weather', id: 't1', arguments: ['{"city":', '"Oslo"}'] };
    const { app, upstream } = await createClaude({ steps: [{ text: 'Let me see.' }, tool] });
    const whole = await app.client.messages.create(CLAUDE);
    expect(whole.stop_reason).toBe('tool_use');
    upstream.use({
      steps: [
        { text: 'Let me see.' },
        {
          raw:
            'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":' +
            '{"type":"tool_use","id":"t1","name":"weather","input":{}}}\n\n' +
            'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":' +
            '{"type":"input_json_delta","partial_json":"{\\"ci"}}\n\n',
        },
        { disconnect: true },
      ],
    });
    const events: RawMessageStreamEvent[] = [];
    const read = async (): Promise<void> => {
      for await (const event of await app.client.messages.create({ ...CLAUDE, stream: true })) {
        events.push(event);
      }
    };
    await expect(read()).rejects.toMatchObject({ type: 'api_error' });
    expect(JSON.stringify(events)).not.toContain('"type":"tool_use"');
    expect(events.map(({ type }) => type)).not.toContain('message_stop');
  });

  it('reports the stop sequence that ended an answer', async () => {
    const end = {
      type: 'message_delta',
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
      usage: { output_tokens: 1 },
    };
    const { app, getBody } = await createClaude({
      steps: [
        { text: 'Hi' },
        { raw: 'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n' },
        { raw: `event: message_delta\ndata: ${JSON.stringify(end)}\n\n` },
        { raw: 'event: message_stop\ndata: {"type":"message_stop"}\n\n' },
      ],
      finish: 'none',
    });
    const body = { ...CLAUDE, stop_sequences: ['END'] };
    const stop = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(await app.client.messages.create(body)).toMatchObject(stop);
    expect(await app.client.messages.stream(body).finalMessage()).toMatchObject(stop);
    expect(getBody().stop_sequences).toEqual(['END']);
  });

  it('answers with every field of the type of a message', async () => {
    const { app } = await createClaude({ steps: [{ text: 'Hi' }] });
    const answer = await app.client.messages.create(CLAUDE);
    const fields: Record<keyof Message | 'credits', true> = {
      id: true,
      type: true,
      role: true,
      model: true,
      content: true,
      stop_reason: true,
      stop_sequence: true,
      stop_details: true,
      container: true,
      diagnostics: true,
      usage: true,
      credits: true,
    };
    const usage: Record<keyof Message['usage'], true> = {
      cache_creation: true,
      cache_creation_input_tokens: true,
      cache_read_input_tokens: true,
      inference_geo: true,
      input_tokens: true,
      output_tokens: true,
      output_tokens_details: true,
      server_tool_use: true,
      service_tier: true,
      speed: true,
    };
    expect(Object.keys(answer).sort()).toEqual(Object.keys(fields).sort());
    expect(Object.keys(answer.usage).sort()).toEqual(Object.keys(usage).sort());
  });
});
