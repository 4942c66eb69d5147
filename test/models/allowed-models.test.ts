import { createAnthropicApi } from '@questline/anthropic';
import { toFetchHandler, USERS } from '@questline/core';
import { ORGANIZATIONS } from '@questline/core/internal';
import { type ModelInfo, type ModelProvider, ProviderError } from '@questline/core/ports';
import { createOpenAIApi } from '@questline/openai';
import { describe, expect, it } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { makeSession } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';

const TYPES = [
  'text',
  'embedding',
  'image',
  'text-to-speech',
  'speech-to-text',
  'music',
  'video',
] as const satisfies readonly ModelInfo['type'][];

/** A model of each type that no list of these tests contains. */
const OTHERS: readonly ModelInfo[] = TYPES.map((type) => ({
  id: `other-${type}`,
  name: type,
  type,
  provider: 'others',
  contextWindow: 10_000,
  maxOutputTokens: 1000,
}));

const never = (): never => {
  throw new Error('a model that is not allowed was called');
};

/** Fails the test if one of its models is called. */
const forbidden: ModelProvider = {
  id: 'others',
  models: () => OTHERS,
  generate: never,
  embed: never,
  image: never,
  speech: never,
  transcribe: never,
  music: never,
};

const ALLOWED = ['scripted', 'second'];
const SECOND: ModelInfo = { ...SCRIPTED_MODEL, id: 'second', name: 'Second' };

async function setUp(options: ChatAppOptions = {}) {
  const model = createScriptedProvider(
    (call) => {
      call.say({ type: 'text', text: 'Hello.' }, { type: 'finish', reason: 'stop' });
      call.end();
    },
    [SCRIPTED_MODEL, SECOND],
  );
  const scopes = ['ai:chat', 'ai:generate', 'me:read', 'notebooks:read', 'notebooks:write'] as const;
  const app = await createChatApp({
    models: [model, forbidden],
    ...options,
    settings: { admin: { enforceCredits: false, DefaultAPIModel: 'other-text' }, ...options.settings },
    key: { scopes, models: ALLOWED, ...options.key },
  });
  return { app, model };
}

const MESSAGES = [{ role: 'user', content: 'Hi' }];

/** A body of each operation that takes a model, with one that is not allowed. */
const BODIES: Readonly<Record<string, (app: ChatApp) => object | Promise<object>>> = {
  sendChatMessage: () => ({ message: 'Hi', model: 'other-text' }),
  createCompletion: () => ({ messages: MESSAGES, model: 'other-text' }),
  infer: () => ({ messages: MESSAGES, model: 'other-text' }),
  createEmbeddings: () => ({ input: 'Hi', model: 'other-embedding' }),
  startAgentExecution: async (app) => ({
    session_id: await makeSession(app, app.user),
    message: 'Hi',
    model: 'other-text',
  }),
  generateImage: () => ({ prompt: 'A river', model: 'other-image' }),
  editImage: async (app) => ({
    prompt: 'A river',
    sessionId: await makeSession(app, app.user),
    image: 'f'.repeat(24),
    model: 'other-image',
  }),
  synthesizeSpeech: () => ({ text: 'Hi', model: 'other-text-to-speech' }),
  generateMusic: () => ({ prompt: 'A river', modelId: 'other-music' }),
  createVideoGeneration: () => ({ prompt: 'A river', model: 'other-video' }),
  createMusicGeneration: () => ({ prompt: 'A river', model: 'other-music' }),
};

/** The operations whose body has a model. A preferred model of an agent, and lists of models, call none. */
function findModelOperations({ api }: ChatApp) {
  return api.routes
    .map(({ operation }) => operation)
    .filter(({ input }) => {
      const { shape = {} } = (input.body ?? {}) as { shape?: object };
      return 'model' in shape || 'modelId' in shape;
    });
}

/** Paid operations without a model in the body: they choose among those of the caller, or use one of the operator. */
const WITHOUT_MODEL = [
  'decideQuestCalls',
  'executeTool',
  'searchSessions',
  'generateImageSimply',
  'generateAgentDescription',
  'addDataLakeFile',
  'searchDataLake',
  'generateSoundEffect',
  'createTranscription',
  'transcribeAtOnce',
];

describe('a list of models', () => {
  it('is checked for every paid operation that takes a model', async () => {
    const { app } = await setUp();
    const paid = app.api.routes.filter(({ operation }) => operation.paid === true);
    const others = paid.map(({ operation }) => operation.id).filter((id) => BODIES[id] === undefined);
    expect(others).toEqual(WITHOUT_MODEL);
  });

  it('is obeyed by every operation that takes a model, which names the list', async () => {
    const { app } = await setUp({ settings: { planModels: { free: ALLOWED } } });
    const operations = findModelOperations(app);
    expect(operations.map(({ id }) => id).sort()).toEqual(Object.keys(BODIES).sort());
    const answers: unknown[] = [];
    for (const { id, method, path, auth } of operations) {
      const body = await BODIES[id]?.(app);
      const credential = auth === 'token' ? await app.token() : app.key;
      const response = await app.ask(method, path, { body, credential });
      const text = await response.text();
      answers.push([
        id,
        response.status,
        /model_not_allowed/i.test(text),
        /of (this API key|the plan)/.test(text),
      ]);
    }
    expect(answers).toEqual(operations.map(({ id }) => [id, 422, true, true]));
    expect(app.incidents).toEqual([]);
  });

  it('is obeyed by every operation of the OpenAI wire', async () => {
    const { app } = await setUp();
    const handle = toFetchHandler(createOpenAIApi(app.services));
    const ask = async (path: string, body?: object | FormData) => {
      const isForm = body instanceof FormData;
      const response = await handle(
        new Request(`http://questline.test/v1/${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            Authorization: `Bearer ${app.key}`,
            ...(!isForm && { 'Content-Type': 'application/json' }),
          },
          ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        }),
      );
      return { status: response?.status, body: JSON.parse((await response?.text()) ?? '') };
    };
    const recording = new FormData();
    recording.set('model', 'other-speech-to-text');
    recording.set('file', new File(['sound'], 'a.mp3', { type: 'audio/mpeg' }));
    const refused = [
      await ask('chat/completions', { messages: MESSAGES, model: 'other-text' }),
      await ask('embeddings', { input: 'Hi', model: 'other-embedding' }),
      await ask('images/generations', { prompt: 'A river', model: 'other-image' }),
      await ask('audio/speech', { input: 'Hi', voice: 'alloy', model: 'other-text-to-speech' }),
      await ask('audio/transcriptions', recording),
      await ask('models/other-text'),
    ];
    expect(refused.map(({ body }) => body.error?.code)).toEqual(refused.map(() => 'model_not_allowed'));
    const { body } = await ask('models');
    expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(ALLOWED);
  });

  it('is obeyed by every operation of the Anthropic wire', async () => {
    const { app } = await setUp();
    const handle = toFetchHandler(createAnthropicApi(app.services));
    const ask = async (path: string, body?: object): Promise<string> => {
      const request = new Request(`http://questline.test/v1/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'x-api-key': app.key, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await (await handle(request))?.text()) ?? '';
    };
    const body = { model: 'other-text', max_tokens: 10, messages: MESSAGES };
    for (const answer of [
      await ask('messages', body),
      await ask('messages', { ...body, stream: true }),
      await ask('messages/count_tokens', body),
      await ask('models/other-text'),
    ]) {
      expect(answer).toContain("'other-text' is not in the list of models of this API key");
    }
    const { data } = JSON.parse(await ask('models'));
    expect(data.map(({ id }: { id: string }) => id).sort()).toEqual(ALLOWED);
  });

  it('limits what the model lists show', async () => {
    const { app } = await setUp();
    const list = async (path: '/api/v1/models' | '/api/models', credential = app.key): Promise<string[]> => {
      const { body } = await app.json('GET', path, { credential });
      return (body.data ?? body.models).map(({ id }: { id: string }) => id).sort();
    };
    expect(await list('/api/v1/models')).toEqual(ALLOWED);
    const all = [...ALLOWED, ...OTHERS.map(({ id }) => id)].sort();
    expect(await list('/api/v1/models', await app.token())).toEqual(all);
    expect(await list('/api/models', await app.token())).toEqual(all);
  });

  it('replaces a default model and skips fallback models that it leaves out', async () => {
    const { app, model } = await setUp({ settings: { fallbacks: { scripted: ['other-text', 'second'] } } });
    await app.chat({ message: 'Hi' });
    await app.settle();
    expect(model.calls).toHaveLength(1);
    const failing = createScriptedProvider(
      (call) => {
        if (call.request.model === 'scripted') {
          call.fail(new ProviderError('rejected_key', 'away'));
          return;
        }
        call.say({ type: 'text', text: 'Hello.' }, { type: 'finish', reason: 'stop' });
        call.end();
      },
      [SCRIPTED_MODEL, SECOND],
    );
    const other = await setUp({
      models: [failing, forbidden],
      settings: { fallbacks: { scripted: ['other-text', 'second'] } },
    });
    const { body } = await other.app.chat({ message: 'Hi', model: 'scripted' });
    await other.app.settle();
    expect(await other.app.poll(body.id)).toMatchObject({ status: 'done', reply: 'Hello.' });
  });

  it('of an organization applies where it pays, and its administrators change it', async () => {
    const { app } = await setUp({ key: { models: null } });
    const { id } = await addOrganization(app);
    const token = await app.token();
    const change = (models: unknown) =>
      app.json('PATCH', `/api/organizations/${id}`, { body: { models }, credential: token });
    expect((await change(['scripted'])).body).toMatchObject({ models: ['scripted'] });
    expect((await change(['unknown'])).body).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
    const { key } = await app.issue({
      scopes: ['ai:chat', 'me:read'],
      organizationId: id,
      models: ['scripted', 'other-text'],
    });
    const complete = async (credential: string, model: string) => {
      const body = { messages: MESSAGES, model };
      const response = await app.ask('POST', '/api/ai/v1/completions', { body, credential });
      return [response.status, /organization that pays/.test(await response.text())];
    };
    expect(await complete(key, 'other-text')).toEqual([422, true]);
    expect(await complete(key, 'scripted')).toEqual([200, false]);
    const turn = { message: 'Hi', model: 'other-text', organizationId: id };
    expect((await app.chat(turn)).body).toMatchObject({ errorCode: 'model_not_allowed' });
    expect((await change(null)).body).toMatchObject({ models: null });
    await app.clock.advance(2000);
    await app.services.store.collection(ORGANIZATIONS).update(id, { models: ['second'] });
    await app.clock.advance(2000);
    expect(await complete(key, 'scripted')).toEqual([422, true]);
  });

  it('of a key and of an identity also apply where an organization pays, that of the own plan does not', async () => {
    const planModels = { free: ['second'] };
    const turn = async (options: ChatAppOptions, model: string) => {
      const { app } = await setUp({ ...options, settings: { planModels } });
      const credential = options.identity === undefined ? app.key : null;
      await app.chat({ message: 'Hi', model: 'second' }, { credential });
      const [reader] = await app.services.store
        .collection(USERS)
        .find(credential === null ? { username: 'Eve' } : { id: app.user.id });
      const { id } = await addOrganization(app, {
        subscriptionTier: 'pro',
        readerIds: [reader?.id ?? ''],
      });
      const { body } = await app.chat({ message: 'Hi', model, organizationId: id }, { credential });
      return body.errorCode ?? body.status;
    };
    const identify = async () => ({ externalId: 'eve', name: 'Eve', limits: { models: ALLOWED } });
    for (const options of [{}, { identity: { identify } as never }]) {
      expect(await turn(options, 'other-text')).toBe('model_not_allowed');
      expect(await turn(options, 'scripted')).not.toBe('model_not_allowed');
    }
  });

  it('of a plan applies to users with it, and to their keys', async () => {
    const { app } = await setUp({ key: { models: null }, settings: { planModels: { free: ALLOWED } } });
    const token = await app.token();
    for (const credential of [token, app.key]) {
      const { status, body } = await app.chat({ message: 'Hi', model: 'other-text' }, { credential });
      expect([status, body.errorCode, body.error]).toEqual([
        422,
        'model_not_allowed',
        "model: 'other-text' is not in the list of models of the plan",
      ]);
    }
  });

  it('of the identity of the host applies to its users, who create no keys', async () => {
    const { app } = await setUp({
      identity: { identify: () => ({ externalId: 'ada', limits: { models: ALLOWED } }) } as never,
    });
    const turn = await app.chat({ message: 'Hi', model: 'other-text' }, { credential: null });
    expect(turn.body).toMatchObject({ errorCode: 'model_not_allowed' });
    const models = await app.json('GET', '/api/models', { credential: null });
    expect(models.body.models.map(({ id }: { id: string }) => id).sort()).toEqual(ALLOWED);
    const key = { name: 'all', preset: 'full' };
    expect((await app.json('POST', '/api/user-api-keys', { body: key, credential: null })).status).toBe(403);
  });

  it('of a key is set at its creation, with models that exist', async () => {
    const { app } = await setUp();
    const create = async (models: unknown) => {
      const body = { name: 'small', preset: 'full', models };
      return app.json('POST', '/api/user-api-keys', { body, credential: await app.token() });
    };
    expect((await create(ALLOWED)).body).toMatchObject({ models: ALLOWED });
    expect((await create(undefined)).body).toMatchObject({ models: null });
    expect((await create(['unknown'])).status).toBe(422);
    expect((await create([])).status).toBe(422);
  });
});
