import {
  createApi,
  createServices,
  MESSAGES,
  type ModelProvider,
  ProviderError,
  type Publisher,
  QUESTS,
  SESSIONS,
} from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatWorld, sayAtOnce, silent } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';

const UNKNOWN = '0'.repeat(24);

describe('a quest', () => {
  it('shows what was said so far while it runs', async () => {
    const world = await createChatWorld({ onCall: silent });
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    expect(await world.poll(id)).toMatchObject({
      status: 'running',
      type: 'message',
      reply: null,
      replies: [],
    });
    world.calls[0]?.say({ type: 'text', text: 'Once upon' });
    await world.settle();
    await world.clock.advance(500);
    await world.settle();
    expect(await world.poll(id)).toMatchObject({
      status: 'running',
      reply: 'Once upon',
      replies: ['Once upon'],
    });
    world.calls[0]?.say({ type: 'text', text: ' a time' });
    world.calls[0]?.end();
    await world.settle();
    expect(await world.poll(id)).toMatchObject({
      status: 'done',
      type: 'message',
      reply: 'Once upon a time',
      replies: ['Once upon a time'],
    });
  });

  it('writes the growing text down now and then, not with every token', async () => {
    let updates = 0;
    const world = await createChatWorld({
      onCall: silent,
      store: (store) => ({
        ...store,
        collection: (definition) => {
          const collection = store.collection(definition);
          if (definition.name !== 'quests') return collection;
          return {
            ...collection,
            update: (...args) => {
              updates += 1;
              return collection.update(...args);
            },
          };
        },
      }),
    });
    await world.chat({ message: 'Hi' });
    await world.settle();
    updates = 0;
    for (let token = 0; token < 1000; token += 1) {
      world.calls[0]?.say({ type: 'text', text: 'x' });
      if (token % 10 === 9) {
        await world.settle();
        await world.clock.advance(20);
      }
    }
    expect(updates).toBeGreaterThanOrEqual(3);
    expect(updates).toBeLessThanOrEqual(5);
    world.calls[0]?.end();
    await world.settle();
  });

  it('is nothing to others, unknown, malformed or of a deleted session: 404, alike', async () => {
    const world = await createChatWorld();
    const { id, sessionId } = (await world.chat({ message: 'Hi', wait: true })).body;
    const bob = await world.token(await world.addUser('bob@example.com'));
    const answers = [];
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const) {
      answers.push(await world.json(method, `/api/v1/quests/${UNKNOWN}${suffix}`));
      answers.push(await world.json(method, `/api/v1/quests/no-id${suffix}`));
      answers.push(await world.json(method, `/api/v1/quests/${id}${suffix}`, { credential: bob }));
      await world.json('DELETE', `/api/sessions/${sessionId}`);
      answers.push(await world.json(method, `/api/v1/quests/${id}${suffix}`));
    }
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      Array(8).fill([404, 'Quest not found']),
    );
  });

  it('takes no slot of the day to poll, and one to cancel', async () => {
    const world = await createChatWorld();
    const { id } = (await world.chat({ message: 'Hi', wait: true })).body;
    const left = async (method: string, path: string) =>
      Number((await world.json(method, path)).headers.get('x-ratelimit-remaining-day'));
    const before = await left('GET', `/api/v1/quests/${id}`);
    expect(await left('GET', `/api/v1/quests/${id}`)).toBe(before);
    expect(await left('POST', `/api/v1/quests/${id}/cancel`)).toBe(before - 1);
  });
});

describe('cancelling', () => {
  it('stops a quest that waits: the model is never asked', async () => {
    const world = await createChatWorld({ started: false });
    const { id, sessionId } = (await world.chat({ message: 'Hi' })).body;
    const cancelled = await world.json('POST', `/api/v1/quests/${id}/cancel`);
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
    await world.api.start();
    await world.settle();
    expect(world.calls).toHaveLength(0);
    expect(await world.poll(id)).toEqual(cancelled.body);
    expect(await world.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    // What was asked stands in the session all the same, and nothing was paid for.
    const said = await world.services.store.collection(MESSAGES).find({ sessionId });
    expect(said).toMatchObject([{ role: 'user', content: 'Hi', questId: id }]);
    expect(await world.ledger.charges({ account: world.account }, 10)).toEqual([]);
  });

  it('stops the model, keeps what was said, and charges for it', async () => {
    const world = await createChatWorld({ onCall: silent });
    const { id, sessionId } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    world.calls[0]?.say({ type: 'text', text: 'x'.repeat(250) });
    await world.settle();
    await world.clock.advance(500);
    await world.settle();
    const { body } = await world.json('POST', `/api/v1/quests/${id}/cancel`);
    expect(body).toMatchObject({
      status: 'stopped',
      reply: 'This turn was cancelled.',
      replies: ['x'.repeat(250)],
    });
    await world.settle();
    expect(world.calls[0]?.stopped).toBe(true);
    expect(await world.poll(id)).toEqual(body);
    const [charge] = await world.ledger.charges({ account: world.account }, 10);
    expect(charge).toMatchObject({ status: 'settled', model: 'scripted', usage: { output: 100 } });
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    // What was said stands in the session.
    await world.clock.advance(1);
    const next = world.chat({ message: 'Go on', sessionId, wait: true });
    await world.settle();
    expect(world.calls[1]?.request.messages.slice(1).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    world.calls[1]?.end();
    await next;
  });

  it('is free before the first word', async () => {
    const world = await createChatWorld({ onCall: silent });
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    await world.json('POST', `/api/v1/quests/${id}/cancel`);
    await world.settle();
    expect(world.calls[0]?.stopped).toBe(true);
    expect(await world.ledger.balance(world.account)).toEqual({
      posted: 1000_000_000,
      held: 0,
      available: 1000_000_000,
    });
  });

  it('changes nothing of a quest that has ended', async () => {
    const world = await createChatWorld();
    const { id } = (await world.chat({ message: 'Hi', wait: true })).body;
    const before = await world.poll(id);
    const { status, body } = await world.json('POST', `/api/v1/quests/${id}/cancel`);
    expect([status, body]).toEqual([200, before]);
  });

  it('frees the worker of a model that does not hear of it', async () => {
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
    const world = await createChatWorld({
      models: [deafAtFirst],
      settings: { admin: { DefaultAPIModel: 'scripted' }, worker: { concurrency: { chat: 1 } } },
    });
    const { id } = (await world.chat({ message: 'Hi' })).body;
    const next = (await world.chat({ message: 'And you?' })).body;
    await world.settle();
    expect([isAsked, model.calls.length]).toEqual([true, 0]);
    await world.json('POST', `/api/v1/quests/${id}/cancel`);
    await world.settle();
    expect(await world.poll(next.id)).toMatchObject({ status: 'done', reply: 'Hello.' });
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });

  it('answers those who wait', async () => {
    const world = await createChatWorld({ onCall: silent });
    const waiting = world.chat({ message: 'Hi', wait: true });
    await world.settle();
    const [quest] = await world.services.store.collection(QUESTS).find({});
    await world.json('POST', `/api/v1/quests/${quest?.id}/cancel`);
    const { status, body } = await waiting;
    expect([status, body.status, body.response, body.responses]).toEqual([
      200,
      'stopped',
      'This turn was cancelled.',
      ['This turn was cancelled.'],
    ]);
  });
});

describe('a failure', () => {
  it('of the credits is told by the quest', async () => {
    const world = await createChatWorld({ credits: 0.001 });
    const acknowledged = await world.chat({ message: 'Hi' });
    expect(acknowledged.status).toBe(200);
    await world.settle();
    expect(await world.poll(acknowledged.body.id)).toMatchObject({
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
      reply: expect.stringMatching(/^Insufficient credits\. You have 0\.001 credits/),
      replies: [],
    });
    const { status, body } = await world.chat({ message: 'Hi', wait: true });
    expect([status, body.type, body.errorCode]).toEqual([200, 'error', 'insufficient_credits']);
    expect(body.responses).toEqual([body.response]);
    expect(world.calls).toHaveLength(0);
  });

  it('of the spend cap too', async () => {
    const world = await createChatWorld({ key: { spendCap: { amount: 1, period: 'day' } } });
    const { body } = await world.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({ type: 'error', errorCode: 'spend_cap_exceeded' });
  });

  it('of the provider carries no code and nothing of its text, and is free', async () => {
    const world = await createChatWorld({
      onCall: () => {
        throw new ProviderError('invalid_request', 'secret text of the provider');
      },
    });
    const { body } = await world.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({
      status: 'done',
      type: 'error',
      response: 'The model provider refused this request as invalid for the model.',
    });
    expect(body).not.toHaveProperty('errorCode');
    expect(await world.ledger.balance(world.account)).toMatchObject({ posted: 1000_000_000, held: 0 });
    expect(world.incidents).toHaveLength(1);
  });

  it('after some words keeps them beside the failure, and charges for them', async () => {
    const world = await createChatWorld({
      onCall: (call) => {
        call.say({ type: 'text', text: 'x'.repeat(250) });
        call.fail(new ProviderError('failed', 'gone'));
      },
    });
    const { body } = await world.chat({ message: 'Hi', wait: true });
    expect(body).toMatchObject({
      status: 'done',
      type: 'error',
      response: 'The model gave no answer: the provider failed.',
      responses: ['x'.repeat(250)],
    });
    const [charge] = await world.ledger.charges({ account: world.account }, 10);
    expect(charge).toMatchObject({ status: 'settled', usage: { output: 100 } });
    expect(world.calls).toHaveLength(1);
  });

  it('because the session was deleted stops the quest', async () => {
    const world = await createChatWorld({ onCall: silent });
    const { sessionId } = (await world.chat({ message: 'One' })).body;
    const waiting = world.chat({ message: 'Two', sessionId, wait: true });
    await world.settle();
    await world.json('DELETE', `/api/sessions/${sessionId}`);
    const { status, body } = await waiting;
    expect([status, body.status, body.response]).toEqual([
      200,
      'stopped',
      'The session of this turn was deleted.',
    ]);
    await world.settle();
    expect(world.calls.map(({ stopped }) => stopped)).toEqual([true, true]);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });
});

describe('a session that is gone when its turn comes', () => {
  it('stops the quest before the model is asked', async () => {
    const world = await createChatWorld({ started: false });
    const { id, sessionId } = (await world.chat({ message: 'Hi' })).body;
    const { store, queue } = world.services;
    // Taken away between the moment the message was accepted and the moment it was written down.
    await store.collection(SESSIONS).take(sessionId);
    await world.api.start();
    await world.settle();
    expect(world.calls).toHaveLength(0);
    expect(await store.collection(QUESTS).get(id)).toMatchObject({
      status: 'stopped',
      explanation: 'The session of this turn no longer exists.',
    });
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });
});

describe('waiting', () => {
  it('ends with 504 after the request timeout, and the quest goes on', async () => {
    const world = await createChatWorld({ onCall: silent });
    const waiting = world.chat({ message: 'Hi', wait: true }, { headers: { 'X-Request-ID': 'mine' } });
    await world.settle();
    await world.clock.advance(59_999);
    await world.settle();
    await world.clock.advance(1);
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
    world.calls[0]?.say(...answerParts('Late.'));
    world.calls[0]?.end();
    await world.settle();
    expect(await world.poll(body.quest_id)).toMatchObject({ status: 'done', reply: 'Late.' });
  });

  it('ends with 404 when the quest has gone with its session', async () => {
    const world = await createChatWorld({ onCall: silent });
    const waiting = world.chat({ message: 'Hi', wait: true });
    await world.settle();
    const { store } = world.services;
    const [quest] = await store.collection(QUESTS).find({});
    await store.collection(SESSIONS).take(quest?.sessionId ?? '');
    await store.collection(QUESTS).take(quest?.id ?? '');
    await world.clock.advance(250);
    expect(await waiting).toMatchObject({ status: 404, body: { error: 'Session not found' } });
  });

  it('is as long as the option says', async () => {
    const world = await createChatWorld({ onCall: silent, settings: { requestTimeoutMs: 10 } });
    const waiting = world.chat({ message: 'Hi', wait: true });
    await world.settle();
    await world.clock.advance(10);
    expect((await waiting).status).toBe(504);
  });

  it('can be left: the quest goes on', async () => {
    const world = await createChatWorld({ onCall: silent });
    const leaving = new AbortController();
    const waiting = world.chat({ message: 'Hi', wait: true }, { signal: leaving.signal });
    await world.settle();
    leaving.abort();
    await waiting.catch(() => undefined);
    expect(world.calls[0]?.stopped).toBe(false);
    world.calls[0]?.say(...answerParts('Done.'));
    world.calls[0]?.end();
    await world.settle();
    expect((await world.ledger.charges({ account: world.account }, 1))[0]).toMatchObject({
      status: 'settled',
    });
  });

  it('finds out for itself what no message told', async () => {
    const world = await createChatWorld({
      onCall: silent,
      started: false,
    });
    // Another process works, and shares nothing but the store.
    const { store, ledger, limiter, clock, ids } = world.services;
    const elsewhere = createApi(
      createServices(
        { store, ledger, limiter, clock, ids, models: [world.model] },
        { jwtSecret: 'b'.repeat(64) },
      ),
    );
    await elsewhere.start();
    const waiting = world.chat({ message: 'Hi', wait: true });
    await world.settle();
    await world.clock.advance(1000);
    await world.settle();
    world.calls[0]?.say(...answerParts('From elsewhere.'));
    world.calls[0]?.end();
    await world.settle();
    await world.clock.advance(2000);
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

  it.each(Object.entries(broken))('does without a publisher that %s', async (_, publisher) => {
    const world = await createChatWorld({ onCall: silent, started: false, publisher });
    world.api.start().catch(() => undefined);
    const waiting = world.chat({ message: 'Hi', wait: true });
    await world.settle();
    world.calls[0]?.say(...answerParts('Hello.'));
    world.calls[0]?.end();
    await world.settle();
    await world.clock.advance(1000);
    expect((await waiting).body).toMatchObject({ status: 'done', response: 'Hello.' });

    const { id } = (await world.chat({ message: 'And?' })).body;
    const cancelled = await world.json('POST', `/api/v1/quests/${id}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'stopped']);
    await world.settle();
    await world.api.close();
  });

  it('tells where the time went', async () => {
    const world = await createChatWorld({ onCall: silent });
    const waiting = world.chat({ message: 'Hi', wait: true });
    await world.settle();
    await world.clock.advance(1234);
    world.calls[0]?.say(...answerParts('Done.'));
    world.calls[0]?.end();
    const { performance } = (await waiting).body;
    expect(performance).toEqual({
      total_ms: 1234,
      phases: { load: 0, prompt: 0, model: 1234, tools: 0, store: 0 },
    });
  });
});
