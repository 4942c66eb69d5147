import { type ModelInfo, ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp, sayAtOnce } from '../support/chat.ts';
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
  return createChatApp({
    model: createScriptedProvider(onCall, [SCRIPTED_MODEL, CHEAP, SPARE]),
    settings: { admin: { DefaultAPIModel: 'scripted' }, fallbacks },
  });
}

/** Fails for the named models before the first text. */
function failing(kind: ProviderErrorKind, ...models: string[]) {
  return (call: ModelCall): void => {
    if (models.includes(call.request.model)) throw new ProviderError(kind, 'text of the provider');
    sayAtOnce('Saved.')(call);
  };
}

async function turn(app: ChatApp, more: object = {}) {
  const { id } = (await app.chat({ message: 'Hi', ...more })).body;
  for (let second = 0; second < 10; second += 1) {
    await app.settle();
    await app.clock.advance(1000);
  }
  return app.poll(id);
}

const asked = (app: ChatApp): string[] => app.calls.map(({ request }) => request.model);

describe('model fallback', () => {
  it.each(['overloaded', 'failed', 'timeout', 'rejected_key', 'not_configured'] as const)(
    'answers in place of a model whose provider fails: %s',
    async (kind) => {
      const app = await setUp(failing(kind, 'scripted'));
      const quest = await turn(app);
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
      expect(await app.ledger.balance(app.account)).toMatchObject({
        posted: 1000_000_000 - 1100,
        held: 0,
      });
      const charges = await app.ledger.charges({ account: app.account }, 10);
      expect(charges.map(({ status, model, amount }) => [status, model, amount])).toEqual([
        ['settled', 'cheap', 1100],
        ['released', 'scripted', 0],
      ]);
      expect(app.calls.at(-1)?.request.maxTokens).toBe(100);
    },
  );

  it.each(['context_length', 'invalid_request', 'content_blocked'] as const)(
    'does not hide an invalid request: %s',
    async (kind) => {
      const app = await setUp(failing(kind, 'scripted'));
      const quest = await turn(app);
      expect(quest).toMatchObject({ status: 'done', type: 'error' });
      expect(quest).not.toHaveProperty('fallbackInfo');
      expect(asked(app)).toEqual(['scripted']);
      expect((await app.ledger.balance(app.account)).posted).toBe(1000_000_000);
    },
  );

  it('never happens after the first text', async () => {
    const app = await setUp((call) => {
      call.say({ type: 'text', text: 'Once' });
      call.fail(new ProviderError('failed', 'gone'));
    });
    const quest = await turn(app);
    expect(quest).toMatchObject({ status: 'done', type: 'error', replies: ['Once'] });
    expect(quest).not.toHaveProperty('fallbackInfo');
    expect(asked(app)).toEqual(['scripted']);
  });

  it('continues with the next model and reports the first failure when all have failed', async () => {
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

  it('replaces a model that disappeared after the message was accepted', async () => {
    const models = [SCRIPTED_MODEL, CHEAP];
    let offered: readonly ModelInfo[] = models;
    const provider = createScriptedProvider(sayAtOnce('Saved.'), models);
    const app = await createChatApp({
      model: { ...provider, calls: provider.calls, models: () => offered },
      settings: { admin: { DefaultAPIModel: 'scripted' }, fallbacks: { scripted: ['cheap'] } },
      started: false,
    });
    const { id } = (await app.chat({ message: 'Hi' })).body;
    offered = [CHEAP];
    await app.api.start();
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      reply: 'Saved.',
      fallbackInfo: { primaryModel: 'scripted' },
    });
  });
});

describe('model retry', () => {
  it('repeats the call before the first text and not after it', async () => {
    let failures = 2;
    const app = await setUp((call) => {
      failures -= 1;
      if (failures >= 0) throw new ProviderError('failed', 'not now');
      sayAtOnce('Third time.')(call);
    }, {});
    expect(await turn(app)).toMatchObject({ reply: 'Third time.' });
    expect(asked(app)).toEqual(['scripted', 'scripted', 'scripted']);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
  });

  it('waits for the Retry-After of the provider unless it exceeds the limit', async () => {
    const times: number[] = [];
    let app: ChatApp | undefined;
    const overloaded = (retryAfterMs: number) => (call: ModelCall) => {
      times.push(app?.clock.now() ?? 0);
      if (times.length === 1) throw new ProviderError('overloaded', 'later', { retryAfterMs });
      sayAtOnce('Now.')(call);
    };
    app = await setUp(overloaded(3000), {});
    expect(await turn(app)).toMatchObject({ reply: 'Now.' });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(3000);
    times.length = 0;
    app = await setUp(overloaded(60_000), {});
    expect(await turn(app)).toMatchObject({ type: 'error' });
    expect(times).toHaveLength(1);
  });
});

describe('circuit breaker in chat', () => {
  it('stops calling a failing provider until one call succeeds', async () => {
    let isDown = true;
    const down = createScriptedProvider((call) => {
      if (isDown) throw new ProviderError('timeout', 'down');
      sayAtOnce('Back.')(call);
    });
    const other = createScriptedProvider(sayAtOnce('Other.'), [{ ...CHEAP, provider: 'other' }]);
    const app = await createChatApp({
      model: down,
      models: [down, { ...other, id: 'other' }],
      settings: { admin: { DefaultAPIModel: 'scripted' }, fallbacks: { scripted: ['cheap'] } },
    });
    const reply = async () => (await app.chat({ message: 'Hi', wait: true })).body.response;
    for (let time = 0; time < 8; time += 1) expect(await reply()).toBe('Other.');
    expect(down.calls).toHaveLength(5);
    await app.clock.advance(30_000);
    expect(await reply()).toBe('Other.');
    expect(await reply()).toBe('Other.');
    expect(down.calls).toHaveLength(6);
    isDown = false;
    expect(await reply()).toBe('Other.');
    await app.clock.advance(30_000);
    expect(await reply()).toBe('Back.');
    expect(await reply()).toBe('Back.');
    expect(down.calls).toHaveLength(8);
  });

  it('fails at once when no other model is available', async () => {
    const app = await setUp(failing('timeout', 'scripted'), {});
    for (let time = 0; time < 6; time += 1) await app.chat({ message: 'Hi', wait: true });
    expect(app.calls).toHaveLength(5);
    const { body } = await app.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({ type: 'error', response: expect.stringContaining('overloaded') });
  });
});
