import { chat } from '@questline/client';
import * as operations from '@questline/client/operations';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createChatApp } from '../../../test/support/chat.ts';
import { advancing, createAppClient, createAppFetch, createScriptedClient, json } from './support.ts';

const { createAgent, createSession, getMe, putObject, sendChatMessage } = operations;
const OFFLINE = new TypeError('fetch failed');
const ME = { id: 'x' };
const refused = (status: number, retryAfter?: string, body: object = {}): Response =>
  json({ error: 'no', ...body }, status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });

describe('a request', () => {
  it.each([
    ['a GET after a network failure', getMe, undefined, () => [OFFLINE, OFFLINE, json(ME)], [500, 1000]],
    ['a GET after the longest wait', getMe, undefined, () => [refused(429, '30'), json(ME)], [30_000]],
    ['a GET after a head that broke off', getMe, undefined, () => [Response.error(), json(ME)], [500]],
    ['a GET after 503', getMe, undefined, () => [refused(503, '3'), json(ME)], [3000]],
    ['a GET whose answer broke off', getMe, undefined, () => [brokenAnswer(), json(ME)], [500]],
    ['a message after a network failure', sendChatMessage, { body: {} }, () => [OFFLINE, json(ME)], [500]],
    ['a creation after 429', createSession, { body: {} }, () => [refused(429, '2'), json(ME)], [2000]],
    [
      'a creation that the provider refused',
      createAgent,
      { body: {} },
      () => [refused(503, '1', { errorCode: 'provider_overloaded' }), json(ME)],
      [1000],
    ],
  ] as const)('is repeated: %s', async (_, operation, input, answers, delays) => {
    const { client, waited } = createScriptedClient(answers());
    expect(await client.call<unknown, unknown>(operation, input as never)).toEqual(ME);
    expect(waited).toEqual(delays);
  });

  it.each([
    ['a creation after a network failure', createSession, { body: {} }, () => OFFLINE],
    ['a creation after 503', createSession, { body: {} }, () => refused(503, '1')],
    ['anything after 500', getMe, undefined, () => refused(500)],
    ['anything after 500 with Retry-After', getMe, undefined, () => refused(500, '1')],
    ['anything after 503 without Retry-After', getMe, undefined, () => refused(503)],
    ['a wait beyond the maximum', getMe, undefined, () => refused(429, '31')],
    ['an upload', putObject, { link: '/x', body: new Blob(['a']) }, () => OFFLINE],
    ['a key that was rejected', getMe, undefined, () => refused(401)],
  ] as const)('is not repeated: %s', async (_, operation, input, answer) => {
    const { client, sent, waited } = createScriptedClient([answer()]);
    await expect(client.call<unknown, unknown>(operation, input as never)).rejects.toMatchObject({
      name: 'QuestlineError',
    });
    expect([sent.length, waited]).toEqual([1, []]);
  });

  it('with a key of the caller is not repeated by an operation that takes none', async () => {
    const { client, sent } = createScriptedClient([OFFLINE]);
    const call = client.call(createSession, { body: { name: 'a' } }, { idempotencyKey: 'mine' });
    await expect(call).rejects.toMatchObject({ code: 'network_error' });
    expect(sent).toHaveLength(1);
  });

  it('is repeated only after the wait', async () => {
    const { client, sent } = createScriptedClient([OFFLINE, json(ME)], {
      wait: () => Promise.reject(new Error('no more time')),
    });
    await expect(client.call(getMe)).rejects.toThrow('no more time');
    expect(sent).toHaveLength(1);
  });

  it('is repeated at most as often as configured', async () => {
    const { client, sent } = createScriptedClient([OFFLINE, OFFLINE, OFFLINE, OFFLINE, json(ME)], {
      retries: 3,
    });
    await expect(client.call(getMe)).rejects.toMatchObject({ code: 'network_error' });
    expect(sent).toHaveLength(4);
    expect(await client.call(getMe, {}, { retries: 0 })).toEqual(ME);
  });

  it('has the same idempotency key when it is repeated, and a new one in each call', async () => {
    const { client, sent } = createScriptedClient([OFFLINE, json(ME), json(ME), json(ME)]);
    const body = { message: 'Hi' };
    await client.call(sendChatMessage, { body });
    await client.call(sendChatMessage, { body });
    await client.call(sendChatMessage, { body }, { idempotencyKey: 'mine' });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], expect.any(String), 'mine']);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe('a message whose answer is lost', () => {
  it('is one turn with one charge', async () => {
    const app = await createChatApp();
    onTestFinished(() => app.api.close());
    const send = createAppFetch(app);
    let lost = 0;
    const client = createAppClient(app, {
      async fetch(url, init) {
        const response = await send(url, init);
        if (init.method !== 'POST' || lost >= 2) return response;
        lost += 1;
        await response.arrayBuffer();
        throw OFFLINE;
      },
    });
    const turn = await chat(client, { message: 'Hello', newConversation: true });
    expect((await advancing(app, turn.result())).reply).toBe('Hello.');
    expect([lost, app.calls.length]).toEqual([2, 1]);
    const { data } = await client.call(operations.listSessions);
    expect(data.map(({ id }) => id)).toEqual([turn.sessionId]);
  });
});

function brokenAnswer(): Response {
  const body = new ReadableStream({
    pull(controller) {
      controller.error(OFFLINE);
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}
