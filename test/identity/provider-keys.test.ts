import {
  type ModelProvider,
  PROVIDER_KEYS,
  ProviderError,
  type ProviderKeyRecord,
  type UserRecord,
} from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { createWorld, type World, type WorldOptions } from '../support/world.ts';

const KEY = 'sk-own-key-of-ada-0123456789';
const START = 1_000_000_000;

interface Scripted {
  readonly provider: ModelProvider;
  readonly calls: readonly ModelCall[];
}

/** A provider named as one that users may bring keys for. `hasKey`: the workspace has one too. */
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
  options: Omit<WorldOptions, 'models'> = {},
): Promise<World> {
  const world = await createWorld({
    key: { scopes: ['ai:chat', 'ai:generate', 'notebooks:write', 'me:read'] },
    ...options,
    models: providers.map(({ provider }) => provider),
  });
  await world.api.start();
  return world;
}

async function store(world: World, service: string, key = KEY, user?: UserRecord): Promise<string> {
  const credential = await world.token(user);
  const answer = await world.ask('POST', '/api/api-keys/create', {
    credential,
    body: { name: 'Mine', service, key },
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { _id: string })._id;
}

async function change(world: World, method: string, path: string): Promise<void> {
  const answer = await world.ask(method, path, { credential: await world.token() });
  expect(answer.status).toBe(200);
}

async function complete(
  world: World,
  model: string,
  credential?: string,
): Promise<{ status: number; text: string }> {
  const answer = await world.ask('POST', '/api/ai/v1/completions', {
    ...(credential !== undefined && { credential }),
    body: { model, messages: [{ role: 'user', content: 'Hi' }] },
  });
  return { status: answer.status, text: await answer.text() };
}

async function chat(world: World, model: string): Promise<Record<string, unknown>> {
  const answer = world.ask('POST', '/api/chat', {
    body: { message: 'Hi', model, wait: true, newConversation: true },
  });
  await world.settle();
  return (await (await answer).json()) as Record<string, unknown>;
}

const keysOf = ({ calls }: Scripted): (string | undefined)[] => calls.map(({ apiKey }) => apiKey);
const posted = async (world: World): Promise<number> => (await world.ledger.balance(world.account)).posted;

describe("a user's own provider key", () => {
  it("is used in place of the workspace's by completions, chat and runs of agents, which then cost nothing", async () => {
    const openai = scripted('openai', true);
    const world = await create([openai]);
    await complete(world, 'openai-model');
    const before = await posted(world);
    expect(before).toBeLessThan(START);
    await store(world, 'openai');
    expect((await complete(world, 'openai-model')).text).toContain('"credits":{"used":0,"usdCost":0}');
    expect(await chat(world, 'openai-model')).toMatchObject({ type: 'message', response: 'Hi' });
    const session = (await (
      await world.ask('POST', '/api/v1/sessions', { body: { name: 'one' } })
    ).json()) as { id: string };
    const run = await world.ask('POST', '/api/v1/agent-executions', {
      body: { session_id: session.id, message: 'Hi', model: 'openai-model' },
    });
    expect(run.status).toBe(202);
    await world.settle();
    expect(keysOf(openai)).toEqual([undefined, KEY, KEY, KEY]);
    expect(await posted(world)).toBe(before);
    // What was used is written down all the same.
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ amount, usage }) => [amount, usage])).toEqual([
      ...Array(3).fill([0, expect.objectContaining({ input: 10, output: 5 })]),
      [START - before, expect.objectContaining({ input: 10, output: 5 })],
    ]);
    const [kept] = await world.services.store.collection(PROVIDER_KEYS).find({});
    expect(kept?.lastUsedAt).toBe(world.clock.now());
  });

  it('is used by nobody else, and not for another provider', async () => {
    const [openai, xai] = [scripted('openai', true), scripted('xai', true)];
    const world = await create([openai, xai]);
    await store(world, 'openai');
    const other = await world.addUser('grace@example.com');
    await world.ledger.grant({ account: `user:${other.id}`, amount: START, key: 'k', reason: 'start' });
    await complete(world, 'openai-model', await world.token(other));
    await complete(world, 'xai-model');
    expect(keysOf(openai)).toEqual([undefined]);
    expect(keysOf(xai)).toEqual([undefined]);
  });

  it('brings the models of a provider that the workspace has no key for, to its owner alone', async () => {
    const xai = scripted('xai', false);
    const world = await create([xai]);
    const listed = async (): Promise<string[]> => {
      const body = (await (await world.ask('GET', '/api/v1/models')).json()) as { data: { id: string }[] };
      return body.data.map(({ id }) => id);
    };
    expect(await complete(world, 'xai-model')).toMatchObject({ status: 400 });
    expect(await listed()).toEqual([]);
    const id = await store(world, 'xai');
    expect(await complete(world, 'xai-model')).toMatchObject({ status: 200 });
    expect(await listed()).toEqual(['xai-model']);
    const other = await world.addUser('grace@example.com');
    expect(await complete(world, 'xai-model', await world.token(other))).toMatchObject({ status: 400 });
    await change(world, 'DELETE', `/api/api-keys/${id}/delete`);
    expect(await complete(world, 'xai-model')).toMatchObject({ status: 400 });
    expect(keysOf(xai)).toEqual([KEY]);
  });

  it('is the one that was set active last, at once', async () => {
    const openai = scripted('openai', true);
    const world = await create([openai]);
    const first = await store(world, 'openai');
    const second = await store(world, 'openai', 'sk-the-second-key');
    await complete(world, 'openai-model');
    await change(world, 'POST', `/api/api-keys/${second}/set-active`);
    await complete(world, 'openai-model');
    await change(world, 'POST', `/api/api-keys/${first}/set-active`);
    await complete(world, 'openai-model');
    await change(world, 'DELETE', `/api/api-keys/${first}/delete`);
    await complete(world, 'openai-model');
    expect(keysOf(openai)).toEqual([KEY, 'sk-the-second-key', KEY, undefined]);
  });

  it('is the only active one of its service, however many are set active at once', async () => {
    const world = await create([scripted('openai', true)]);
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1)
      ids.push(await store(world, 'openai', `sk-key-number-${count}`));
    await Promise.all(ids.map((id) => change(world, 'POST', `/api/api-keys/${id}/set-active`)));
    const active = await world.services.store.collection(PROVIDER_KEYS).count({ isActive: true });
    expect(active).toBe(1);
  });

  it('is told to be refused when the provider refuses it, and no other model is paid for instead', async () => {
    const openai = scripted('openai', true, (call) => {
      if (call.apiKey === undefined) answerHi(call);
      else throw new ProviderError('rejected_key', 'openai: answered 401');
    });
    const xai = scripted('xai', true);
    const world = await create([openai, xai], {
      settings: { fallbacks: { 'openai-model': ['xai-model'] } },
    });
    await store(world, 'openai');
    const answer = await complete(world, 'openai-model');
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toMatchObject({ type: 'error', errorCode: 'provider_rejected' });
    expect(await chat(world, 'openai-model')).toMatchObject({
      type: 'error',
      response: 'The model provider refused the provider key in use.',
    });
    expect(xai.calls).toHaveLength(0);
    expect(await posted(world)).toBe(START);
  });

  it("does not close a provider to everybody when its owner's quota is used up", async () => {
    const openai = scripted('openai', true, (call) => {
      if (call.apiKey === undefined) answerHi(call);
      else throw new ProviderError('overloaded', 'openai: answered 429', { retryAfterMs: 60_000 });
    });
    const world = await create([openai]);
    await store(world, 'openai');
    for (let count = 0; count < 20; count += 1) {
      expect(await chat(world, 'openai-model')).toMatchObject({ type: 'error' });
    }
    const other = await world.addUser('grace@example.com');
    await world.ledger.grant({ account: `user:${other.id}`, amount: START, key: 'k', reason: 'start' });
    const { key } = await world.issue({ userId: other.id, scopes: ['ai:chat', 'ai:generate'] });
    const answer = world.ask('POST', '/api/chat', {
      credential: key,
      body: { message: 'Hi', model: 'openai-model', wait: true, newConversation: true },
    });
    await world.settle();
    expect(await (await answer).json()).toMatchObject({ type: 'message', response: 'Hi' });
  });
});

describe('a stored provider key', () => {
  async function twoKeys(): Promise<{ world: World; openai: Scripted; rows: readonly ProviderKeyRecord[] }> {
    const openai = scripted('openai', true);
    const world = await create([openai]);
    await store(world, 'openai');
    await store(world, 'openai', KEY, await world.addUser('grace@example.com'));
    return { world, openai, rows: await world.services.store.collection(PROVIDER_KEYS).find({}) };
  }

  it('stands nowhere in clear, and differently each time it is stored', async () => {
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
    ['that is cut off', (own: string) => own.slice(0, 20)],
    ['that is empty', () => ''],
  ])('is not opened in the place of one %s, and nobody else pays for the call', async (_title, swap) => {
    const { world, openai, rows } = await twoKeys();
    const [own, other] = rows;
    const sealed = swap(own?.sealed ?? '', other?.sealed ?? '');
    await world.services.store.collection(PROVIDER_KEYS).update(own?.id ?? '', { sealed });
    await world.clock.advance(2000);
    expect((await complete(world, 'openai-model')).status).toBe(500);
    expect(openai.calls).toHaveLength(0);
    expect(await posted(world)).toBe(START);
    expect(String(world.incidents.at(-1)?.error)).toContain(
      `provider key ${own?.id} was stored under another secretEncryptionKey`,
    );
  });

  it('cannot be stored where there is nothing to encrypt it with', async () => {
    const world = await createWorld({ settings: { secretEncryptionKey: undefined } as never });
    const answer = await world.ask('GET', '/api/api-keys', { credential: await world.token() });
    expect(answer.status).toBe(599);
  });
});
