import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, getEvents, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const TINY: ModelInfo = { ...SCRIPTED_MODEL, id: 'tiny', maxOutputTokens: 900 };
const THINKER: ModelInfo = { ...SCRIPTED_MODEL, id: 'thinker', supportsThinking: true };
const OLD: ModelInfo = {
  ...SCRIPTED_MODEL,
  id: 'old',
  deprecationDate: '2026-11-01',
  replacedBy: 'tiny',
};

async function setUp(options: TestAppOptions = {}) {
  const provider = createScriptedProvider(sayAtOnce('Hello.'), [TINY, THINKER, OLD]);
  const app = await createTestApp({ models: [{ ...provider, ignores: () => ['topK'] }], ...options });
  const ask = async (more: object = {}, headers: Record<string, string> = {}) => {
    const response = await app.ask('POST', '/api/ai/v1/completions', {
      body: { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], ...more },
      headers: { 'X-Request-ID': 'r-1', ...headers },
    });
    const text = await response.text();
    return { response, status: response.status, text, events: getEvents(text) };
  };
  return { app, ask, caps: () => provider.calls.map(({ request }) => request.maxTokens) };
}

describe('the first event of a completion', () => {
  it.each([
    [{}, {}],
    [{ max_tokens: 900 }, {}],
    [{ max_tokens: 901 }, { maxTokens: 900 }],
    [{ options: { maxTokens: 5000 } }, { maxTokens: 900 }],
    [{ topK: 7 }, { ignored: ['topK'] }],
    [{ topP: 0.5 }, {}],
    [
      { top_k: 7, mood: 'good', max_tokens: 1000 },
      { maxTokens: 900, ignored: ['mood', 'top_k'] },
    ],
  ])('has what the model does otherwise than the request says: %j', async (more, facts) => {
    const { ask } = await setUp();
    expect((await ask(more)).events[0]).toEqual({ type: 'meta', requestId: 'r-1', ...facts });
  });

  it('is the first of the answer by a setting', async () => {
    const { ask } = await setUp({ settings: { completions: { metaEvent: false } } });
    expect((await ask({ topK: 7 })).events).toMatchObject([
      { type: 'content', text: 'Hello.' },
      { type: 'content', stopReason: 'stop' },
      '[DONE]',
    ]);
  });
});

describe('the cap of a completion', () => {
  it('is lowered to the credit, but for one that the request names', async () => {
    const { app, ask, caps } = await setUp({ credits: 60 });
    // 10,000 tokens of 0.01 credits.
    expect((await ask({ model: 'thinker', max_tokens: 10_000 })).status).toBe(422);
    expect(caps()).toEqual([]);
    expect(await app.ledger.balance(app.account)).toMatchObject({ available: 60_000_000, held: 0 });
    expect((await ask({ model: 'thinker' })).status).toBe(200);
    expect(caps()).toEqual([5000]);
  });
});

describe('a repeated completion', () => {
  it('says in its headers that it is a repetition', async () => {
    const { app, ask, caps } = await setUp();
    const first = await ask({}, { 'Idempotency-Key': 'one' });
    const second = await ask({}, { 'Idempotency-Key': 'one' });
    const read = ({ response: { status, headers } }: typeof first) =>
      ['content-type', 'cache-control', 'x-accel-buffering', 'idempotent-replayed']
        .map((name) => headers.get(name))
        .concat(`${status}`);
    expect(read(first)).toEqual(['text/event-stream', 'no-cache, no-transform', 'no', null, '200']);
    expect(read(second)).toEqual([...read(first).slice(0, 3), 'true', '200']);
    expect(second.events.slice(1)).toMatchObject([
      { text: 'Hello.' },
      { text: '', stopReason: 'stop' },
      '[DONE]',
    ]);
    expect(caps()).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
  });
});

describe('a completion is refused', () => {
  it('while the server stops, before the model is called', async () => {
    const { app, ask, caps } = await setUp();
    await app.api.drain(0);
    const { status, response } = await ask();
    expect([status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(caps()).toEqual([]);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
  });

  it.each([
    ['gone', "Model info not found for 'gone'"],
    ['old', "model 'old' was retired on 2026-11-01; use 'tiny'"],
  ])('for a model that does not answer: %s', async (model, message) => {
    const { ask } = await setUp();
    const { status, text } = await ask({ model });
    expect([status, JSON.parse(text)]).toMatchObject([400, { message }]);
  });

  it('on a server without a chat model', async () => {
    const { ask } = await setUp({ models: [] });
    const { status, text } = await ask();
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { message: expect.stringMatching(/^There is no chat model on this server/) },
    ]);
  });
});
