import { describe, expect, it } from 'vitest';
import { createScriptedProvider, getEvents, type ModelCall } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

// Input of 10 characters: 4 tokens; output of at most 96: 100 tokens at 0.01 credits: a hold of exactly 1
// credit.
const ONE_CREDIT = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

/** Answers at once, and uses exactly the held amount. */
function answering(call: ModelCall): void {
  call.say(
    { type: 'text', text: 'yes' },
    { type: 'usage', usage: { input: 4, output: 96 } },
    { type: 'finish', reason: 'stop' },
  );
  call.end();
}

describe('credit admission', () => {
  it('admits exactly as many of 1,000 parallel completions as the balance covers and settles each once', async () => {
    const model = createScriptedProvider(answering);
    const app = await createTestApp({
      models: [model],
      credits: 100,
      key: { requestsPerMinute: 10_000, requestsPerDay: 10_000 },
    });
    let lowest = Number.POSITIVE_INFINITY;
    const watched = async (): Promise<void> => {
      lowest = Math.min(lowest, (await app.ledger.balance(app.account)).available);
    };
    const answers = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const response = await app.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
        await watched();
        const text = await response.text();
        return { status: response.status, text };
      }),
    );

    const admitted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 422);
    expect(admitted).toHaveLength(100);
    expect(refused).toHaveLength(900);
    expect(model.calls).toHaveLength(100);
    expect(lowest).toBeGreaterThanOrEqual(0);
    expect(await app.ledger.balance(app.account)).toEqual({ posted: 0, held: 0, available: 0 });
    expect(JSON.parse(refused[0]?.text ?? '')).toMatchObject({
      type: 'error',
      errorCode: 'insufficient_credits',
    });
    const charges = await app.ledger.charges({ account: app.account }, 1000);
    expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(100);
  });

  it('reports balance and requirement with 422, or with 403 if the host configures it', async () => {
    const words =
      'Insufficient credits. You have 0.5 credits, but this request requires approximately 1 credits.';
    for (const status of [422, 403] as const) {
      const app = await createTestApp({
        models: [createScriptedProvider(answering)],
        credits: 0.5,
        settings: { completions: { insufficientCreditsStatus: status } },
      });
      const response = await app.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ message: words, errorCode: 'insufficient_credits' });
    }
  });

  it('keeps the status of other refusals, and names the operation and the request in the charge', async () => {
    const app = await createTestApp({
      models: [createScriptedProvider(answering)],
      key: { spendCap: { amount: 1_000_000, period: 'day' } },
      settings: { completions: { insufficientCreditsStatus: 403 } },
    });
    const ask = (requestId: string) =>
      app.ask('POST', '/api/ai/v1/completions', {
        body: ONE_CREDIT,
        headers: { 'X-Request-ID': requestId },
      });
    await (await ask('r-1')).text();
    const refused = await ask('r-2');
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ errorCode: 'spend_cap_exceeded' });
    expect(await app.ledger.charges({ account: app.account }, 10)).toMatchObject([
      { operation: 'createCompletion', requestId: 'r-1' },
    ]);
  });

  it('rejects calls beyond the spending cap of a key, whatever the balance', async () => {
    const app = await createTestApp({
      models: [createScriptedProvider(answering)],
      key: { spendCap: { amount: 3_000_000, period: 'day' } },
    });
    const statuses: number[] = [];
    for (let index = 0; index < 5; index++) {
      const response = await app.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 422, 422]);
    const refused = await app.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
    expect(await refused.json()).toMatchObject({ errorCode: 'spend_cap_exceeded' });

    // The next day has a new cap.
    await app.clock.advance(24 * 3_600_000);
    const next = await app.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
    await next.text();
    expect(next.status).toBe(200);
  });

  it('rejects a model without a price while credits are metered, and accepts it otherwise', async () => {
    const free = {
      id: 'free',
      name: 'Free',
      type: 'text',
      provider: 'scripted',
      contextWindow: 1000,
      maxOutputTokens: 500,
    } as const;
    const body = { ...ONE_CREDIT, model: 'free' };
    const metered = await createTestApp({ models: [createScriptedProvider(answering, [free])] });
    const refused = await metered.ask('POST', '/api/ai/v1/completions', { body });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ errorCode: 'model_unavailable' });

    const open = await createTestApp({
      models: [createScriptedProvider(answering, [free])],
      credits: 0,
      settings: { admin: { enforceCredits: false } },
    });
    const passed = await open.ask('POST', '/api/ai/v1/completions', { body });
    const events = getEvents(await passed.text());
    expect(passed.status).toBe(200);
    expect(events.at(-2)).toEqual({
      type: 'content',
      text: '',
      usage: { inputTokens: 4, outputTokens: 96 },
      stopReason: 'stop',
    });
    // Nothing was charged, but the usage is recorded.
    const [charge] = await open.ledger.charges({ account: open.account }, 1);
    expect(charge).toMatchObject({ status: 'settled', amount: 0, usage: { input: 4, output: 96 } });
  });
});
