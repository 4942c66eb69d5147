import { ProviderError, type Usage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, getEvents, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const BODY = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

async function complete(
  drive: (call: ModelCall) => void,
): Promise<{ app: TestApp; status: number; events: unknown[]; text: string }> {
  const app = await createTestApp({ models: [createScriptedProvider(drive)], credits: 10 });
  const response = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
  const text = await response.text();
  return { app, status: response.status, events: getEvents(text), text };
}

async function getSpent({ ledger, account }: TestApp): Promise<{ spent: number; held: number }> {
  const { posted, held } = await ledger.balance(account);
  return { spent: (10_000_000 - posted) / 1_000_000, held };
}

describe('credit settlement', () => {
  it('charges the usage, releases the rest and reports it in the last event', async () => {
    const { app, events } = await complete((call) => {
      call.say({ type: 'text', text: 'Hi' });
      call.say({ type: 'usage', usage: { input: 4, output: 2 } }, { type: 'finish', reason: 'stop' });
      call.end();
    });
    expect(events.at(-2)).toEqual({
      type: 'content',
      text: '',
      usage: { inputTokens: 4, outputTokens: 2 },
      credits: { used: 0.06, usdCost: 0.0006 },
      stopReason: 'stop',
    });
    expect(await getSpent(app)).toEqual({ spent: 0.06, held: 0 });
  });

  it('charges a shortfall in full', async () => {
    const { app } = await complete((call) => {
      call.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 500 } });
      call.end();
    });
    expect(await getSpent(app)).toEqual({ spent: 5.04, held: 0 });
  });

  it('charges cached, written and reasoning tokens by class', async () => {
    const model = {
      id: 'classes',
      name: 'Classes',
      type: 'text',
      provider: 'scripted',
      contextWindow: 100_000,
      maxOutputTokens: 10_000,
      prices: { input: 100, output: 200, cachedInput: 10, cacheWrite: 125, reasoning: 400 },
    } as const;
    const usage = { input: 10, output: 10, cachedInput: 10, cacheWrite: 10, reasoning: 10 };
    const provider = createScriptedProvider(
      (call) => {
        call.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage });
        call.end();
      },
      [model],
    );
    const app = await createTestApp({ models: [provider], credits: 10 });
    const response = await app.ask('POST', '/api/ai/v1/completions', {
      body: { ...BODY, model: 'classes' },
    });
    const last = getEvents(await response.text()).at(-2);
    // 10 tokens of each class at 100 + 200 + 10 + 125 + 400 USD per million.
    expect(last).toMatchObject({
      usage: { inputTokens: 10, outputTokens: 20, cacheReadInputTokens: 10, cacheCreationInputTokens: 10 },
      credits: { used: 0.835 },
    });
  });

  it('uses the estimate for missing or implausible usage, never above the hold', async () => {
    const missing = await complete((call) => {
      call.say({ type: 'text', text: 'x'.repeat(25) });
      call.end();
    });
    expect(await getSpent(missing.app)).toEqual({ spent: 0.14, held: 0 });

    const absurd = await complete((call) => {
      call.say(
        { type: 'text', text: 'x'.repeat(1000) },
        { type: 'usage', usage: { input: -4, output: 1e12 } },
      );
      call.end();
    });
    expect(await getSpent(absurd.app)).toEqual({ spent: 1, held: 0 });
  });

  it.each([
    ['that exceeds any balance', { input: 4, output: 9e15 }],
    ['that is not an object', null as unknown as Usage],
  ])('treats a report %s as implausible, also for a model of unknown size', async (_, usage) => {
    const sizeless = { ...SCRIPTED_MODEL, contextWindow: 0 };
    const provider = createScriptedProvider(
      (call) => {
        call.say({ type: 'text', text: 'x'.repeat(25) }, { type: 'usage', usage });
        call.end();
      },
      [sizeless],
    );
    const app = await createTestApp({ models: [provider], credits: 10 });
    const response = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
    expect(getEvents(await response.text()).slice(-2)).toEqual([
      expect.objectContaining({ usage: { inputTokens: 4, outputTokens: 10 }, credits: expect.anything() }),
      '[DONE]',
    ]);
    expect(await getSpent(app)).toEqual({ spent: 0.14, held: 0 });
    expect(app.clock.pending).toBe(0);
  });

  it('uses the price at admission', async () => {
    let price = 100;
    const provider = createScriptedProvider((call) => {
      price = 100_000;
      call.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 2 } });
      call.end();
    });
    const changing = {
      ...provider,
      models: () => provider.models().map((model) => ({ ...model, prices: { input: price, output: price } })),
    };
    const app = await createTestApp({ models: [changing], credits: 10 });
    const response = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
    await response.text();
    expect(await getSpent(app)).toEqual({ spent: 0.06, held: 0 });
  });

  it('is free without output, and the status reports the failure', async () => {
    const table = [
      ['rejected_key', 401, 'provider_rejected'],
      ['not_configured', 503, 'provider_not_configured'],
      ['overloaded', 503, 'provider_overloaded'],
      ['timeout', 500, 'provider_timeout'],
      ['context_length', 422, 'context_length_exceeded'],
      ['invalid_request', 422, 'invalid_request'],
      ['content_blocked', 422, 'invalid_request'],
      ['failed', 500, 'provider_error'],
    ] as const;
    for (const [kind, status, errorCode] of table) {
      const {
        app,
        status: got,
        text,
      } = await complete((call) => {
        call.fail(new ProviderError(kind, 'SECRET provider text', { retryAfterMs: 7000 }));
      });
      expect([kind, got, JSON.parse(text).errorCode]).toEqual([kind, status, errorCode]);
      expect(text).not.toContain('SECRET');
      expect(await getSpent(app)).toEqual({ spent: 0, held: 0 });
    }
  });

  it('charges the output before a failure, reported by one error event and [DONE]', async () => {
    const { app, status, events, text } = await complete((call) => {
      call.say({ type: 'text', text: 'x'.repeat(25) });
      call.fail(new ProviderError('overloaded', 'SECRET provider text'));
    });
    expect(status).toBe(200);
    expect(events.slice(-2)).toEqual([
      {
        type: 'error',
        message: 'The model provider is overloaded. Try again shortly.',
        requestId: expect.any(String),
        usage: { inputTokens: 4, outputTokens: 10 },
        credits: { used: 0.14, usdCost: 0.0014 },
      },
      '[DONE]',
    ]);
    expect(text).not.toContain('SECRET');
    expect(await getSpent(app)).toEqual({ spent: 0.14, held: 0 });
    expect(app.incidents).toHaveLength(1);
  });

  it('settles later and ends the stream in time when the ledger is unavailable at its end', async () => {
    let away = true;
    const app = await createTestApp({
      credits: 10,
      models: [
        createScriptedProvider((call) => {
          call.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 2 } });
          call.end();
        }),
      ],
      ledger: (ledger) => ({
        ...ledger,
        settle: (...settlement) => (away ? Promise.reject(new Error('away')) : ledger.settle(...settlement)),
      }),
    });
    const response = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
    const text = await response.text();
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    // The charge may still be lost with the process, so the client learns of none.
    expect(text).toContain('"usage":{"inputTokens":4,"outputTokens":2}');
    expect(text).not.toContain('"credits"');
    expect((await getSpent(app)).held).toBe(1_000_000);
    await app.clock.advance(2000);
    away = false;
    await app.clock.advance(10_000);
    expect(await getSpent(app)).toEqual({ spent: 0.06, held: 0 });
  });

  it('renews the hold of a stream that is longer than its lease', async () => {
    const provider = createScriptedProvider((call) => call.say({ type: 'text', text: 'Hi' }));
    const app = await createTestApp({ models: [provider], credits: 10 });
    const response = await app.ask('POST', '/api/ai/v1/completions', { body: BODY });
    await app.clock.advance(40 * 60_000);
    await app.ledger.sweep();
    expect((await getSpent(app)).held).toBe(1_000_000);
    const [call] = provider.calls;
    call?.say({ type: 'usage', usage: { input: 4, output: 2 } });
    call?.end();
    await response.text();
    expect(await getSpent(app)).toEqual({ spent: 0.06, held: 0 });
    expect(app.clock.pending).toBe(0);
  });
});
