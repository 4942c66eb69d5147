import { describe, expect, it } from 'vitest';
import { createScriptedProvider, eventsOf, type ModelCall } from '../support/model.ts';
import { createWorld } from '../support/world.ts';

// Input of 10 characters: 4 tokens; output of at most 96: 100 tokens at 0.01 credits: a reservation of exactly 1 credit.
const ONE_CREDIT = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

/** Answers at once, and uses exactly what was reserved. */
function answering(call: ModelCall): void {
  call.say(
    { type: 'text', text: 'yes' },
    { type: 'usage', usage: { input: 4, output: 96 } },
    { type: 'finish', reason: 'stop' },
  );
  call.end();
}

describe('admission', () => {
  it('admits exactly as many of 1,000 parallel completions as the balance affords, and settles each once', async () => {
    const model = createScriptedProvider(answering);
    const world = await createWorld({
      models: [model],
      credits: 100,
      key: { requestsPerMinute: 10_000, requestsPerDay: 10_000 },
    });
    let lowest = Number.POSITIVE_INFINITY;
    const watched = async (): Promise<void> => {
      lowest = Math.min(lowest, (await world.ledger.balance(world.account)).available);
    };
    const answers = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const response = await world.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
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
    expect(await world.ledger.balance(world.account)).toEqual({ posted: 0, held: 0, available: 0 });
    expect(JSON.parse(refused[0]?.text ?? '')).toMatchObject({
      type: 'error',
      errorCode: 'insufficient_credits',
    });
    const charges = await world.ledger.charges({ account: world.account }, 1000);
    expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(100);
  });

  it('says what there is and what is wanted, with 422, or 403 where the host asks for it', async () => {
    const words =
      'Insufficient credits. You have 0.5 credits, but this request requires approximately 1 credits.';
    for (const status of [422, 403] as const) {
      const world = await createWorld({
        models: [createScriptedProvider(answering)],
        credits: 0.5,
        settings: { completions: { insufficientCreditsStatus: status } },
      });
      const response = await world.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ message: words, errorCode: 'insufficient_credits' });
    }
  });

  it("stops at a key's spending cap, whatever the account still has", async () => {
    const world = await createWorld({
      models: [createScriptedProvider(answering)],
      key: { spendCap: { amount: 3_000_000, period: 'day' } },
    });
    const statuses: number[] = [];
    for (let index = 0; index < 5; index++) {
      const response = await world.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 422, 422]);
    const refused = await world.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
    expect(await refused.json()).toMatchObject({ errorCode: 'spend_cap_exceeded' });

    // The next day is another cap.
    await world.clock.advance(24 * 3_600_000);
    const next = await world.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
    await next.text();
    expect(next.status).toBe(200);
  });

  it('refuses a model without a price while credits are metered, and lets it pass when they are not', async () => {
    const free = {
      id: 'free',
      name: 'Free',
      type: 'text',
      provider: 'scripted',
      contextWindow: 1000,
      maxOutputTokens: 500,
    } as const;
    const body = { ...ONE_CREDIT, model: 'free' };
    const metered = await createWorld({ models: [createScriptedProvider(answering, [free])] });
    const refused = await metered.ask('POST', '/api/ai/v1/completions', { body });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ errorCode: 'model_unavailable' });

    const open = await createWorld({
      models: [createScriptedProvider(answering, [free])],
      credits: 0,
      settings: { admin: { enforceCredits: false } },
    });
    const passed = await open.ask('POST', '/api/ai/v1/completions', { body });
    const events = eventsOf(await passed.text());
    expect(passed.status).toBe(200);
    expect(events.at(-2)).toEqual({
      type: 'content',
      text: '',
      usage: { inputTokens: 4, outputTokens: 96 },
      stopReason: 'stop',
    });
    // Nothing was charged, but it is known what was used.
    const [charge] = await open.ledger.charges({ account: open.account }, 1);
    expect(charge).toMatchObject({ status: 'settled', amount: 0, usage: { input: 4, output: 96 } });
  });
});
