import { type ModelInfo, ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, getEvents, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const CHEAP: ModelInfo = {
  ...SCRIPTED_MODEL,
  id: 'cheap',
  name: 'Cheap',
  prices: { input: 1, output: 1 },
  maxOutputTokens: 100,
};
const QUESTION = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] };

async function setUp(onCall: (call: ModelCall) => void, credits?: number) {
  const provider = createScriptedProvider(onCall, [SCRIPTED_MODEL, CHEAP]);
  const app = await createTestApp({
    models: [provider],
    settings: { fallbacks: { scripted: ['gone', 'cheap'] }, models: { gone: { disabled: true } } },
    ...(credits !== undefined && { credits }),
  });
  return { app, asked: () => provider.calls.map(({ request }) => request.model), provider };
}

/** Sends the request and advances the clock past the retry delays. */
async function complete(app: TestApp, more: object = {}) {
  const asking = app.ask('POST', '/api/ai/v1/completions', { body: { ...QUESTION, ...more } });
  for (let step = 0; step < 6; step += 1) {
    await app.settle();
    await app.clock.advance(1000);
  }
  const response = await asking;
  return { status: response.status, text: await response.text() };
}

function failing(kind: ProviderErrorKind) {
  return (call: ModelCall): void => {
    if (call.request.model === 'scripted') throw new ProviderError(kind, 'text of the provider');
    sayAtOnce('Saved.')(call);
  };
}

async function getCharges({ ledger, account }: TestApp) {
  const charges = await ledger.charges({ account }, 10);
  return charges.map(({ status, model, amount }) => [status, model, amount]);
}

describe('completions with fallback models', () => {
  it.each(['overloaded', 'failed', 'timeout', 'rejected_key', 'not_configured'] as const)(
    'are answered by the next model at its price when the provider fails: %s',
    async (kind) => {
      const { app, provider } = await setUp(failing(kind));
      const { status, text } = await complete(app, { max_tokens: 500 });
      expect(status).toBe(200);
      expect(text).not.toContain('text of the provider');
      expect(getEvents(text)).toEqual([
        expect.objectContaining({ type: 'meta' }),
        { type: 'content', text: 'Saved.' },
        expect.objectContaining({ credits: { used: 0.0011, usdCost: 0.000011 }, stopReason: 'stop' }),
        '[DONE]',
      ]);
      expect(await getCharges(app)).toEqual([
        ['settled', 'cheap', 1100],
        ['released', 'scripted', 0],
      ]);
      expect((await app.ledger.balance(app.account)).held).toBe(0);
      expect(provider.calls.at(-1)?.request.maxTokens).toBe(100);
    },
  );

  it.each(['context_length', 'invalid_request', 'content_blocked'] as const)(
    'do not hide an invalid request: %s',
    async (kind) => {
      const { app, asked } = await setUp(failing(kind));
      expect((await complete(app)).status).toBe(422);
      expect(asked()).toEqual(['scripted']);
      expect(await getCharges(app)).toEqual([['released', 'scripted', 0]]);
    },
  );

  it('never change the model after its first text', async () => {
    const { app, asked } = await setUp((call) => {
      call.say({ type: 'text', text: 'x'.repeat(250) });
      call.fail(new ProviderError('failed', 'gone'));
    });
    const { text } = await complete(app);
    expect(getEvents(text).slice(1)).toEqual([
      { type: 'content', text: 'x'.repeat(250) },
      expect.objectContaining({ type: 'error', message: 'Model response error: the provider failed' }),
      '[DONE]',
    ]);
    expect(asked()).toEqual(['scripted']);
    const [charge, ...more] = await app.ledger.charges({ account: app.account }, 10);
    expect(more).toEqual([]);
    expect(charge).toMatchObject({ status: 'settled', model: 'scripted', usage: { output: 100 } });
  });

  it('fall back after the response headers were sent, while there was no text', async () => {
    const { app, provider } = await setUp((call) => {
      if (call.request.model === 'cheap') sayAtOnce('Saved.')(call);
    });
    const asking = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    await app.settle();
    await app.clock.advance(10_000);
    const response = await asking;
    provider.calls[0]?.fail(new ProviderError('timeout', 'at last'));
    expect(getEvents(await response.text()).slice(1, 2)).toEqual([{ type: 'content', text: 'Saved.' }]);
    expect(await getCharges(app)).toEqual([
      ['settled', 'cheap', 1100],
      ['released', 'scripted', 0],
    ]);
  });

  it('report the first failure when all models have failed, and are free', async () => {
    const { app, asked } = await setUp((call) => {
      throw new ProviderError(call.request.model === 'cheap' ? 'rejected_key' : 'timeout', 'secret');
    });
    const { status, text } = await complete(app);
    expect([status, JSON.parse(text)]).toMatchObject([
      500,
      { type: 'error', message: expect.stringContaining('did not answer in time') },
    ]);
    expect(text).not.toContain('secret');
    expect(asked()).toEqual(['scripted', 'cheap']);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('are rejected without credits before any model is called', async () => {
    const { app, asked } = await setUp(sayAtOnce('Hello.'), 0.0001);
    const { status, text } = await complete(app);
    expect([status, JSON.parse(text).errorCode]).toEqual([422, 'insufficient_credits']);
    expect(asked()).toEqual([]);
  });

  it('abort the current provider call free of charge when the client disconnects', async () => {
    const { app, provider } = await setUp((call) => {
      if (call.request.model === 'scripted') throw new ProviderError('timeout', 'no');
    });
    const leaving = new AbortController();
    const asking = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION, signal: leaving.signal });
    await app.settle();
    expect(provider.calls).toHaveLength(2);
    leaving.abort();
    await asking;
    await app.settle();
    expect(provider.calls[1]?.stopped).toBe(true);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.clock.pending).toBe(0);
  });

  it('abort the provider call after the response headers were sent, also at shutdown', async () => {
    for (const end of ['leave', 'drain'] as const) {
      const { app, provider } = await setUp(() => undefined);
      const asking = app.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
      await app.settle();
      await app.clock.advance(10_000);
      const response = await asking;
      if (end === 'leave') await response.body?.cancel();
      else {
        const closed = app.api.close();
        expect(await response.text()).toContain('The service is about to restart.');
        await closed;
      }
      await app.settle();
      expect(provider.calls.map(({ stopped }) => stopped)).toEqual([true]);
      expect((await app.ledger.balance(app.account)).held).toBe(0);
    }
  });
});
