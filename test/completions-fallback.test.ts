import { type ModelInfo, ProviderError, type ProviderErrorKind } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from './support/chat.ts';
import { createScriptedProvider, eventsOf, type ModelCall, SCRIPTED_MODEL } from './support/model.ts';
import { createWorld, type World } from './support/world.ts';

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
  const world = await createWorld({
    models: [provider],
    settings: { fallbacks: { scripted: ['gone', 'cheap'] } },
    ...(credits !== undefined && { credits }),
  });
  return { world, asked: () => provider.calls.map(({ request }) => request.model), provider };
}

/** Asks, and lets the pauses between tries pass. */
async function complete(world: World, more: object = {}) {
  const asking = world.ask('POST', '/api/ai/v1/completions', { body: { ...QUESTION, ...more } });
  for (let step = 0; step < 6; step += 1) {
    await world.settle();
    await world.clock.advance(1000);
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

async function chargesOf({ ledger, account }: World) {
  const charges = await ledger.charges({ account }, 10);
  return charges.map(({ status, model, amount }) => [status, model, amount]);
}

describe('completions with models to fall back on', () => {
  it.each(['overloaded', 'failed', 'timeout', 'rejected_key', 'not_configured'] as const)(
    'are answered by the next one when the provider is in trouble, at its price: %s',
    async (kind) => {
      const { world, provider } = await setUp(failing(kind));
      const { status, text } = await complete(world, { max_tokens: 500 });
      expect(status).toBe(200);
      expect(text).not.toContain('text of the provider');
      expect(eventsOf(text)).toEqual([
        expect.objectContaining({ type: 'meta' }),
        { type: 'content', text: 'Saved.' },
        expect.objectContaining({ credits: { used: 0.0011, usdCost: 0.000011 }, stopReason: 'stop' }),
        '[DONE]',
      ]);
      expect(await chargesOf(world)).toEqual([
        ['settled', 'cheap', 1100],
        ['released', 'scripted', 0],
      ]);
      expect((await world.ledger.balance(world.account)).held).toBe(0);
      expect(provider.calls.at(-1)?.request.maxTokens).toBe(100);
    },
  );

  it.each(['context_length', 'invalid_request', 'content_blocked'] as const)(
    'do not hide a fault of the request: %s',
    async (kind) => {
      const { world, asked } = await setUp(failing(kind));
      expect((await complete(world)).status).toBe(422);
      expect(asked()).toEqual(['scripted']);
      expect(await chargesOf(world)).toEqual([['released', 'scripted', 0]]);
    },
  );

  it('never change the model after its first word', async () => {
    const { world, asked } = await setUp((call) => {
      call.say({ type: 'text', text: 'x'.repeat(250) });
      call.fail(new ProviderError('failed', 'gone'));
    });
    const { text } = await complete(world);
    expect(eventsOf(text).slice(1)).toEqual([
      { type: 'content', text: 'x'.repeat(250) },
      expect.objectContaining({ type: 'error', message: 'Model response error: the provider failed' }),
      '[DONE]',
    ]);
    expect(asked()).toEqual(['scripted']);
    const [charge, ...more] = await world.ledger.charges({ account: world.account }, 10);
    expect(more).toEqual([]);
    expect(charge).toMatchObject({ status: 'settled', model: 'scripted', usage: { output: 100 } });
  });

  it('fall back after the head went out too, as long as nothing was said', async () => {
    const { world, provider } = await setUp((call) => {
      if (call.request.model === 'cheap') sayAtOnce('Saved.')(call);
    });
    const asking = world.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    await world.settle();
    await world.clock.advance(10_000);
    const response = await asking;
    provider.calls[0]?.fail(new ProviderError('timeout', 'at last'));
    expect(eventsOf(await response.text()).slice(1, 2)).toEqual([{ type: 'content', text: 'Saved.' }]);
    expect(await chargesOf(world)).toEqual([
      ['settled', 'cheap', 1100],
      ['released', 'scripted', 0],
    ]);
  });

  it('say what failed first when all have failed, and are free', async () => {
    const { world, asked } = await setUp((call) => {
      throw new ProviderError(call.request.model === 'cheap' ? 'rejected_key' : 'timeout', 'secret');
    });
    const { status, text } = await complete(world);
    expect([status, JSON.parse(text)]).toMatchObject([
      500,
      { type: 'error', message: expect.stringContaining('did not answer in time') },
    ]);
    expect(text).not.toContain('secret');
    expect(asked()).toEqual(['scripted', 'cheap']);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });

  it('are refused without credits before any model is asked', async () => {
    const { world, asked } = await setUp(sayAtOnce('Hello.'), 0.0001);
    const { status, text } = await complete(world);
    expect([status, JSON.parse(text).errorCode]).toEqual([422, 'insufficient_credits']);
    expect(asked()).toEqual([]);
  });

  it('stop whichever provider is asked when the client leaves, free of charge', async () => {
    const { world, provider } = await setUp((call) => {
      if (call.request.model === 'scripted') throw new ProviderError('timeout', 'no');
    });
    const leaving = new AbortController();
    const asking = world.ask('POST', '/api/ai/v1/completions', { body: QUESTION, signal: leaving.signal });
    await world.settle();
    expect(provider.calls).toHaveLength(2);
    leaving.abort();
    await asking;
    await world.settle();
    expect(provider.calls[1]?.stopped).toBe(true);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    expect(world.clock.pending).toBe(0);
  });

  it('stop it after the head went out too, also when the process ends', async () => {
    for (const end of ['leave', 'drain'] as const) {
      const { world, provider } = await setUp(() => undefined);
      const asking = world.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
      await world.settle();
      await world.clock.advance(10_000);
      const response = await asking;
      if (end === 'leave') await response.body?.cancel();
      else {
        const closed = world.api.close();
        expect(await response.text()).toContain('The service is about to restart.');
        await closed;
      }
      await world.settle();
      expect(provider.calls.map(({ stopped }) => stopped)).toEqual([true]);
      expect((await world.ledger.balance(world.account)).held).toBe(0);
    }
  });
});
