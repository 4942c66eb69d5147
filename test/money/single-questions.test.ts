import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatAppOptions, createChatApp, sayAtOnce, silent } from '../support/chat.ts';

const CREDITS = 1000;

/** A call of `/api/infer` and the credits after it. */
async function createAsking(options: ChatAppOptions = {}) {
  const app = await createChatApp({ credits: CREDITS, ...options });
  const credential = await app.token();
  const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] };
  return {
    ...app,
    infer: (signal?: AbortSignal) =>
      app.ask('POST', '/api/infer', { body, credential, ...(signal !== undefined && { signal }) }),
    async money() {
      const { available, held } = await app.ledger.balance(app.account);
      return { available: available / 1e6, held: held / 1e6 };
    },
    /** Waits until the model was called `count` times, however long it takes. */
    async asked(count: number) {
      while (app.calls.length < count) await app.settle();
    },
    charges: () => app.ledger.charges({ account: app.account }, 10),
  };
}

describe('single generation', () => {
  it('holds its maximum cost and is charged once for its actual cost', async () => {
    const app = await createAsking({ onCall: silent });
    const answer = app.infer();
    await app.asked(1);
    // 4096 output tokens and 2 input tokens at 0.01 credits each.
    expect(await app.money()).toEqual({ available: CREDITS - 40.98, held: 40.98 });
    const [call] = app.calls;
    if (call !== undefined) sayAtOnce('Hello there.')(call);
    expect(await (await answer).json()).toEqual({ result: 'Hello there.' });
    expect(await app.money()).toEqual({ available: CREDITS - 0.12, held: 0 });
  });

  it('is free without a result', async () => {
    const app = await createAsking({
      onCall: () => {
        throw new ProviderError('invalid_request', 'no');
      },
    });
    expect((await app.infer()).status).toBe(422);
    expect(await app.money()).toEqual({ available: CREDITS, held: 0 });
  });

  it('is charged for its partial output when the provider breaks off or the client disconnects', async () => {
    const app = await createAsking({ onCall: (call) => call.say({ type: 'text', text: '12345' }) });
    const breaking = app.infer();
    await app.asked(1);
    app.calls[0]?.fail(new ProviderError('failed', 'gone'));
    expect((await breaking).status).toBe(502); // 2 input tokens; 5 characters are estimated as 2 tokens.
    expect(await app.money()).toEqual({ available: CREDITS - 0.04, held: 0 });
    const leaving = new AbortController();
    const left = app.infer(leaving.signal).catch(() => undefined);
    await app.asked(2);
    leaving.abort();
    await left;
    await app.settle();
    expect(app.calls[1]?.stopped).toBe(true);
    expect(await app.money()).toEqual({ available: CREDITS - 0.08, held: 0 });
  });

  it('is free while metering is off and recorded anyway', async () => {
    const app = await createAsking({
      credits: 0,
      settings: { admin: { enforceCredits: false } },
      onCall: sayAtOnce('Hello.'),
    });
    expect((await app.infer()).status).toBe(200);
    expect(await app.money()).toEqual({ available: 0, held: 0 });
    expect(await app.charges()).toMatchObject([
      { operation: 'infer', model: 'scripted', amount: 0, usage: { input: 10, output: 1 } },
    ]);
  });

  it('is rejected during shutdown', async () => {
    const app = await createAsking({ onCall: sayAtOnce('Hello.') });
    await app.api.drain(0);
    expect((await app.infer()).status).toBe(503);
    expect(app.calls).toEqual([]);
  });
});
