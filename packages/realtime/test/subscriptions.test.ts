import { SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { until } from './client.ts';
import { createTestApp, thinking } from './test-app.ts';

const UNKNOWN = '0123456789abcdef01234567';

async function someone() {
  const app = await createTestApp();
  const user = await app.addUser('ada');
  const sessionId = await app.addSession(user);
  const client = await app.open(await app.token(user));
  return { app, user, sessionId, client };
}

describe('realtime subscription', () => {
  it('delivers the four events of its session in order with their time', async () => {
    const { app, sessionId, client } = await someone();
    client.subscribe(sessionId);
    await client.settled();
    const agent = { id: 'a', name: 'Critic', avatarUrl: null };
    const { agentEvents } = app.services;
    agentEvents.publish({ type: 'agent_attached', sessionId, agent });
    agentEvents.publish({ type: 'agent_thinking', sessionId, agents: ['a'] });
    agentEvents.publish({ type: 'agent_response', sessionId, messageId: 'm', contributingAgents: [agent] });
    agentEvents.publish({ type: 'agent_detached', sessionId, agentId: 'a' });
    const timestamp = new Date(app.clock.now()).toISOString();
    const events = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(events).toEqual([
      { type: 'agent_attached', sessionId, timestamp, agent },
      { type: 'agent_thinking', sessionId, timestamp, agents: ['a'] },
      { type: 'agent_response', sessionId, timestamp, messageId: 'm', contributingAgents: [agent] },
      { type: 'agent_detached', sessionId, timestamp, agentId: 'a' },
    ]);
  });

  it('delivers once after a repeated subscribe and nothing after its end', async () => {
    const { app, sessionId, client } = await someone();
    client.subscribe(sessionId);
    client.subscribe(sessionId);
    await client.settled();
    app.publish(sessionId);
    await client.next();
    client.unsubscribe(sessionId);
    client.unsubscribe(sessionId);
    await client.settled();
    app.publish(sessionId);
    await client.settled();
    expect(client.heard).toEqual([]);
    await app.services.authenticator.close();
    expect(app.subscriptions).toBe(0);
  });

  it('delivers nothing from other sessions or to other sockets', async () => {
    const { app, user, sessionId, client } = await someone();
    const other = await app.addSession(user);
    const deaf = await app.open(await app.token(user));
    client.subscribe(sessionId);
    await client.settled();
    app.publish(other);
    app.publish(sessionId);
    expect(await client.next()).toMatchObject({ sessionId });
    for (const one of [client, deaf]) {
      await one.settled();
      expect(one.heard).toEqual([]);
    }
  });

  it('gives the same answer for an unknown session and that of another user', async () => {
    const { app, client } = await someone();
    const foreign = await app.addSession(await app.addUser('bob'));
    const faults = [];
    for (const id of [foreign, UNKNOWN]) {
      client.subscribe(id);
      const fault = (await client.next()) as { sessionId: string };
      expect(fault.sessionId).toBe(id);
      faults.push({ ...fault, sessionId: null });
    }
    client.subscribe('no id at all');
    faults.push(await client.next());
    const timestamp = new Date(app.clock.now()).toISOString();
    const fault = {
      type: 'error',
      sessionId: null,
      timestamp,
      code: 'not_found',
      message: 'Session not found',
    };
    expect(faults).toEqual([fault, fault, fault]);
    app.publish(foreign);
    await client.settled();
    expect(client.heard).toEqual([]);
  });

  it('accepts users the session is shared with, and keys', async () => {
    const { app, user } = await someone();
    const reader = await app.addUser('reader');
    const writer = await app.addUser('writer');
    const shared = await app.addSession(user, { readerIds: [reader.id], writerIds: [writer.id] });
    const { key } = await app.key(reader, ['ai:chat']);
    const clients = [await app.open(key), await app.open(await app.token(writer))];
    for (const client of clients) {
      client.subscribe(shared);
      await client.settled();
    }
    app.publish(shared);
    for (const client of clients) expect(await client.next()).toMatchObject({ type: 'agent_thinking' });
  });

  it.each([
    ['is shared no more', { readerIds: [] }],
    ['is deleted', undefined],
  ])('ends before the next event when the session %s', async (_, change) => {
    const { app, user } = await someone();
    const reader = await app.addUser('reader');
    const shared = await app.addSession(user, { readerIds: [reader.id] });
    const client = await app.open(await app.token(reader));
    client.subscribe(shared);
    await client.settled();
    const sessions = app.store.collection(SESSIONS);
    if (change === undefined) await sessions.take(shared);
    else await sessions.update(shared, change);
    app.publish(shared);
    expect(await client.next()).toMatchObject({ type: 'error', code: 'not_found', sessionId: shared });
    await until(() => app.subscriptions === 1);
    app.publish(shared);
    await client.settled();
    expect(client.heard).toEqual([]);
  });

  it('ends with its socket', async () => {
    const { app, sessionId, client } = await someone();
    client.subscribe(sessionId);
    await client.settled();
    client.socket.close();
    await until(() => app.subscriptions === 1);
  });

  it('receives a message that is published during the subscription completely or not at all', async () => {
    const { app, sessionId, client } = await someone();
    client.subscribe(sessionId);
    for (let at = 0; at < 20; at += 1) {
      app.services.agentEvents.publish(thinking(sessionId, [String(at)]));
      await new Promise(setImmediate);
    }
    await client.settled();
    const numbers = client.heard.map((event) => Number((event as { agents: string[] }).agents[0]));
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => 20 - numbers.length + at));
  });
});

describe('invalid realtime frame', () => {
  const cases: readonly (readonly [string, string | Uint8Array, string])[] = [
    ['no JSON', '{"action"', 'bad_frame'],
    ['no object', '[]', 'bad_frame'],
    ['null', 'null', 'bad_frame'],
    ['an action that is no text', '{"action":7}', 'bad_frame'],
    ['binary', new Uint8Array([1, 2, 3]), 'bad_frame'],
    ['an unknown action', '{"action":"publish"}', 'unknown_action'],
    ['an inherited action', '{"action":"constructor"}', 'unknown_action'],
    ['no data', '{"action":"subscribe_query"}', 'bad_frame'],
    ['another query', '{"action":"subscribe_query","data":{"query":"users","filters":{}}}', 'bad_frame'],
    ['no filters', '{"action":"unsubscribe_query","data":{"query":"session"}}', 'bad_frame'],
    [
      'an id that is none',
      '{"action":"subscribe_query","data":{"query":"session","filters":{"sessionId":"<b>"}}}',
      'not_found',
    ],
  ];
  for (const [name, frame, code] of cases) {
    it(`answers ${name} with ${code} and keeps the socket open`, async () => {
      const { app, client } = await someone();
      client.send(frame);
      expect(await client.next()).toEqual({
        type: 'error',
        sessionId: null,
        timestamp: new Date(app.clock.now()).toISOString(),
        code,
        message: expect.any(String),
      });
      await client.settled();
      expect(app.incidents).toEqual([]);
    });
  }
});
