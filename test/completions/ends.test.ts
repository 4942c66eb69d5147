import { ApiError } from '@questline/core';
import {
  type CreditLedger,
  type ModelInfo,
  ProviderError,
  type ProviderErrorKind,
} from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, getEvents, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

const CHEAP: ModelInfo = { ...SCRIPTED_MODEL, id: 'cheap', prices: { input: 1, output: 1 } };
const THINKER: ModelInfo = { ...SCRIPTED_MODEL, id: 'thinker', supportsThinking: true };
const VECTORS: ModelInfo = { ...SCRIPTED_MODEL, id: 'vectors', type: 'embedding' };
const TINY: ModelInfo = { ...SCRIPTED_MODEL, id: 'tiny', maxOutputTokens: 900 };
const MODELS = [SCRIPTED_MODEL, CHEAP, THINKER, VECTORS, TINY];

async function setUp(
  onCall: (call: ModelCall) => void,
  ledger: (ledger: CreditLedger) => CreditLedger = (own) => own,
) {
  const provider = createScriptedProvider(onCall, MODELS);
  const app = await createTestApp({
    models: [provider],
    ledger,
    settings: { fallbacks: { scripted: ['cheap'], thinker: ['cheap'] } },
  });
  const ask = (more: object = {}, signal?: AbortSignal) =>
    app.ask('POST', '/api/ai/v1/completions', {
      body: { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], ...more },
      ...(signal !== undefined && { signal }),
    });
  return { app, provider, ask };
}

describe('model of a completion', () => {
  it('is a chat model', async () => {
    const { ask, provider } = await setUp(sayAtOnce('Hello.'));
    const refused = await ask({ model: 'vectors' });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { message: "Model info not found for 'vectors'" },
    ]);
    expect(provider.calls).toEqual([]);
  });

  it('gets a default cap of at most its maximum', async () => {
    const { ask, provider } = await setUp(sayAtOnce('Hello.'));
    await (await ask()).text();
    expect(provider.calls[0]?.request.maxTokens).toBe(900);
  });

  it('is called without thinking when it is a fallback that does not support it', async () => {
    const { app, ask, provider } = await setUp((call) => {
      if (call.request.model === 'thinker') throw new ProviderError('rejected_key', 'no');
      sayAtOnce('Hello.')(call);
    });
    const asking = ask({ model: 'thinker', thinking: { enabled: true, budget_tokens: 1024 } });
    await app.settle();
    await app.clock.advance(1000);
    await (await asking).text();
    const [first, second] = provider.calls.map(({ request }) => [request.model, request.thinking]);
    expect([first, second]).toEqual([
      ['thinker', { budgetTokens: 1024 }],
      ['cheap', undefined],
    ]);
  });
});

describe('end of a stream', () => {
  it('reports missing credit for a fallback by its code', async () => {
    let holds = 0;
    const { app, ask, provider } = await setUp(
      () => undefined,
      (own) => ({
        ...own,
        hold(request) {
          holds += 1;
          if (holds === 1) return own.hold(request);
          throw new ApiError(422, 'Insufficient credits.', { code: 'insufficient_credits' });
        },
      }),
    );
    const asking = ask({ model: 'scripted' });
    await app.settle();
    await app.clock.advance(10_000);
    const response = await asking;
    provider.calls[0]?.fail(new ProviderError('rejected_key', 'no'));
    const events = getEvents(await response.text());
    expect(events.slice(1)).toEqual([
      expect.objectContaining({ type: 'error', code: 'insufficient_credits' }),
      '[DONE]',
    ]);
  });

  it('ignores an early usage report of an answer that breaks off', async () => {
    const { app, ask } = await setUp((call) => {
      call.say({ type: 'usage', usage: { input: 1, output: 1 } });
      call.say({ type: 'text', text: 'x'.repeat(800) });
      call.fail(new ProviderError('failed', 'gone'));
    });
    const events = getEvents(await (await ask()).text());
    // 800 characters are estimated as 320 tokens.
    expect(events.at(-2)).toMatchObject({ type: 'error', usage: { inputTokens: 1, outputTokens: 320 } });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('is an error event when the provider fails with a kind that does not exist', async () => {
    const failure = new ProviderError('rate_limited' as ProviderErrorKind, 'secret');
    const { app, ask } = await setUp((call) => {
      call.say({ type: 'text', text: 'Hello' });
      call.fail(failure);
    });
    const events = getEvents(await (await ask()).text());
    expect(events.slice(1)).toEqual([
      { type: 'content', text: 'Hello' },
      expect.objectContaining({ type: 'error', message: 'Model response error: the provider failed' }),
      '[DONE]',
    ]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('aborts the provider call when the client disconnects in the middle', async () => {
    const { app, ask, provider } = await setUp((call) => call.say({ type: 'text', text: 'Hello' }));
    const reader = (await ask()).body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes('Hello'); ) text += (await reader?.read())?.value ?? '';
    expect(provider.calls[0]?.stopped).toBe(false);
    const leaving = reader?.cancel();
    await app.settle();
    // The provider may still send its usage for a moment.
    await app.clock.advance(60_000);
    await leaving;
    expect(provider.calls[0]?.stopped).toBe(true);
    await app.settle();
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('completes although a shutdown begins while the answer is being settled', async () => {
    let settle = (): void => undefined;
    const settling = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const { app, ask } = await setUp(sayAtOnce('Hello.'), (own) => ({
      ...own,
      async settle(...settlement) {
        await settling;
        return own.settle(...settlement);
      },
    }));
    const reading = (await ask()).text();
    await app.settle();
    const closing = app.api.close();
    await app.settle();
    settle();
    const events = getEvents(await reading);
    expect(events.slice(1)).toEqual([
      { type: 'content', text: 'Hello.' },
      expect.objectContaining({ type: 'content', text: '', stopReason: 'stop' }),
      '[DONE]',
    ]);
    await closing;
    expect(app.incidents).toEqual([]);
  });
});
