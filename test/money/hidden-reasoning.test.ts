import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

/** Published prices: 8 and 40 USD per million tokens. */
const ASTRA: ModelInfo = {
  id: 'gpt-6.2-astra',
  name: 'GPT-6.2 Astra',
  type: 'text',
  provider: 'scripted',
  contextWindow: 1_050_000,
  maxOutputTokens: 128_000,
  supportsThinking: true,
  supportsTools: true,
  outputTokensPerSecond: 100,
  prices: { input: 8, output: 40, cachedInput: 0.4, cacheWrite: 10 },
};

/** 30,000 hidden reasoning tokens, then a short answer. */
const REASONING = 30_000;
const BILL = { input: 500, output: 100, reasoning: REASONING };
const CREDITS = 0.4 + 0.4 + 120;
const SECONDS = (REASONING + 100) / 100;
const WORDS = 'word '.repeat(80);
const PROMPT = 'x'.repeat(1250);

const BODY = {
  model: ASTRA.id,
  messages: [{ role: 'user', content: PROMPT }],
  options: { maxTokens: 64_000 },
};

async function getSpent({ ledger, account }: TestApp): Promise<{ spent: number; held: number }> {
  const { posted, held } = await ledger.balance(account);
  return { spent: (1_000_000_000 - posted) / 1_000_000, held };
}

/** Starts a completion and returns when the complete visible text has been sent. */
async function readAnswer(leave: AbortController): Promise<{ app: TestApp; call: ModelCall }> {
  const provider = createScriptedProvider(undefined, [ASTRA]);
  const app = await createTestApp({ models: [provider] });
  const asked = app.ask('POST', '/api/ai/v1/completions', { body: BODY, signal: leave.signal });
  await app.settle();
  const call = provider.calls[0];
  if (call === undefined) throw new Error('the model was not called');
  await app.clock.advance(SECONDS * 1000);
  call.say({ type: 'text', text: WORDS });
  const reader = (await asked).body?.getReader();
  if (reader === undefined) throw new Error('no body');
  let text = '';
  while (!text.includes('word')) text += new TextDecoder().decode((await reader.read()).value);
  leave.signal.addEventListener('abort', () => void reader.cancel());
  return { app, call };
}

describe('client of an answer with 30,000 hidden reasoning tokens', () => {
  it('pays the full price when it stays connected', async () => {
    const { app, call } = await readAnswer(new AbortController());
    call.say({ type: 'usage', usage: BILL }, { type: 'finish', reason: 'stop' });
    call.end();
    await app.settle();
    expect(await getSpent(app)).toEqual({ spent: CREDITS, held: 0 });
  });

  it('pays at least 80 % of the full price when it disconnects after the last text, before the usage report', async () => {
    const leave = new AbortController();
    const { app, call } = await readAnswer(leave);
    leave.abort();
    await app.settle();
    expect(call.stopped).toBe(true);
    const { spent, held } = await getSpent(app);
    expect(held).toBe(0);
    expect(spent / CREDITS).toBeGreaterThan(0.8);
    expect(spent / CREDITS).toBeLessThan(1.2);
  });

  it('pays the reported usage when the report follows within two seconds of its disconnect', async () => {
    const leave = new AbortController();
    const { app, call } = await readAnswer(leave);
    call.say({ type: 'finish', reason: 'stop' });
    await app.settle();
    leave.abort();
    await app.settle();
    await app.clock.advance(1900);
    expect(call.stopped).toBe(false);
    call.say({ type: 'usage', usage: BILL });
    await app.settle();
    expect(await getSpent(app)).toEqual({ spent: CREDITS, held: 0 });
    expect(call.stopped).toBe(true);
    expect(app.clock.pending).toBe(0);
  });

  it('waits two seconds for a missing report and then aborts the provider call', async () => {
    const leave = new AbortController();
    const { app, call } = await readAnswer(leave);
    call.say({ type: 'finish', reason: 'stop' });
    await app.settle();
    leave.abort();
    await app.settle();
    await app.clock.advance(2000);
    await app.settle();
    expect(call.stopped).toBe(true);
    const { spent, held } = await getSpent(app);
    expect(held).toBe(0);
    expect(spent / CREDITS).toBeGreaterThan(0.8);
    expect(spent / CREDITS).toBeLessThan(1.2);
    expect(app.clock.pending).toBe(0);
  });

  it('pays at least 80 % of the full price when a chat is cancelled once its text is visible', async () => {
    const provider = createScriptedProvider(undefined, [ASTRA]);
    const app = await createChatApp({
      models: [provider],
      model: provider,
      settings: { admin: { DefaultAPIModel: ASTRA.id } },
    });
    const { body } = await app.chat({ message: PROMPT, max_tokens: 64_000 });
    await app.settle();
    const call = provider.calls[0];
    await app.clock.advance(SECONDS * 1000);
    call?.say({ type: 'text', text: WORDS });
    await app.settle();
    await app.clock.advance(600);
    expect((await app.poll(body.id)).reply).toContain('word');
    await app.json('POST', `/api/v1/quests/${body.id}/cancel`);
    await app.settle();
    expect(call?.stopped).toBe(true);
    const { spent, held } = await getSpent(app);
    expect(held).toBe(0);
    expect(spent / CREDITS).toBeGreaterThan(0.8);
    expect(spent / CREDITS).toBeLessThan(1.2);
    const quest = await app.poll(body.id);
    expect(quest).toMatchObject({ status: 'stopped', promptMeta: { model: ASTRA.id, credits: spent } });
    await app.api.close();
  });
});
