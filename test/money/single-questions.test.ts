import { ProviderError } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorldOptions, createChatWorld, sayAtOnce, silent } from '../support/chat.ts';

const CREDITS = 1000;

/** A question asked at `/api/infer`, and what is left of the credits at its end. */
async function createAsking(options: ChatWorldOptions = {}) {
  const world = await createChatWorld({ credits: CREDITS, ...options });
  const credential = await world.token();
  const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] };
  return {
    ...world,
    infer: (signal?: AbortSignal) =>
      world.ask('POST', '/api/infer', { body, credential, ...(signal !== undefined && { signal }) }),
    async money() {
      const { available, held } = await world.ledger.balance(world.account);
      return { available: available / 1e6, held: held / 1e6 };
    },
    /** Until the model was asked so often: how soon is the machine's business. */
    async asked(count: number) {
      while (world.calls.length < count) await world.settle();
    },
    charges: () => world.ledger.charges({ account: world.account }, 10),
  };
}

describe('a single question', () => {
  it('holds what it may cost, and is charged once for what it came to', async () => {
    const world = await createAsking({ onCall: silent });
    const answer = world.infer();
    await world.asked(1);
    // 4096 tokens of output and 2 of input, each a hundredth of a credit.
    expect(await world.money()).toEqual({ available: CREDITS - 40.98, held: 40.98 });
    const [call] = world.calls;
    if (call !== undefined) sayAtOnce('Hello there.')(call);
    expect(await (await answer).json()).toEqual({ result: 'Hello there.' });
    expect(await world.money()).toEqual({ available: CREDITS - 0.12, held: 0 });
  });

  it('is free when nothing came of it', async () => {
    const world = await createAsking({
      onCall: () => {
        throw new ProviderError('invalid_request', 'no');
      },
    });
    expect((await world.infer()).status).toBe(422);
    expect(await world.money()).toEqual({ available: CREDITS, held: 0 });
  });

  it('is paid for as far as it came when the provider breaks off, or the client leaves', async () => {
    const world = await createAsking({ onCall: (call) => call.say({ type: 'text', text: '12345' }) });
    const breaking = world.infer();
    await world.asked(1);
    world.calls[0]?.fail(new ProviderError('failed', 'gone'));
    expect((await breaking).status).toBe(502); // 2 tokens of input, and 5 characters are taken for 2 tokens.
    expect(await world.money()).toEqual({ available: CREDITS - 0.04, held: 0 });
    const leaving = new AbortController();
    const left = world.infer(leaving.signal).catch(() => undefined);
    await world.asked(2);
    leaving.abort();
    await left;
    await world.settle();
    expect(world.calls[1]?.stopped).toBe(true);
    expect(await world.money()).toEqual({ available: CREDITS - 0.08, held: 0 });
  });

  it('costs nothing while metering is off, and is written down all the same', async () => {
    const world = await createAsking({
      credits: 0,
      settings: { admin: { enforceCredits: false } },
      onCall: sayAtOnce('Hello.'),
    });
    expect((await world.infer()).status).toBe(200);
    expect(await world.money()).toEqual({ available: 0, held: 0 });
    expect(await world.charges()).toMatchObject([
      { operation: 'infer', model: 'scripted', amount: 0, usage: { input: 10, output: 1 } },
    ]);
  });

  it('is refused while the service is about to stop', async () => {
    const world = await createAsking({ onCall: sayAtOnce('Hello.') });
    await world.api.drain(0);
    expect((await world.infer()).status).toBe(503);
    expect(world.calls).toEqual([]);
  });
});
