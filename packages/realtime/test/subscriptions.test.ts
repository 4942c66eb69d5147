import { SESSIONS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { until } from './client.ts';
import { createWorld, thinking } from './world.ts';

const UNKNOWN = '0123456789abcdef01234567';

async function someone() {
  const world = await createWorld();
  const user = await world.addUser('ada');
  const sessionId = await world.addSession(user);
  const client = await world.open(await world.token(user));
  return { world, user, sessionId, client };
}

describe('a subscription', () => {
  it('delivers the four events of its session, in order, with their time', async () => {
    const { world, sessionId, client } = await someone();
    client.subscribe(sessionId);
    await client.settled();
    const agent = { id: 'a', name: 'Critic', avatarUrl: null };
    const { agentEvents } = world.services;
    agentEvents.tell({ type: 'agent_attached', sessionId, agent });
    agentEvents.tell({ type: 'agent_thinking', sessionId, agents: ['a'] });
    agentEvents.tell({ type: 'agent_response', sessionId, messageId: 'm', contributingAgents: [agent] });
    agentEvents.tell({ type: 'agent_detached', sessionId, agentId: 'a' });
    const timestamp = new Date(world.clock.now()).toISOString();
    const events = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(events).toEqual([
      { type: 'agent_attached', sessionId, timestamp, agent },
      { type: 'agent_thinking', sessionId, timestamp, agents: ['a'] },
      { type: 'agent_response', sessionId, timestamp, messageId: 'm', contributingAgents: [agent] },
      { type: 'agent_detached', sessionId, timestamp, agentId: 'a' },
    ]);
  });

  it('asked for twice delivers once, and nothing after it was ended', async () => {
    const { world, sessionId, client } = await someone();
    client.subscribe(sessionId);
    client.subscribe(sessionId);
    await client.settled();
    world.tell(sessionId);
    await client.next();
    client.unsubscribe(sessionId);
    client.unsubscribe(sessionId);
    await client.settled();
    world.tell(sessionId);
    await client.settled();
    expect(client.heard).toEqual([]);
    await world.services.authenticator.close();
    expect(world.subscriptions).toBe(0);
  });

  it('delivers nothing of other sessions, nor to other sockets', async () => {
    const { world, user, sessionId, client } = await someone();
    const other = await world.addSession(user);
    const deaf = await world.open(await world.token(user));
    client.subscribe(sessionId);
    await client.settled();
    world.tell(other);
    world.tell(sessionId);
    expect(await client.next()).toMatchObject({ sessionId });
    for (const one of [client, deaf]) {
      await one.settled();
      expect(one.heard).toEqual([]);
    }
  });

  it('of a foreign session is refused like one of an unknown session', async () => {
    const { world, client } = await someone();
    const foreign = await world.addSession(await world.addUser('bob'));
    const faults = [];
    for (const id of [foreign, UNKNOWN]) {
      client.subscribe(id);
      const fault = (await client.next()) as { sessionId: string };
      expect(fault.sessionId).toBe(id);
      faults.push({ ...fault, sessionId: null });
    }
    client.subscribe('no id at all');
    faults.push(await client.next());
    const timestamp = new Date(world.clock.now()).toISOString();
    const fault = {
      type: 'error',
      sessionId: null,
      timestamp,
      code: 'not_found',
      message: 'Session not found',
    };
    expect(faults).toEqual([fault, fault, fault]);
    world.tell(foreign);
    await client.settled();
    expect(client.heard).toEqual([]);
  });

  it('is there for everybody the session is shared with, and for keys', async () => {
    const { world, user } = await someone();
    const reader = await world.addUser('reader');
    const writer = await world.addUser('writer');
    const shared = await world.addSession(user, { readerIds: [reader.id], writerIds: [writer.id] });
    const { key } = await world.key(reader, ['ai:chat']);
    const clients = [await world.open(key), await world.open(await world.token(writer))];
    for (const client of clients) {
      client.subscribe(shared);
      await client.settled();
    }
    world.tell(shared);
    for (const client of clients) expect(await client.next()).toMatchObject({ type: 'agent_thinking' });
  });

  it.each([
    ['is shared no more', { readerIds: [] }],
    ['is deleted', undefined],
  ])('ends before the next event when the session %s', async (_, change) => {
    const { world, user } = await someone();
    const reader = await world.addUser('reader');
    const shared = await world.addSession(user, { readerIds: [reader.id] });
    const client = await world.open(await world.token(reader));
    client.subscribe(shared);
    await client.settled();
    const sessions = world.store.collection(SESSIONS);
    if (change === undefined) await sessions.take(shared);
    else await sessions.update(shared, change);
    world.tell(shared);
    expect(await client.next()).toMatchObject({ type: 'error', code: 'not_found', sessionId: shared });
    await until(() => world.subscriptions === 1);
    world.tell(shared);
    await client.settled();
    expect(client.heard).toEqual([]);
  });

  it('ends with its socket', async () => {
    const { world, sessionId, client } = await someone();
    client.subscribe(sessionId);
    await client.settled();
    client.socket.close();
    await until(() => world.subscriptions === 1);
  });

  it('hears what was published in the same breath as it began, or nothing, but never half', async () => {
    const { world, sessionId, client } = await someone();
    client.subscribe(sessionId);
    for (let at = 0; at < 20; at += 1) {
      world.services.agentEvents.tell(thinking(sessionId, [String(at)]));
      await new Promise(setImmediate);
    }
    await client.settled();
    const numbers = client.heard.map((event) => Number((event as { agents: string[] }).agents[0]));
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => 20 - numbers.length + at));
  });
});

describe('a frame that cannot be done', () => {
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
    it(`${name}: ${code}, and the socket stays open`, async () => {
      const { world, client } = await someone();
      client.send(frame);
      expect(await client.next()).toEqual({
        type: 'error',
        sessionId: null,
        timestamp: new Date(world.clock.now()).toISOString(),
        code,
        message: expect.any(String),
      });
      await client.settled();
      expect(world.incidents).toEqual([]);
    });
  }
});
