import { createCompatibleUpstream, createOpenAIUpstream, type Upstream } from '@questline/testing/upstreams';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfiguration } from '../src/environment/configuration.ts';
import { createProviders } from '../src/providers.ts';

const closers: (() => Promise<unknown> | undefined)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(create: typeof createOpenAIUpstream): Promise<Upstream> {
  const upstream = await create({ script: { steps: [{ text: 'ok' }], models: [{ id: 'qwen3:8b' }] } });
  closers.push(() => upstream.close());
  return upstream;
}

/** The provider `openai` of an environment, and the address of its calls. */
async function load(environment: Record<string, string>) {
  const heard: unknown[] = [];
  const providers = await createProviders({
    ...readConfiguration(environment),
    onListingError: (error) => heard.push(error),
  });
  for (const one of providers) closers.push(() => one.close?.());
  const provider = providers.find(({ id }) => id === 'openai');
  if (provider === undefined) throw new Error('expected a provider called openai');
  const ask = async (model: string) => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;
    for await (const _chunk of await provider.generate({ model, messages, maxTokens: 50 }, {}));
  };
  return { provider, ask, heard };
}

describe('server at OPENAI_BASE_URL', () => {
  it('gets OpenAI models over the Responses API when configured', async () => {
    const upstream = await serve(createOpenAIUpstream);
    const { provider, ask } = await load({
      OPENAI_API_KEY: 'sk-1',
      OPENAI_BASE_URL: upstream.baseUrl,
      OPENAI_PROTOCOL: 'responses',
    });
    expect(provider.models().some(({ id }) => id === 'gpt-6.2-sol')).toBe(true);
    await ask('gpt-6.2-sol');
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1/responses']);
  });

  it('uses chat completions by default, so that an upgrade changes no request', async () => {
    const upstream = await serve(createOpenAIUpstream);
    const { ask } = await load({
      OPENAI_API_KEY: 'sk-1',
      OPENAI_BASE_URL: upstream.baseUrl,
    });
    await ask('gpt-6.2-sol');
    expect(upstream.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: { max_completion_tokens: 50 },
    });
  });

  it('can list its own models at startup, without a key', async () => {
    const upstream = await serve(createCompatibleUpstream);
    const { provider, ask } = await load({
      OPENAI_BASE_URL: upstream.baseUrl,
      OPENAI_MODELS: 'list',
      OPENAI_CONTEXT_WINDOW: '32768',
      OPENAI_PRICES: '0/0.5',
      OPENAI_TOOLS: 'false',
    });
    expect(provider.models()).toMatchObject([
      { id: 'qwen3:8b', contextWindow: 32_768, supportsTools: false, prices: { input: 0, output: 0.5 } },
    ]);
    await ask('qwen3:8b');
    expect(upstream.requests.at(-1)).toMatchObject({
      path: '/v1/chat/completions',
      body: { max_tokens: 50 },
    });
  });

  it('can have models by name, in either protocol', async () => {
    const upstream = await serve(createOpenAIUpstream);
    const base = { OPENAI_BASE_URL: upstream.baseUrl, OPENAI_MODELS: 'one, two' };
    const chat = await load({ ...base, OPENAI_MAX_TOKENS_PARAMETER: 'max_completion_tokens' });
    expect(chat.provider.models().map(({ id }) => id)).toEqual(['one', 'two']);
    await chat.ask('one');
    const responses = await load({ ...base, OPENAI_PROTOCOL: 'responses' });
    expect(responses.provider.models().map(({ id }) => id)).toEqual(['one', 'two']);
    await responses.ask('two');
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/responses']);
    expect(upstream.requests[0]?.body).toMatchObject({ max_completion_tokens: 50 });
  });

  it('does not prevent startup while it is unreachable', async () => {
    const upstream = await serve(createCompatibleUpstream);
    await upstream.close();
    const { provider, heard } = await load({ OPENAI_BASE_URL: upstream.baseUrl, OPENAI_MODELS: 'list' });
    expect(provider.models()).toEqual([]);
    expect(heard[0]).toMatchObject({ name: 'ProviderError', kind: 'failed' });
  });
});

describe('settings of the server at OPENAI_BASE_URL', () => {
  const base = { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
  it.each([
    [{ OPENAI_MODELS: 'list' }, /OPENAI_MODELS: requires OPENAI_BASE_URL/],
    [{ ...base, OPENAI_PROTOCOL: 'soap' }, /OPENAI_PROTOCOL: expected responses or chat, got "soap"/],
    [{ ...base, OPENAI_MODELS: 'a,,b' }, /OPENAI_MODELS: expected list, or distinct names/],
    [{ ...base, OPENAI_MODELS: 'a,a' }, /OPENAI_MODELS: expected list, or distinct names/],
    [{ ...base, OPENAI_MODELS: 'list', OPENAI_PROTOCOL: 'responses' }, /name the models/],
    [{ ...base, OPENAI_PRICES: 'cheap' }, /OPENAI_PRICES: expected INPUT\/OUTPUT/],
    [{ ...base, OPENAI_CONTEXT_WINDOW: '-1' }, /OPENAI_CONTEXT_WINDOW: expected a whole number/],
    [{ PROVIDER_IDLE_TIMEOUT_MS: '1.5' }, /PROVIDER_IDLE_TIMEOUT_MS: expected a whole number/],
    [{ PROVIDER_CONNECTIONS: '0' }, /PROVIDER_CONNECTIONS: expected a whole number/],
  ])('reports invalid settings by name: %o', (environment, message) => {
    expect(() => readConfiguration(environment)).toThrow(message);
  });

  it('limits the timeouts of providers', () => {
    const { providerLimits } = readConfiguration({
      PROVIDER_FIRST_BYTE_TIMEOUT_MS: '1800000',
      PROVIDER_IDLE_TIMEOUT_MS: '0',
      PROVIDER_CONNECTIONS: '50',
    });
    expect(providerLimits).toEqual({ firstByteTimeoutMs: 1_800_000, idleTimeoutMs: 0, connections: 50 });
  });
});
