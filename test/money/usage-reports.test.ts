import { REJECTED_USAGE } from '@questline/core/internal';
import type { ModelInfo, ModelPart, UsageRejection } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, getEvents, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

/** 8 and 40 USD per million tokens up to 272,000 input tokens, twice as much above. */
const TIERED: ModelInfo = {
  ...SCRIPTED_MODEL,
  id: 'tiered',
  contextWindow: 1_050_000,
  prices: { input: 8, output: 40 },
  priceTiers: [{ aboveInputTokens: 272_000, prices: { input: 16, output: 80 } }],
};

/** Has prices only up to 100,000 input tokens. */
const HALF_PRICED: ModelInfo = {
  ...SCRIPTED_MODEL,
  id: 'half-priced',
  contextWindow: 1_000_000,
  priceTiers: [{ aboveInputTokens: 100_000, prices: {} }],
};

async function createAnsweringApp(parts: readonly ModelPart[], observed: UsageRejection[] = []) {
  const provider = createScriptedProvider(
    (call) => {
      call.say(...parts);
      call.end();
    },
    [SCRIPTED_MODEL, TIERED, HALF_PRICED],
  );
  const app = await createTestApp({
    models: [provider],
    credits: 10_000,
    settings: { observers: [{ usageRejected: (rejection) => observed.push(rejection) }] },
  });
  return { app, provider };
}

const ask = (app: TestApp, model: string, content: string) =>
  app.ask('POST', '/api/ai/v1/completions', {
    body: { model, messages: [{ role: 'user', content }], options: { maxTokens: 100 } },
  });

async function getSpent({ ledger, account }: TestApp): Promise<number> {
  return (10_000_000_000 - (await ledger.balance(account)).posted) / 1_000_000;
}

describe('prompt beyond the context window', () => {
  it.each([
    ['scripted', 100_000],
    ['half-priced', 100_000],
    ['tiered', 1_050_000],
  ])('is rejected for %s by its estimate before the model is called', async (model, tokens) => {
    const { app, provider } = await createAnsweringApp([{ type: 'text', text: 'Hi' }]);
    const refused = await ask(app, model, 'x'.repeat(tokens * 2.5 + 1));
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ type: 'error', errorCode: 'context_length_exceeded' });
    expect(provider.calls).toEqual([]);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
    const accepted = await ask(app, model, 'x'.repeat(tokens * 2.5));
    expect(accepted.status).toBe(200);
    await accepted.text();
  });
});

describe('model with a second price tier', () => {
  it.each([
    [271_000, 216.8 + 0.4],
    [273_000, 436.8 + 0.8],
  ])('charges %i reported input tokens by their tier', async (input, credits) => {
    const report: ModelPart = { type: 'usage', usage: { input, output: 100 } };
    const { app } = await createAnsweringApp([{ type: 'text', text: 'x'.repeat(250) }, report]);
    await (await ask(app, 'tiered', 'x'.repeat(650_000))).text();
    expect(await getSpent(app)).toBeCloseTo(credits, 6);
  });

  it('holds by the tier of the estimate', async () => {
    const { app } = await createAnsweringApp([{ type: 'text', text: 'Hi' }]);
    const held = async (characters: number): Promise<number> => {
      const { ledger, account } = app;
      const response = await ask(app, 'tiered', 'x'.repeat(characters));
      const [charge] = await ledger.charges({ account }, 1);
      await response.text();
      return charge?.status === 'reserved' ? charge.amount / 1_000_000 : Number.NaN;
    };
    expect(await held(680_000)).toBeCloseTo(217.6 + 0.4, 6);
    expect(await held(680_003)).toBeCloseTo(272_002 * 0.0016 + 0.8, 6);
  });
});

describe('implausible usage report', () => {
  it('is charged in full above the estimate, up to the window of the model', async () => {
    const observed: UsageRejection[] = [];
    const report: ModelPart = { type: 'usage', usage: { input: 1_000_000, output: 2 } };
    const { app } = await createAnsweringApp([{ type: 'text', text: 'Hi' }, report], observed);
    await (await ask(app, 'tiered', '\u{1F9FF}'.repeat(300_000))).text();
    expect(await getSpent(app)).toBeCloseTo(1600 + 0.016, 6);
    expect([observed, app.incidents]).toEqual([[], []]);
  });

  it('is recorded with both numbers in the log, the observers and the store', async () => {
    const observed: UsageRejection[] = [];
    const reported = { input: 2_000_000, output: 2 };
    const { app } = await createAnsweringApp(
      [
        { type: 'text', text: 'x'.repeat(25) },
        { type: 'usage', usage: reported },
      ],
      observed,
    );
    for (const _ of [1, 2]) await (await ask(app, 'tiered', 'x'.repeat(250))).text();
    await app.settle();
    const charged = { input: 100, output: 10 };
    const amount = 120_000;
    expect(await getSpent(app)).toBe(0.24);
    const facts = { provider: 'scripted', model: 'tiered', reported, charged, amount };
    expect(observed).toEqual([facts, facts].map((one) => ({ ...one, operation: 'createCompletion' })));
    expect(app.incidents).toHaveLength(2);
    expect(app.incidents[0]).toMatchObject({
      operation: 'createCompletion',
      error: { name: 'UsageReportRejected', ...facts },
    });
    expect(String(app.incidents[0]?.error)).toMatch(/2000000.*120000/);
    const records = await app.services.store.collection(REJECTED_USAGE).find({});
    expect(records).toMatchObject([{ ...facts, count: 2, lastAt: app.clock.now() }]);
  });

  it('is recorded when a client that disconnects would owe more than the hold', async () => {
    const observed: UsageRejection[] = [];
    const provider = createScriptedProvider(undefined, [TIERED]);
    const app = await createTestApp({
      models: [provider],
      settings: { observers: [{ usageRejected: (rejection) => observed.push(rejection) }] },
    });
    const leave = new AbortController();
    const body = {
      model: 'tiered',
      messages: [{ role: 'user', content: 'x'.repeat(2500) }],
      max_tokens: 100,
    };
    const asked = app.ask('POST', '/api/ai/v1/completions', { body, signal: leave.signal });
    await app.settle();
    provider.calls[0]?.say(
      { type: 'usage', usage: { input: 500_000, output: 1 } },
      { type: 'text', text: 'Hi' },
    );
    const reader = (await asked).body?.getReader();
    await reader?.read();
    await app.settle();
    leave.abort();
    await reader?.cancel();
    await app.settle();
    const [charge] = await app.ledger.charges({ account: app.account }, 1);
    // The hold: 1,000 input tokens and 100 output tokens.
    expect(charge).toMatchObject({ status: 'settled', amount: 1_200_000 });
    expect(observed).toMatchObject([{ model: 'tiered', reported: { input: 500_000 }, amount: 1_200_000 }]);
  });
});

describe('completion during a ledger outage', () => {
  it('answers 503 with a retry delay', async () => {
    const away = Object.assign(new Error('away'), { name: 'StorageUnavailable' });
    const app = await createTestApp({
      models: [createScriptedProvider()],
      ledger: (ledger) => ({ ...ledger, hold: () => Promise.reject(away) }),
    });
    const response = await ask(app, 'scripted', 'Hi');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({ type: 'error', request_id: expect.any(String) });
  });
});

describe('last event of a broken stream', () => {
  it('contains usage and credits after output', async () => {
    const { app } = await createAnsweringApp([
      { type: 'text', text: 'x'.repeat(25) },
      null as unknown as ModelPart,
    ]);
    const events = getEvents(await (await ask(app, 'scripted', 'x'.repeat(10))).text());
    expect(events.at(-2)).toMatchObject({
      type: 'error',
      usage: { inputTokens: 4, outputTokens: 10 },
      credits: { used: 0.14, usdCost: 0.0014 },
    });
  });
});
