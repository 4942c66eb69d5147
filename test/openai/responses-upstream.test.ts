import type { ModelProvider } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAIProvider } from '@questline/providers/openai';
import {
  createAnthropicUpstream,
  createOpenAIUpstream,
  type Script,
  type Upstream,
} from '@questline/testing/upstreams';
import type { ResponseInput } from 'openai/resources/responses/responses';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenAIApp } from './support.ts';
import { FUNCTIONS, readEvents } from './support-responses.ts';

const closers: (() => Promise<unknown> | undefined)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Thinks and calls a tool, then answers. */
const script = ({ body }: { readonly body: unknown }): Script =>
  /"(tool_result|function_call_output)"/.test(JSON.stringify(body))
    ? { steps: [{ text: 'Rain.' }] }
    : {
        steps: [
          { thinking: 'I ask the weather service.', signature: 'EqQBCgIYAhIM+/==' },
          { redacted: 'EmwKAhgBEgy3va3pzix' },
          { text: 'Let me see.' },
          { tool: 'weather', id: 't1', arguments: ['{"city":', '"Oslo"}'] },
        ],
        usage: { input: 3, cachedInput: 60, output: 4, reasoning: 5 },
      };

async function createUpstreamApp(
  upstream: Upstream,
  createProvider: (options: { apiKey: string; baseUrl: string }) => ModelProvider,
) {
  const provider = createProvider({ apiKey: 'k', baseUrl: upstream.baseUrl });
  closers.push(
    () => upstream.close(),
    async () => provider.close?.(),
  );
  const app = await createOpenAIApp({
    models: [provider],
    credits: 1e6,
    settings: { admin: { DefaultAPIModel: provider.models()[0]?.id ?? '' } },
  });
  const model =
    app.services.catalogue.list().find(({ info }) => info.supportsThinking === true)?.info.id ?? '';
  return { app, model };
}

const createOpenAI = async (steps: (request: { readonly body: unknown }) => Script = script) => {
  const upstream = await createOpenAIUpstream({ script: steps });
  return { upstream, ...(await createUpstreamApp(upstream, createOpenAIProvider)) };
};

function getInput({ requests }: Upstream, index: number): readonly Readonly<Record<string, unknown>>[] {
  const body = requests[index]?.body as { input?: Readonly<Record<string, unknown>>[] } | undefined;
  return body?.input ?? [];
}

/** The fields that coding tools send with every request. */
const STATELESS = {
  store: false,
  include: ['reasoning.encrypted_content' as const],
  reasoning: { effort: 'medium' as const, summary: 'auto' as const },
  tools: FUNCTIONS,
};

const ASKED: ResponseInput = [{ role: 'user', content: 'Weather in Oslo?' }];
const RESULT = { type: 'function_call_output', call_id: 't1', output: 'rain' } as const;

describe('a model of the vendor behind the Responses wire', () => {
  it('gets its reasoning items back to the byte, before the items that they produced', async () => {
    const { app, model, upstream } = await createOpenAI();
    const body = { ...STATELESS, model };
    const first = await app.client.responses.stream({ ...body, input: ASKED }).finalResponse();
    expect(first.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'function_call',
    ]);
    expect(first.output[0]).toMatchObject({
      summary: [{ type: 'summary_text', text: 'I ask the weather service.' }],
    });
    expect(first.usage).toMatchObject({
      input_tokens: 63,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 5 },
    });
    const input: ResponseInput = [...ASKED, ...(first.output as ResponseInput), RESULT];
    const second = await app.client.responses.create({ ...body, input });
    expect(second.output_text).toBe('Rain.');
    expect(getInput(upstream, 1)).toEqual([
      { role: 'user', content: 'Weather in Oslo?' },
      {
        id: 'rs_0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'I ask the weather service.' }],
        encrypted_content: 'EqQBCgIYAhIM+/==',
      },
      { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'EmwKAhgBEgy3va3pzix' },
      { role: 'assistant', content: 'Let me see.' },
      { type: 'function_call', call_id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 't1', output: 'rain' },
    ]);
    expect(upstream.requests[0]?.body).toMatchObject({
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    });
  });

  it('gets reasoning that was not received from this server unchanged', async () => {
    const { app, model, upstream } = await createOpenAI();
    const item = {
      id: 'rs_68',
      type: 'reasoning' as const,
      summary: [{ type: 'summary_text' as const, text: 'One.' }],
      encrypted_content: 'gAAAAABfrom-the-vendor',
      status: 'completed' as const,
    };
    const input: ResponseInput = [
      ...ASKED,
      item,
      { type: 'function_call', call_id: 't1', name: 'weather', arguments: '{}' },
      RESULT,
    ];
    await app.client.responses.create({ ...STATELESS, model, input });
    expect(getInput(upstream, 0)[1]).toEqual(item);
  });

  it('gets no reasoning without its content, or without an item that follows', async () => {
    const { app, model, upstream } = await createOpenAI();
    const input: ResponseInput = [
      ...ASKED,
      { id: 'rs_1', type: 'reasoning', summary: [] },
      { type: 'function_call', call_id: 't1', name: 'weather', arguments: '{}' },
      RESULT,
      { id: 'rs_2', type: 'reasoning', summary: [], encrypted_content: 'gAAAAAB' },
      { role: 'user', content: 'Stop.' },
    ];
    await app.client.responses.create({ ...STATELESS, model, input });
    expect(getInput(upstream, 0).filter(({ type }) => type === 'reasoning')).toEqual([]);
  });

  it('has its reasoning hidden from clients that store nothing and do not ask for it', async () => {
    const { app, model } = await createOpenAI();
    const ask = async (fields: object) => {
      const { output } = await app.client.responses.create({ model, input: 'Hi', ...fields });
      return output.map((item) => ('encrypted_content' in item ? 'encrypted' : item.type));
    };
    const rest = ['message', 'function_call'];
    expect(await ask({ store: false })).toEqual(['reasoning', ...rest]);
    expect(await ask({})).toEqual(['encrypted', 'encrypted', ...rest]);
  });

  it('ends a stream that is cut in a call with response.failed, without the call', async () => {
    const { app, model } = await createOpenAI(() => ({
      steps: [
        { text: 'Let me see.' },
        {
          data: JSON.stringify({
            type: 'response.output_item.added',
            output_index: 1,
            item: { type: 'function_call', call_id: 't1', name: 'weather', arguments: '' },
          }),
        },
        {
          data: JSON.stringify({
            type: 'response.function_call_arguments.delta',
            output_index: 1,
            delta: '{"ci',
          }),
        },
        { disconnect: true },
      ],
    }));
    const body = { ...STATELESS, model, input: ASKED, stream: true };
    const events = await readEvents(await app.send('POST', '/responses', body));
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['response.failed', 'error']);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    // The tools of the request are repeated in the response, its output has no call.
    expect(events.at(-2)?.response?.output).toEqual([]);
    expect(events.some(({ item }) => JSON.stringify(item ?? '').includes('function_call'))).toBe(false);
  });
});

describe('Claude behind the Responses wire', () => {
  it('keeps signatures and redacted blocks to the byte over rounds', async () => {
    const upstream = await createAnthropicUpstream({ script });
    const { app } = await createUpstreamApp(upstream, createAnthropicProvider);
    const body = { ...STATELESS, model: 'claude-haiku-4-5' };
    const first = await app.client.responses.stream({ ...body, input: ASKED }).finalResponse();
    expect(first.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'function_call',
    ]);
    const input: ResponseInput = [...ASKED, ...(first.output as ResponseInput), RESULT];
    expect((await app.client.responses.create({ ...body, input })).output_text).toBe('Rain.');
    const sent = upstream.requests[1]?.body as { messages: { content: unknown }[]; thinking: unknown };
    expect(sent.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'I ask the weather service.', signature: 'EqQBCgIYAhIM+/==' },
      { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
    ]);
    expect(sent.thinking).toMatchObject({ type: 'enabled' });
  });
});
