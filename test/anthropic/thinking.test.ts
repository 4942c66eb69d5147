import type { MessageParam, ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages';
import type { ModelProvider } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAIProvider } from '@questline/providers/openai';
import {
  createAnthropicUpstream,
  createOpenAIUpstream,
  type Script,
  type Upstream,
} from '@questline/testing/upstreams';
import { afterEach, describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { reason } from '../support/vendor-wire.ts';
import { ASK, createAnthropicApp, createThinker, TOOLS } from './support.ts';

const closers: (() => Promise<unknown> | undefined)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Thinks and calls a tool, then answers. */
const script = ({ body }: { readonly body: unknown }): Script =>
  JSON.stringify(body).includes('tool_result') || JSON.stringify(body).includes('function_call_output')
    ? { steps: [{ text: 'Rain.' }] }
    : {
        steps: [
          { thinking: 'I ask the weather service.', signature: 'EqQBCgIYAhIM+/==' },
          { redacted: 'EmwKAhgBEgy3va3pzix' },
          { text: 'Let me see.' },
          { tool: 'weather', id: 't1', arguments: ['{"city":', '"Oslo"}'] },
        ],
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
  const [model] = provider.models();
  return createAnthropicApp({
    models: [provider],
    credits: 100_000,
    settings: { admin: { DefaultAPIModel: model?.id ?? '' } },
  });
}

/** The turn of the assistant in a request that the upstream received. */
function getTurn({ requests }: Upstream, index: number): unknown {
  const body = requests[index]?.body as { messages?: { content: unknown }[] } | undefined;
  return body?.messages?.[1]?.content;
}

async function runTwoRounds(
  app: Awaited<ReturnType<typeof createAnthropicApp>>,
  model: string,
  thinking: ThinkingConfigParam,
) {
  const body = { ...ASK, model, max_tokens: 8000, thinking, tools: TOOLS };
  const messages: MessageParam[] = [...ASK.messages];
  const first = await app.client.messages.stream({ ...body, messages }).finalMessage();
  messages.push({ role: 'assistant', content: first.content });
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'rain' }] });
  const second = await app.client.messages.create({ ...body, messages });
  return { first, second, messages };
}

describe('thinking over the Anthropic wire', () => {
  it.each(['claude-haiku-4-5', 'claude-sonnet-5-5'])(
    'keeps signatures and redacted blocks of %s to the byte over rounds',
    async (model) => {
      const upstream = await createAnthropicUpstream({ script });
      const app = await createUpstreamApp(upstream, createAnthropicProvider);
      const { first, second } = await runTwoRounds(app, model, { type: 'enabled', budget_tokens: 2000 });
      expect(first.content).toMatchObject([
        { type: 'thinking', thinking: 'I ask the weather service.', signature: 'EqQBCgIYAhIM+/==' },
        { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
      ]);
      expect(second.content).toMatchObject([{ type: 'text', text: 'Rain.' }]);
      expect(getTurn(upstream, 1)).toEqual([
        { type: 'thinking', thinking: 'I ask the weather service.', signature: 'EqQBCgIYAhIM+/==' },
        { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
      ]);
    },
  );

  it('keeps the reasoning of another vendor in the signature', async () => {
    const upstream = await createOpenAIUpstream({ script });
    const app = await createUpstreamApp(upstream, createOpenAIProvider);
    const model =
      app.services.catalogue.list().find(({ info }) => info.supportsThinking === true)?.info.id ?? '';
    const { first, second } = await runTwoRounds(app, model, { type: 'adaptive' });
    const [thought] = first.content;
    expect(thought).toMatchObject({ type: 'thinking', signature: expect.stringMatching(/^questline\./) });
    expect(second.content).toMatchObject([{ type: 'text', text: 'Rain.' }]);
    const sent = JSON.stringify(upstream.requests[1]?.body);
    expect(sent).toContain('"encrypted_content"');
  });

  it('leaves out thoughts that the next model cannot read', async () => {
    const upstream = await createAnthropicUpstream({ script });
    const app = await createUpstreamApp(upstream, createAnthropicProvider);
    const foreign = `questline.${Buffer.from('{"type":"reasoning","provider":"openai"}').toString('base64url')}`;
    await app.client.messages.create({
      ...ASK,
      model: 'claude-haiku-4-5',
      messages: [
        ...ASK.messages,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'unsigned', signature: '' },
            { type: 'thinking', thinking: 'of another model', signature: foreign },
            { type: 'redacted_thinking', data: '' },
            { type: 'text', text: 'Hello.' },
          ],
        },
        { role: 'user', content: 'Well?' },
      ],
    });
    expect(getTurn(upstream, 0)).toEqual([{ type: 'text', text: 'Hello.' }]);
  });

  it('rejects a changed signature of another vendor', async () => {
    const app = await createAnthropicApp({ model: createThinker(reason) });
    const content = [{ type: 'thinking' as const, thinking: 'x', signature: 'questline.e30' }];
    await expect(
      app.client.messages.create({
        ...ASK,
        messages: [...ASK.messages, { role: 'assistant', content }, ...ASK.messages],
      }),
    ).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('messages.1.content.0.signature'),
    });
  });

  it('reports a thought that follows its text as a block of its own', async () => {
    const app = await createAnthropicApp({
      model: createThinker((call) => {
        call.say({ type: 'thinking_delta', text: 'hm' }, { type: 'text', text: 'Rain.' });
        call.say({ type: 'thinking', block: { type: 'reasoning_content', text: 'hm' } });
        call.say({ type: 'usage', usage: { input: 1, output: 1 } }, { type: 'finish', reason: 'stop' });
        call.end();
      }),
    });
    const answer = await app.client.messages.create(ASK);
    expect(answer.content).toMatchObject([
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'Rain.' },
      { type: 'thinking', thinking: '', signature: expect.stringMatching(/^questline\./) },
    ]);
    await app.client.messages.create({
      ...ASK,
      messages: [...ASK.messages, { role: 'assistant', content: answer.content }, ...ASK.messages],
    });
    expect(app.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'text', text: 'Rain.' },
      { type: 'thinking', block: { type: 'reasoning_content', text: 'hm' } },
    ]);
  });

  it.each([
    [{ thinking: { type: 'enabled' as const, budget_tokens: 2000 } }, { thinking: { budgetTokens: 2000 } }],
    [
      { thinking: { type: 'adaptive' as const } },
      { thinking: { budgetTokens: 16_384 }, reasoningEffort: 'high' },
    ],
    [
      { thinking: { type: 'adaptive' as const }, output_config: { effort: 'max' as const } },
      { thinking: { budgetTokens: 16_384 }, reasoningEffort: 'xhigh' },
    ],
    [{ thinking: { type: 'disabled' as const } }, { reasoningEffort: 'none' }],
    [{ output_config: { effort: 'low' as const } }, { reasoningEffort: 'low' }],
    [{}, {}],
  ])('sets the options of %j', async (fields, expected) => {
    const app = await createAnthropicApp({ model: createThinker(sayAtOnce('Hi')) });
    await app.client.messages.create({ ...ASK, ...fields });
    const { thinking, reasoningEffort } = app.calls[0]?.request ?? {};
    expect({ ...(thinking && { thinking }), ...(reasoningEffort && { reasoningEffort }) }).toEqual(expected);
  });

  it('is ignored, and reported as ignored, for a model without reasoning', async () => {
    const app = await createAnthropicApp();
    const { response } = await app.client.messages
      .create({ ...ASK, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
      .withResponse();
    expect(app.calls[0]?.request).not.toHaveProperty('thinking');
    expect(app.calls[0]?.request).not.toHaveProperty('reasoningEffort');
    expect(response.headers.get('x-ignored-fields')).toBe('thinking');
  });
});
