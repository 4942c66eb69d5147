import { createApi, createServices } from '@questline/core';
import { MESSAGES, QUESTS, SESSIONS } from '@questline/core/internal';
import { type ModelProvider, ProviderError, type Publisher, type Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatApp, sayAtOnce, silent } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';

const UNKNOWN = '0'.repeat(24);

describe('chat quest', () => {
  it('shows its partial text while it runs', async () => {
    const app = await createChatApp({ onCall: silent });
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      status: 'running',
      type: 'message',
      reply: null,
      replies: [],
    });
    app.calls[0]?.say({ type: 'text', text: 'Once upon' });
    await app.settle();
    await app.clock.advance(500);
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      status: 'running',
      reply: 'Once upon',
      replies: ['Once upon'],
    });
    app.calls[0]?.say({ type: 'text', text: ' a time' });
    app.calls[0]?.end();
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      status: 'done',
      type: 'message',
      reply: 'Once upon a time',
      replies: ['Once upon a time'],
    });
  });

  it('saves growing text at intervals, not per token', async () => {
    let writes = 0;
    const counted = (store: Store): Store => ({
      ...store,
      collection: (definition) => {
        const collection = store.collection(definition);
        return {
          ...collection,
          update: (...args) => {
            if (definition.name === 'quests') writes += 1;
            return collection.update(...args);
          },
          insert: (...args) => {
            if (definition.name === 'quest_texts') writes += 1;
            return collection.insert(...args);
          },
        };
      },
      transaction: (work, options) => store.transaction((inner) => work(counted(inner)), options),
    });
    const app = await createChatApp({ onCall: silent, store: counted });
    await app.chat({ message: 'Hi' });
    await app.settle();
    writes = 0;
    for (let token = 0; token < 1000; token += 1) {
      app.calls[0]?.say({ type: 'text', text: 'x' });
      if (token % 10 === 9) {
        await app.settle();
        await app.clock.advance(20);
      }
    }
    await app.settle();
    expect(writes).toBeGreaterThanOrEqual(3);
    expect(writes).toBeLessThanOrEqual(5);
    app.calls[0]?.end();
    await app.settle();
  });

  it('gives the same 404 to other users, for unknown and malformed ids and for deleted sessions', async () => {
    const app = await createChatApp();
    const { id, sessionId } = (await app.chat({ message: 'Hi', wait: true })).body;
    const bob = await app.token(await app.addUser('bob@example.com'));
    const answers = [];
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const) {
      answers.push(await app.json(method, `/api/v1/quests/${UNKNOWN}${suffix}`));
      answers.push(await app.json(method, `/api/v1/quests/no-id${suffix}`));
      answers.push(await app.json(method, `/api/v1/quests/${id}${suffix}`, { credential: bob }));
      await app.json('DELETE', `/api/sessions/${sessionId}`);
      answers.push(await app.json(method, `/api/v1/quests/${id}${suffix}`));
    }
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      Array(8).fill([404, 'Quest not found']),
    );
  });

  it('uses none of the daily limit for polling and one request for cancellation', async () => {
    const app = await createChatApp();
    const { id } = (await app.chat({ message: 'Hi', wait: true })).body;
    const left = async (method: string, path: string) =>
      Number((await app.json(method, path)).headers.get('x-ratelimit-remaining-day'));
    const before = await left('GET', `/api/v1/quests/${id}`);
    expect(await left('GET', `/api/v1/quests/${id}`)).toBe(before);
    expect(await left('POST', `/api/v1/quests/${id}/cancel`)).toBe(before - 1);
  });
});

describe('cancellation of a quest', () => {
  it('stops a waiting quest before the model is called', async () => {
    const app = await createChatApp({ started: false });
    const { id, sessionId } = (await app.chat({ message: 'Hi' })).body;
    const cancelled = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    expect([cancelled.status, cancelled.body]).toEqual([
      200,
      expect.objectContaining({
        id,
        status: 'stopped',
        type: 'message',
        reply: 'This turn was cancelled.',
        replies: [],
      }),
    ]);
    await app.api.start();
    await app.settle();
    expect(app.calls).toHaveLength(0);
    expect(await app.poll(id)).toEqual(cancelled.body);
    expect(await app.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    // The question stays in the session, and nothing is charged.
    const said = await app.services.store.collection(MESSAGES).find({ sessionId });
    expect(said).toMatchObject([{ role: 'user', content: 'Hi', questId: id }]);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
  });

  it('stops the model, keeps its text and charges for it', async () => {
    const app = await createChatApp({ onCall: silent });
    const { id, sessionId } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    app.calls[0]?.say({ type: 'text', text: 'x'.repeat(250) });
    await app.settle();
    await app.clock.advance(500);
    await app.settle();
    const { body } = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    expect(body).toMatchObject({
      status: 'stopped',
      reply: 'This turn was cancelled.',
      replies: ['x'.repeat(250)],
    });
    await app.settle();
    expect(app.calls[0]?.stopped).toBe(true);
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge).toMatchObject({ status: 'settled', model: 'scripted', usage: { output: 100 } });
    const { input = 0 } = charge?.usage ?? {};
    expect(await app.poll(id)).toEqual({
      ...body,
      promptMeta: {
        model: 'scripted',
        usage: { inputTokens: input, outputTokens: 100 },
        credits: (input + 100) / 100,
      },
    });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    // The partial answer stays in the session.
    await app.clock.advance(1);
    const next = app.chat({ message: 'Go on', sessionId, wait: true });
    await app.settle();
    expect(app.calls[1]?.request.messages.slice(1).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    app.calls[1]?.end();
    await next;
  });

  it('charges the input before the first text once the provider has accepted the call', async () => {
    const app = await createChatApp({ onCall: silent });
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(app.calls[0]?.stopped).toBe(true);
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    const { input = 0 } = charge?.usage ?? {};
    expect(input).toBeGreaterThan(0);
    expect(charge).toMatchObject({ status: 'settled', amount: input * 10_000, usage: { output: 0 } });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('is free before the provider has accepted the call', async () => {
    const app = await createChatApp({ onCall: () => new Promise(() => undefined) });
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(app.calls[0]?.stopped).toBe(true);
    expect(await app.ledger.balance(app.account)).toEqual({
      posted: 1000_000_000,
      held: 0,
      available: 1000_000_000,
    });
  });

  it('changes nothing after the quest has ended', async () => {
    const app = await createChatApp();
    const { id } = (await app.chat({ message: 'Hi', wait: true })).body;
    const before = await app.poll(id);
    const { status, body } = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    expect([status, body]).toEqual([200, before]);
  });

  it('frees the worker when a model ignores the abort signal', async () => {
    const model = createScriptedProvider(sayAtOnce('Hello.'));
    let isAsked = false;
    const deafAtFirst: ModelProvider = {
      ...model,
      async generate(request, options) {
        if (isAsked) return model.generate(request, options);
        isAsked = true;
        return new Promise(() => undefined);
      },
    };
    const app = await createChatApp({
      models: [deafAtFirst],
      settings: { admin: { DefaultAPIModel: 'scripted' }, worker: { concurrency: { chat: 1 } } },
    });
    const { id } = (await app.chat({ message: 'Hi' })).body;
    const next = (await app.chat({ message: 'And you?' })).body;
    await app.settle();
    expect([isAsked, model.calls.length]).toEqual([true, 0]);
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(await app.poll(next.id)).toMatchObject({ status: 'done', reply: 'Hello.' });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('returns answers to waiting clients', async () => {
    const app = await createChatApp({ onCall: silent });
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    const [quest] = await app.services.store.collection(QUESTS).find({});
    await app.json('POST', `/api/v1/quests/${quest?.id}/cancel`);
    const { status, body } = await waiting;
    expect([status, body.status, body.response, body.responses]).toEqual([
      200,
      'stopped',
      'This turn was cancelled.',
      ['This turn was cancelled.'],
    ]);
  });
});

describe('failure of a quest', () => {
  it('reports missing credits', async () => {
    const app = await createChatApp({ credits: 0.001 });
    const acknowledged = await app.chat({ message: 'Hi' });
    expect(acknowledged.status).toBe(200);
    await app.settle();
    expect(await app.poll(acknowledged.body.id)).toMatchObject({
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
      reply: expect.stringMatching(/^Insufficient credits\. You have 0\.001 credits/),
      replies: [],
    });
    const { status, body } = await app.chat({ message: 'Hi', wait: true });
    expect([status, body.type, body.errorCode]).toEqual([200, 'error', 'insufficient_credits']);
    expect(body.responses).toEqual([body.response]);
    expect(app.calls).toHaveLength(0);
  });

  it('reports an exceeded spend cap', async () => {
    const app = await createChatApp({ key: { spendCap: { amount: 1, period: 'day' } } });
    const { body } = await app.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({ type: 'error', errorCode: 'spend_cap_exceeded' });
  });

  it('hides code and text of the provider and is free', async () => {
    const app = await createChatApp({
      onCall: () => {
        throw new ProviderError('invalid_request', 'secret text of the provider');
      },
    });
    const { body } = await app.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({
      status: 'done',
      type: 'error',
      response: 'The model provider refused this request as invalid for the model.',
    });
    expect(body).not.toHaveProperty('errorCode');
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: 1000_000_000, held: 0 });
    expect(app.incidents).toHaveLength(1);
  });

  it('keeps partial text beside the failure and charges for it', async () => {
    const app = await createChatApp({
      onCall: (call) => {
        call.say({ type: 'text', text: 'x'.repeat(250) });
        call.fail(new ProviderError('failed', 'gone'));
      },
    });
    const { body } = await app.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({
      status: 'done',
      type: 'error',
      response: 'The model gave no answer: the provider failed.',
      responses: ['x'.repeat(250)],
    });
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge).toMatchObject({ status: 'settled', usage: { output: 100 } });
    expect(app.calls).toHaveLength(1);
  });

  it('stops the quest when the session is deleted', async () => {
    const app = await createChatApp({ onCall: silent });
    const { sessionId } = (await app.chat({ message: 'One' })).body;
    const waiting = app.chat({ message: 'Two', sessionId, wait: true });
    await app.settle();
    await app.json('DELETE', `/api/sessions/${sessionId}`);
    const { status, body } = await waiting;
    expect([status, body.status, body.response]).toEqual([
      200,
      'stopped',
      'The session of this turn was deleted.',
    ]);
    await app.settle();
    expect(app.calls.map(({ stopped }) => stopped)).toEqual([true, true]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});

describe('session deleted before its turn starts', () => {
  it('stops the quest before the model is called', async () => {
    const app = await createChatApp({ started: false });
    const { id, sessionId } = (await app.chat({ message: 'Hi' })).body;
    const { store, queue } = app.services;
    // Deleted between acceptance of the message and its storage.
    await store.collection(SESSIONS).take(sessionId);
    await app.api.start();
    await app.settle();
    expect(app.calls).toHaveLength(0);
    expect(await store.collection(QUESTS).get(id)).toMatchObject({
      status: 'stopped',
      explanation: 'The session of this turn no longer exists.',
    });
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });
});

describe('waiting for a quest', () => {
  it('ends with 504 after the request timeout, and the quest continues', async () => {
    const app = await createChatApp({ onCall: silent });
    const waiting = app.chat({ message: 'Hi', wait: true }, { headers: { 'X-Request-ID': 'mine' } });
    await app.settle();
    await app.clock.advance(59_999);
    await app.settle();
    await app.clock.advance(1);
    const { status, body } = await waiting;
    expect(status).toBe(504);
    expect(body).toEqual({
      error: 'The reply was not ready in time. Poll the quest for it.',
      errorCode: 'request_timeout',
      quest_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      sessionId: expect.stringMatching(/^[0-9a-f]{24}$/),
      request_id: 'mine',
      name: 'GatewayTimeoutError',
    });
    app.calls[0]?.say(...answerParts('Late.'));
    app.calls[0]?.end();
    await app.settle();
    expect(await app.poll(body.quest_id)).toMatchObject({ status: 'done', reply: 'Late.' });
  });

  it('ends with 404 when the quest is deleted with its session', async () => {
    const app = await createChatApp({ onCall: silent });
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    const { store } = app.services;
    const [quest] = await store.collection(QUESTS).find({});
    await store.collection(SESSIONS).take(quest?.sessionId ?? '');
    await store.collection(QUESTS).take(quest?.id ?? '');
    await app.clock.advance(250);
    expect(await waiting).toMatchObject({ status: 404, body: { error: 'Session not found' } });
  });

  it('lasts as long as requested', async () => {
    const app = await createChatApp({ onCall: silent, settings: { requestTimeoutMs: 10 } });
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    await app.clock.advance(10);
    expect((await waiting).status).toBe(504);
  });

  it('can be aborted by the client, and the quest continues', async () => {
    const app = await createChatApp({ onCall: silent });
    const leaving = new AbortController();
    const waiting = app.chat({ message: 'Hi', wait: true }, { signal: leaving.signal });
    await app.settle();
    leaving.abort();
    expect((await waiting).status).toBe(400);
    // A client that disconnects is no failure of the service.
    expect(app.incidents).toEqual([]);
    expect(app.calls[0]?.stopped).toBe(false);
    app.calls[0]?.say(...answerParts('Done.'));
    app.calls[0]?.end();
    await app.settle();
    expect((await app.ledger.charges({ account: app.account }, 1))[0]).toMatchObject({
      status: 'settled',
    });
  });

  it('sees a completion although the publisher delivers no message', async () => {
    const app = await createChatApp({
      onCall: silent,
      started: false,
    });
    // Another process runs the turn and shares only the store.
    const { store, ledger, limiter, clock, ids } = app.services;
    const elsewhere = createApi(
      createServices(
        { store, ledger, limiter, clock, ids, models: [app.model] },
        { jwtSecret: 'b'.repeat(64) },
      ),
    );
    await elsewhere.start();
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    await app.clock.advance(1000);
    await app.settle();
    app.calls[0]?.say(...answerParts('From elsewhere.'));
    app.calls[0]?.end();
    await app.settle();
    await app.clock.advance(2000);
    expect((await waiting).body).toMatchObject({ status: 'done', response: 'From elsewhere.' });
    await elsewhere.close();
  });

  const away = (): never => {
    throw new Error('away');
  };
  const broken: Readonly<Record<string, Publisher>> = {
    'rejects everything': {
      publish: () => Promise.reject(new Error('away')),
      subscribe: () => Promise.reject(new Error('away')),
    },
    'throws instead of rejecting': { publish: away, subscribe: away },
    'never answers': {
      publish: () => new Promise(() => undefined),
      subscribe: () => new Promise(() => undefined),
    },
    'cannot end a subscription': {
      publish: async () => undefined,
      subscribe: async () => () => Promise.reject(new Error('away')),
    },
  };

  it.each(Object.entries(broken))('works with a publisher that %s', async (_, publisher) => {
    const app = await createChatApp({ onCall: silent, started: false, publisher });
    app.api.start().catch(() => undefined);
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    app.calls[0]?.say(...answerParts('Hello.'));
    app.calls[0]?.end();
    await app.settle();
    await app.clock.advance(1000);
    expect((await waiting).body).toMatchObject({ status: 'done', response: 'Hello.' });

    const { id } = (await app.chat({ message: 'And?' })).body;
    const cancelled = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'stopped']);
    await app.settle();
    await app.api.close();
  });

  it('reports the duration of each phase', async () => {
    const app = await createChatApp({ onCall: silent });
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    await app.clock.advance(1234);
    app.calls[0]?.say(...answerParts('Done.'));
    app.calls[0]?.end();
    const { performance } = (await waiting).body;
    expect(performance).toEqual({
      total_ms: 1234,
      phases: { load: 0, prompt: 0, model: 1234, tools: 0, store: 0 },
    });
  });
});
