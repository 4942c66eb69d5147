import type { UserRecord } from '@questline/core';
import { PROVIDER_KEYS, type ProviderKeyRecord } from '@questline/core/internal';
import { type ModelProvider, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';

const KEY = 'sk-own-key-of-ada-0123456789';
const START = 1_000_000_000;

interface Scripted {
  readonly provider: ModelProvider;
  readonly calls: readonly ModelCall[];
}

/** A provider for which users can bring keys. `hasKey`: the workspace has a key too. */
function scripted(
  id: string,
  hasKey: boolean,
  onCall: (call: ModelCall) => void | Promise<void> = answerHi,
): Scripted {
  const model = { ...SCRIPTED_MODEL, id: `${id}-model`, provider: id };
  const inner = createScriptedProvider(onCall, [model]);
  const offered = hasKey ? [model] : [];
  return {
    provider: { ...inner, id, models: () => offered, modelsForOwnKey: () => [model] },
    calls: inner.calls,
  };
}

function answerHi(call: ModelCall): void {
  call.say({ type: 'text', text: 'Hi' });
  call.say({ type: 'usage', usage: { input: 10, output: 5 } });
  call.end();
}

async function create(
  providers: readonly Scripted[],
  options: Omit<TestAppOptions, 'models'> = {},
): Promise<TestApp> {
  const app = await createTestApp({
    key: { scopes: ['ai:chat', 'ai:generate', 'notebooks:write', 'me:read'] },
    ...options,
    models: providers.map(({ provider }) => provider),
  });
  await app.api.start();
  return app;
}

async function store(app: TestApp, service: string, key = KEY, user?: UserRecord): Promise<string> {
  const credential = await app.token(user);
  const answer = await app.ask('POST', '/api/api-keys/create', {
    credential,
    body: { name: 'Mine', service, key },
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { _id: string })._id;
}

async function change(app: TestApp, method: string, path: string): Promise<void> {
  const answer = await app.ask(method, path, { credential: await app.token() });
  expect(answer.status).toBe(200);
}

async function complete(
  app: TestApp,
  model: string,
  credential?: string,
): Promise<{ status: number; text: string }> {
  const answer = await app.ask('POST', '/api/ai/v1/completions', {
    ...(credential !== undefined && { credential }),
    body: { model, messages: [{ role: 'user', content: 'Hi' }] },
  });
  return { status: answer.status, text: await answer.text() };
}

async function chat(app: TestApp, model: string): Promise<Record<string, unknown>> {
  const answer = app.ask('POST', '/api/chat', {
    body: { message: 'Hi', model, wait: true, newConversation: true },
  });
  await app.settle();
  return (await (await answer).json()) as Record<string, unknown>;
}

const getKeys = ({ calls }: Scripted): (string | undefined)[] => calls.map(({ apiKey }) => apiKey);
const posted = async (app: TestApp): Promise<number> => (await app.ledger.balance(app.account)).posted;

describe('provider key of a user', () => {
  it('replaces the workspace key in completions, chat and agent runs, which are then free', async () => {
    const openai = scripted('openai', true);
    const app = await create([openai]);
    await complete(app, 'openai-model');
    const before = await posted(app);
    expect(before).toBeLessThan(START);
    await store(app, 'openai');
    expect((await complete(app, 'openai-model')).text).toContain('"credits":{"used":0,"usdCost":0}');
    expect(await chat(app, 'openai-model')).toMatchObject({ type: 'message', response: 'Hi' });
    const session = (await (await app.ask('POST', '/api/v1/sessions', { body: { name: 'one' } })).json()) as {
      id: string;
    };
    const run = await app.ask('POST', '/api/v1/agent-executions', {
      body: { session_id: session.id, message: 'Hi', model: 'openai-model' },
    });
    expect(run.status).toBe(202);
    await app.settle();
    expect(getKeys(openai)).toEqual([undefined, KEY, KEY, KEY]);
    expect(await posted(app)).toBe(before);
    // The usage is recorded anyway.
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ amount, usage }) => [amount, usage])).toEqual([
      ...Array(3).fill([0, expect.objectContaining({ input: 10, output: 5 })]),
      [START - before, expect.objectContaining({ input: 10, output: 5 })],
    ]);
    const [kept] = await app.services.store.collection(PROVIDER_KEYS).find({});
    expect(kept?.lastUsedAt).toBe(app.clock.now());
  });

  it('is not used for other users or another provider', async () => {
    const [openai, xai] = [scripted('openai', true), scripted('xai', true)];
    const app = await create([openai, xai]);
    await store(app, 'openai');
    const other = await app.addUser('grace@example.com');
    await app.ledger.grant({ account: `user:${other.id}`, amount: START, key: 'k', reason: 'start' });
    await complete(app, 'openai-model', await app.token(other));
    await complete(app, 'xai-model');
    expect(getKeys(openai)).toEqual([undefined]);
    expect(getKeys(xai)).toEqual([undefined]);
  });

  it('adds models of a provider without a workspace key, for its owner only', async () => {
    const xai = scripted('xai', false);
    const app = await create([xai]);
    const listed = async (): Promise<string[]> => {
      const body = (await (await app.ask('GET', '/api/v1/models')).json()) as { data: { id: string }[] };
      return body.data.map(({ id }) => id);
    };
    expect(await complete(app, 'xai-model')).toMatchObject({ status: 400 });
    expect(await listed()).toEqual([]);
    const id = await store(app, 'xai');
    expect(await complete(app, 'xai-model')).toMatchObject({ status: 200 });
    expect(await listed()).toEqual(['xai-model']);
    const other = await app.addUser('grace@example.com');
    expect(await complete(app, 'xai-model', await app.token(other))).toMatchObject({ status: 400 });
    await change(app, 'DELETE', `/api/api-keys/${id}/delete`);
    expect(await complete(app, 'xai-model')).toMatchObject({ status: 400 });
    expect(getKeys(xai)).toEqual([KEY]);
  });

  it('is used as soon as it is activated, in place of the previous one', async () => {
    const openai = scripted('openai', true);
    const app = await create([openai]);
    const first = await store(app, 'openai');
    const second = await store(app, 'openai', 'sk-the-second-key');
    await complete(app, 'openai-model');
    await change(app, 'POST', `/api/api-keys/${second}/set-active`);
    await complete(app, 'openai-model');
    await change(app, 'POST', `/api/api-keys/${first}/set-active`);
    await complete(app, 'openai-model');
    await change(app, 'DELETE', `/api/api-keys/${first}/delete`);
    await complete(app, 'openai-model');
    expect(getKeys(openai)).toEqual([KEY, 'sk-the-second-key', KEY, undefined]);
  });

  it('is the only active one of its service under parallel activations', async () => {
    const app = await create([scripted('openai', true)]);
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await store(app, 'openai', `sk-key-number-${count}`));
    await Promise.all(ids.map((id) => change(app, 'POST', `/api/api-keys/${id}/set-active`)));
    const active = await app.services.store.collection(PROVIDER_KEYS).count({ isActive: true });
    expect(active).toBe(1);
  });

  it('is marked rejected when the provider rejects it, without charging another model', async () => {
    const openai = scripted('openai', true, (call) => {
      if (call.apiKey === undefined) answerHi(call);
      else throw new ProviderError('rejected_key', 'openai: answered 401');
    });
    const xai = scripted('xai', true);
    const app = await create([openai, xai], {
      settings: { fallbacks: { 'openai-model': ['xai-model'] } },
    });
    await store(app, 'openai');
    const answer = await complete(app, 'openai-model');
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toMatchObject({ type: 'error', errorCode: 'provider_rejected' });
    expect(await chat(app, 'openai-model')).toMatchObject({
      type: 'error',
      response: 'The model provider refused the provider key in use.',
    });
    expect(xai.calls).toHaveLength(0);
    expect(await posted(app)).toBe(START);
  });

  it('does not block a provider for others when its quota is used up', async () => {
    const openai = scripted('openai', true, (call) => {
      if (call.apiKey === undefined) answerHi(call);
      else throw new ProviderError('overloaded', 'openai: answered 429', { retryAfterMs: 60_000 });
    });
    const app = await create([openai]);
    await store(app, 'openai');
    for (let count = 0; count < 20; count += 1) {
      expect(await chat(app, 'openai-model')).toMatchObject({ type: 'error' });
    }
    const other = await app.addUser('grace@example.com');
    await app.ledger.grant({ account: `user:${other.id}`, amount: START, key: 'k', reason: 'start' });
    const { key } = await app.issue({ userId: other.id, scopes: ['ai:chat', 'ai:generate'] });
    const answer = app.ask('POST', '/api/chat', {
      credential: key,
      body: { message: 'Hi', model: 'openai-model', wait: true, newConversation: true },
    });
    await app.settle();
    expect(await (await answer).json()).toMatchObject({ type: 'message', response: 'Hi' });
  });
});

describe('stored provider key', () => {
  async function twoKeys(): Promise<{ app: TestApp; openai: Scripted; rows: readonly ProviderKeyRecord[] }> {
    const openai = scripted('openai', true);
    const app = await create([openai]);
    await store(app, 'openai');
    await store(app, 'openai', KEY, await app.addUser('grace@example.com'));
    return { app, openai, rows: await app.services.store.collection(PROVIDER_KEYS).find({}) };
  }

  it('is never stored in plain text and is encrypted differently each time', async () => {
    const { rows } = await twoKeys();
    expect(JSON.stringify(rows)).not.toContain('own-key');
    const [one, other] = rows.map(({ sealed }) => sealed);
    expect(one).toMatch(/^v1\.[\w-]{75}$/);
    expect(one).not.toBe(other);
  });

  it.each([
    ['of another owner', (_own: string, other: string) => other],
    ['that was changed', (own: string) => own.slice(0, 40) + (own[40] === 'A' ? 'B' : 'A') + own.slice(41)],
    ['of another version', (own: string) => own.replace('v1', 'v2')],
    ['that is truncated', (own: string) => own.slice(0, 20)],
    ['that is empty', () => ''],
  ])('is not replaced by one %s, and no other user pays for the call', async (_title, swap) => {
    const { app, openai, rows } = await twoKeys();
    const [own, other] = rows;
    const sealed = swap(own?.sealed ?? '', other?.sealed ?? '');
    await app.services.store.collection(PROVIDER_KEYS).update(own?.id ?? '', { sealed });
    await app.clock.advance(2000);
    expect((await complete(app, 'openai-model')).status).toBe(500);
    expect(openai.calls).toHaveLength(0);
    expect(await posted(app)).toBe(START);
    expect(String(app.incidents.at(-1)?.error)).toContain(
      `provider key ${own?.id} was stored under another secretEncryptionKey`,
    );
  });

  it('cannot be stored without an encryption key', async () => {
    const app = await createTestApp({ settings: { secretEncryptionKey: undefined } as never });
    const answer = await app.ask('GET', '/api/api-keys', { credential: await app.token() });
    expect(answer.status).toBe(599);
  });
});
