import { type ModelInfo, type ModelProvider, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, createChatApp } from '../support/chat.ts';
import { IMAGE_MODEL, PICTURE, SOUND_MODELS, toAudio } from '../support/media.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';

/** The result of a provider call: an error fails it, undefined answers it. */
type Behave = (model: string, apiKey: string | undefined) => Error | undefined;

const OFFERED: readonly ModelInfo[] = [
  SCRIPTED_MODEL,
  { ...SCRIPTED_MODEL, id: 'other-text' },
  { ...IMAGE_MODEL, prices: { image: 0.001 } },
  ...SOUND_MODELS.filter(({ type }) => type === 'text-to-speech' || type === 'speech-to-text'),
  {
    id: 'vectors',
    name: 'Vectors',
    type: 'embedding',
    provider: 'openai',
    contextWindow: 100,
    maxOutputTokens: 0,
    prices: { input: 1 },
  },
];
const MODELS: readonly ModelInfo[] = OFFERED.map((model) => ({ ...model, provider: 'openai' }));

function createProvider(behave: Behave): { provider: ModelProvider; asked: string[] } {
  const asked: string[] = [];
  const check = (model: string, apiKey: string | undefined): void => {
    asked.push(model);
    const error = behave(model, apiKey);
    if (error !== undefined) throw error;
  };
  const text = createScriptedProvider((call) => {
    check(call.request.model, call.apiKey);
    call.say(...answerParts('Fine.'));
    call.end();
  });
  const provider: ModelProvider = {
    id: 'openai',
    models: () => MODELS,
    modelsForOwnKey: () => MODELS,
    generate: text.generate,
    async embed({ model, inputs }, { apiKey }) {
      check(model, apiKey);
      return { embeddings: inputs.map(() => [1, 2]), tokens: 1 };
    },
    async speech({ model }, { apiKey }) {
      check(model, apiKey);
      return toAudio(10);
    },
    async transcribe({ model }, { apiKey }) {
      check(model, apiKey);
      return { text: 'Hello.' };
    },
    async image({ model }, { apiKey }) {
      check(model, apiKey);
      return { images: [PICTURE] };
    },
  };
  return { provider, asked };
}

/** Unlike other failures, a timeout is not retried within one request. */
const down = (): Error => new ProviderError('timeout', 'openai: sent nothing for 120000 ms');

async function createBreakerApp(behave: Behave): Promise<ChatApp & { readonly asked: string[] }> {
  const { provider, asked } = createProvider(behave);
  const app = await createChatApp({
    models: [provider],
    credits: 1_000_000,
    settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: true } },
  });
  return { ...app, asked };
}

/** Another user with credit. */
async function addUser(app: ChatApp, name: string): Promise<string> {
  const user = await app.addUser(`${name}@example.com`);
  await app.ledger.grant({ account: `user:${user.id}`, amount: 1e12, reason: 'test', key: name });
  return app.token(user);
}

interface Outcome {
  readonly isFine: boolean;
  /** Retry-After of the answer, in seconds. */
  readonly retryAfter: number | undefined;
}

type Ask = (app: ChatApp, credential?: string) => Promise<Outcome>;

const seconds = (value: unknown): number | undefined =>
  value === null || value === undefined ? undefined : Number(value);

async function createSession(app: ChatApp, credential?: string): Promise<string> {
  const options = credential === undefined ? {} : { credential };
  const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' }, ...options });
  return body.id;
}

const synchronous =
  (path: string, body: object): Ask =>
  async (app, credential) => {
    const answer = await app.ask('POST', path, { body, ...(credential !== undefined && { credential }) });
    await answer.text();
    return { isFine: answer.status === 200, retryAfter: seconds(answer.headers.get('retry-after')) };
  };

const OPERATIONS: Readonly<Record<string, Ask>> = {
  completions: synchronous('/api/ai/v1/completions', {
    model: 'scripted',
    messages: [{ role: 'user', content: 'Hi' }],
  }),
  embeddings: synchronous('/api/v1/embeddings', { model: 'vectors', input: 'Hi' }),
  speech: synchronous('/api/ai/tts', { text: 'Hi', model: 'reader', preview: true }),
  async chat(app, credential) {
    const { body } = await app.chat(
      { message: 'Hi', wait: true, sessionId: await createSession(app, credential) },
      credential === undefined ? {} : { credential },
    );
    return { isFine: body.type === 'message', retryAfter: seconds(body.providerError?.retryAfter) };
  },
  async images(app, credential) {
    const asked = await app.json('POST', '/api/v1/image-generations', {
      body: { prompt: 'A panda', model: 'painter', sessionId: await createSession(app, credential) },
      ...(credential !== undefined && { credential }),
    });
    await app.settle();
    const options = credential === undefined ? {} : { credential };
    const { body } = await app.json('GET', `/api/v1/quests/${asked.body.id}`, options);
    return { isFine: body.type === 'message', retryAfter: seconds(body.providerError?.retryAfter) };
  },
  async runs(app, credential) {
    const options = credential === undefined ? {} : { credential };
    const path = '/api/v1/agent-executions';
    const run = await app.json('POST', path, {
      body: { session_id: await createSession(app, credential), message: 'Do it' },
      ...options,
    });
    for (let pause = 0; pause < 3; pause += 1) await app.clock.advance(0);
    await app.settle();
    const { body } = await app.json('GET', `${path}/${run.body.id}`, options);
    return { isFine: body.status === 'completed', retryAfter: seconds(body.provider_error?.retry_after) };
  },
};

const names = Object.keys(OPERATIONS);
const ask = (name: string, app: ChatApp, credential?: string): Promise<Outcome> => {
  const operation = OPERATIONS[name];
  if (operation === undefined) throw new Error(name);
  return operation(app, credential);
};

/** Each attempt counts; some operations retry a failed call themselves. */
async function failUntilOpen(name: string, app: ChatApp & { readonly asked: string[] }): Promise<void> {
  for (let time = 0; time < 5; time += 1) await ask(name, app);
}

describe('circuit breaker', () => {
  it.each(names)(
    'rejects at once with the remaining time and charges nothing when open: %s',
    async (name) => {
      let isDown = true;
      const app = await createBreakerApp(() => (isDown ? down() : undefined));
      await failUntilOpen(name, app);
      const { length } = app.asked;
      expect(length).toBe(5);
      await app.clock.advance(10_000);
      expect(await ask(name, app)).toEqual({ isFine: false, retryAfter: 20 });
      expect(app.asked).toHaveLength(length);
      const { posted, held } = await app.ledger.balance(app.account);
      expect([posted, held]).toEqual([1e12, 0]);
      isDown = false;
      await app.clock.advance(20_000);
      expect((await ask(name, app)).isFine).toBe(true);
      expect((await ask(name, app)).isFine).toBe(true);
    },
  );

  it.each(names)('stays closed for a model that does not exist: %s', async (name) => {
    const app = await createBreakerApp(
      () =>
        new ProviderError('invalid_request', 'openai: answered 404', {
          status: 404,
          code: 'model_not_found',
        }),
    );
    for (let time = 0; time < 8; time += 1) await ask(name, app);
    expect(app.asked).toHaveLength(8);
  });

  it.each([
    ['malformed_answer', undefined],
    ['rejected_key', 401],
    ['context_length', 400],
    ['content_blocked', 400],
    ['failed', 418],
  ] as const)('stays closed for a failure of the kind %s (%s)', async (kind, status) => {
    const app = await createBreakerApp(() => new ProviderError(kind, 'openai: no', { status }));
    for (let time = 0; time < 8; time += 1) await ask('speech', app);
    expect(app.asked).toHaveLength(8);
  });

  it('is per model, so that the other models of a provider continue', async () => {
    const app = await createBreakerApp((model) => (model === 'reader' ? down() : undefined));
    await failUntilOpen('speech', app);
    expect((await ask('speech', app)).retryAfter).toBe(30);
    for (const name of names.filter((other) => other !== 'speech')) {
      expect([name, (await ask(name, app)).isFine]).toEqual([name, true]);
    }
  });

  it.each(names)('is not opened for other users by one user: %s', async (name) => {
    const app = await createBreakerApp(() => down());
    for (let time = 0; time < 12; time += 1) await ask(name, app);
    expect((await ask(name, app)).retryAfter).toBe(30);
    const bob = await addUser(app, 'bob');
    const before = app.asked.length;
    await ask(name, app, bob);
    expect(app.asked.length).toBeGreaterThan(before);
  });

  it('opens for all users once several of them have failures', async () => {
    const app = await createBreakerApp(() => down());
    const tokens: string[] = [];
    for (const user of ['bob', 'cy', 'dan']) {
      tokens.push(await addUser(app, user));
    }
    const [bob, cy, dan] = tokens;
    for (const token of [bob, bob, bob, cy]) await ask('embeddings', app, token);
    expect(app.asked).toHaveLength(4);
    await ask('embeddings', app, cy);
    expect(await ask('embeddings', app, dan)).toEqual({ isFine: false, retryAfter: 30 });
    expect(app.asked).toHaveLength(5);
  });

  it('opens again after a failed trial call of a user whose failures count no more', async () => {
    const app = await createBreakerApp(() => down());
    const [bob, cy, dan] = [await addUser(app, 'bob'), await addUser(app, 'cy'), await addUser(app, 'dan')];
    for (const token of [bob, bob, bob, cy, cy]) await ask('embeddings', app, token);
    for (let trial = 1; trial <= 2; trial += 1) {
      await app.clock.advance(30_000);
      expect((await ask('embeddings', app, bob)).isFine).toBe(false);
      expect(app.asked).toHaveLength(5 + trial);
      expect(await ask('embeddings', app, dan)).toEqual({ isFine: false, retryAfter: 30 });
      expect(await ask('embeddings', app, bob)).toEqual({ isFine: false, retryAfter: 30 });
      expect(app.asked).toHaveLength(5 + trial);
    }
  });

  it('is separate for the provider key of a user, and new for a new key', async () => {
    const overloaded = new ProviderError('overloaded', 'openai: answered 429', {
      status: 429,
      retryAfterMs: 60_000,
    });
    const app = await createBreakerApp((_, apiKey) =>
      apiKey === 'sk-limited-0000' ? overloaded : undefined,
    );
    const credential = await app.token();
    const store = async (key: string): Promise<string> => {
      const { body } = await app.json('POST', '/api/api-keys/create', {
        credential,
        body: { name: 'Mine', service: 'openai', key },
      });
      return body._id;
    };
    const id = await store('sk-limited-0000');
    for (let time = 0; time < 6; time += 1) await ask('speech', app);
    expect(app.asked).toHaveLength(5);
    expect((await ask('speech', app)).retryAfter).toBe(30);
    const bob = await addUser(app, 'bob');
    for (const name of names) expect([name, (await ask(name, app, bob)).isFine]).toEqual([name, true]);
    await app.json('DELETE', `/api/api-keys/${id}/delete`, { credential });
    await store('sk-working-0001');
    expect((await ask('speech', app)).isFine).toBe(true);
  });

  it.each(['completions', 'embeddings', 'speech'])(
    'lets exactly one of fifty calls through when half-open: %s',
    async (name) => {
      let isDown = true;
      const app = await createBreakerApp(() => (isDown ? down() : undefined));
      await failUntilOpen(name, app);
      await app.clock.advance(30_000);
      const before = app.asked.length;
      await Promise.all(Array.from({ length: 50 }, () => ask(name, app)));
      expect(app.asked.length - before).toBe(1);
      isDown = false;
      await app.clock.advance(30_000);
      expect((await ask(name, app)).isFine).toBe(true);
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask(name, app)));
      expect(answers.every(({ isFine }) => isFine)).toBe(true);
    },
  );
});
