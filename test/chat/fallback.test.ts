import { type ModelInfo, ProviderError, type ProviderErrorKind } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, createChatWorld, sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';

const CHEAP: ModelInfo = {
  ...SCRIPTED_MODEL,
  id: 'cheap',
  name: 'Cheap',
  prices: { input: 1, output: 1 },
  maxOutputTokens: 100,
};
const SPARE: ModelInfo = { ...SCRIPTED_MODEL, id: 'spare', name: 'Spare' };

function setUp(
  onCall: (call: ModelCall) => void,
  fallbacks: Record<string, string[]> = { scripted: ['cheap'] },
) {
  return createChatWorld({
    model: createScriptedProvider(onCall, [SCRIPTED_MODEL, CHEAP, SPARE]),
    settings: { admin: { DefaultAPIModel: 'scripted' }, fallbacks },
  });
}

/** Fails for the models named, before their first word. */
function failing(kind: ProviderErrorKind, ...models: string[]) {
  return (call: ModelCall): void => {
    if (models.includes(call.request.model)) throw new ProviderError(kind, 'text of the provider');
    sayAtOnce('Saved.')(call);
  };
}

async function turn(world: ChatWorld, more: object = {}) {
  const { id } = (await world.chat({ message: 'Hi', ...more })).body;
  for (let second = 0; second < 10; second += 1) {
    await world.settle();
    await world.clock.advance(1000);
  }
  return world.poll(id);
}

const asked = (world: ChatWorld): string[] => world.calls.map(({ request }) => request.model);

describe('fallback', () => {
  it.each(['overloaded', 'failed', 'timeout', 'rejected_key', 'not_configured'] as const)(
    'answers in place of a model whose provider is in trouble: %s',
    async (kind) => {
      const world = await setUp(failing(kind, 'scripted'));
      const quest = await turn(world);
      expect(quest).toMatchObject({
        status: 'done',
        type: 'message',
        reply: 'Saved.',
        fallbackInfo: {
          primaryModel: 'scripted',
          primaryModelName: 'Scripted',
          fallbackModel: 'cheap',
          fallbackModelName: 'Cheap',
          reason: expect.not.stringContaining('text of the provider'),
        },
        // 11 tokens at the price of the model that answered.
        promptMeta: { model: 'cheap', credits: 0.0011 },
      });
      expect(await world.ledger.balance(world.account)).toMatchObject({
        posted: 1000_000_000 - 1100,
        held: 0,
      });
      const charges = await world.ledger.charges({ account: world.account }, 10);
      expect(charges.map(({ status, model, amount }) => [status, model, amount])).toEqual([
        ['settled', 'cheap', 1100],
        ['released', 'scripted', 0],
      ]);
      expect(world.calls.at(-1)?.request.maxTokens).toBe(100);
    },
  );

  it.each(['context_length', 'invalid_request', 'content_blocked'] as const)(
    'does not hide a fault of the request: %s',
    async (kind) => {
      const world = await setUp(failing(kind, 'scripted'));
      const quest = await turn(world);
      expect(quest).toMatchObject({ status: 'done', type: 'error' });
      expect(quest).not.toHaveProperty('fallbackInfo');
      expect(asked(world)).toEqual(['scripted']);
      expect((await world.ledger.balance(world.account)).posted).toBe(1000_000_000);
    },
  );

  it('never happens after the first word', async () => {
    const world = await setUp((call) => {
      call.say({ type: 'text', text: 'Once' });
      call.fail(new ProviderError('failed', 'gone'));
    });
    const quest = await turn(world);
    expect(quest).toMatchObject({ status: 'done', type: 'error', replies: ['Once'] });
    expect(quest).not.toHaveProperty('fallbackInfo');
    expect(asked(world)).toEqual(['scripted']);
  });

  it('goes on to the next one, and tells of the first failure when all have failed', async () => {
    const both = { scripted: ['cheap', 'spare'] };
    const third = await setUp(failing('timeout', 'scripted', 'cheap'), both);
    expect(await turn(third)).toMatchObject({ reply: 'Saved.', fallbackInfo: { fallbackModel: 'spare' } });
    const none = await setUp(failing('timeout', 'scripted', 'cheap', 'spare'), both);
    const quest = await turn(none);
    expect(quest).toMatchObject({
      type: 'error',
      reply: 'The model gave no answer: the provider did not answer in time.',
    });
    expect(quest).not.toHaveProperty('fallbackInfo');
    expect(await none.ledger.balance(none.account)).toMatchObject({ posted: 1000_000_000, held: 0 });
  });

  it('is also for a model that was there when the message was taken and is gone now', async () => {
    const models = [SCRIPTED_MODEL, CHEAP];
    let offered: readonly ModelInfo[] = models;
    const provider = createScriptedProvider(sayAtOnce('Saved.'), models);
    const world = await createChatWorld({
      model: { ...provider, calls: provider.calls, models: () => offered },
      settings: { admin: { DefaultAPIModel: 'scripted' }, fallbacks: { scripted: ['cheap'] } },
      started: false,
    });
    const { id } = (await world.chat({ message: 'Hi' })).body;
    offered = [CHEAP];
    await world.api.start();
    await world.settle();
    expect(await world.poll(id)).toMatchObject({
      reply: 'Saved.',
      fallbackInfo: { primaryModel: 'scripted' },
    });
  });
});

describe('retry', () => {
  it('asks once more before the first word, and not after', async () => {
    let failures = 2;
    const world = await setUp((call) => {
      failures -= 1;
      if (failures >= 0) throw new ProviderError('failed', 'not now');
      sayAtOnce('Third time.')(call);
    }, {});
    expect(await turn(world)).toMatchObject({ reply: 'Third time.' });
    expect(asked(world)).toEqual(['scripted', 'scripted', 'scripted']);
    expect(await world.ledger.charges({ account: world.account }, 10)).toHaveLength(1);
  });

  it('waits as long as the provider asks, unless that is too long', async () => {
    const times: number[] = [];
    let world: ChatWorld | undefined;
    const overloaded = (retryAfterMs: number) => (call: ModelCall) => {
      times.push(world?.clock.now() ?? 0);
      if (times.length === 1) throw new ProviderError('overloaded', 'later', { retryAfterMs });
      sayAtOnce('Now.')(call);
    };
    world = await setUp(overloaded(3000), {});
    expect(await turn(world)).toMatchObject({ reply: 'Now.' });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(3000);
    times.length = 0;
    world = await setUp(overloaded(60_000), {});
    expect(await turn(world)).toMatchObject({ type: 'error' });
    expect(times).toHaveLength(1);
  });
});

describe('circuit breaker', () => {
  it('leaves a provider alone that is down, until one call shows that it is back', async () => {
    let isDown = true;
    const down = createScriptedProvider((call) => {
      if (isDown) throw new ProviderError('timeout', 'down');
      sayAtOnce('Back.')(call);
    });
    const other = createScriptedProvider(sayAtOnce('Other.'), [{ ...CHEAP, provider: 'other' }]);
    const world = await createChatWorld({
      model: down,
      models: [down, { ...other, id: 'other' }],
      settings: { admin: { DefaultAPIModel: 'scripted' }, fallbacks: { scripted: ['cheap'] } },
    });
    const reply = async () => (await world.chat({ message: 'Hi', wait: true })).body.response;
    for (let time = 0; time < 8; time += 1) expect(await reply()).toBe('Other.');
    expect(down.calls).toHaveLength(5);
    await world.clock.advance(30_000);
    expect(await reply()).toBe('Other.');
    expect(await reply()).toBe('Other.');
    expect(down.calls).toHaveLength(6);
    isDown = false;
    expect(await reply()).toBe('Other.');
    await world.clock.advance(30_000);
    expect(await reply()).toBe('Back.');
    expect(await reply()).toBe('Back.');
    expect(down.calls).toHaveLength(8);
  });

  it('fails at once where there is nothing else to ask', async () => {
    const world = await setUp(failing('timeout', 'scripted'), {});
    for (let time = 0; time < 6; time += 1) await world.chat({ message: 'Hi', wait: true });
    expect(world.calls).toHaveLength(5);
    const { body } = await world.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({ type: 'error', response: expect.stringContaining('overloaded') });
  });
});
