import { type PublishedAgentEvent, SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { createChatApp } from '../support/chat.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { NOW } from '../support/test-app.ts';

const GRACE = 'a'.repeat(24);
const ALAN = 'b'.repeat(24);
const at = (ms: number): string => new Date(NOW + ms).toISOString();

async function createSessionApp() {
  const app = await createChatApp();
  await addAgent(app, { id: GRACE, name: 'Grace' });
  await addAgent(app, { id: ALAN, name: 'Alan' });
  const credential = await app.token();
  const sessionId = (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
  const path = `/api/sessions/${sessionId}/agents` as const;
  const events: PublishedAgentEvent[] = [];
  await app.services.agentEvents.listen(sessionId, (event) => events.push(event));
  return {
    ...app,
    sessionId,
    events,
    attach: (agentId: string) => app.json('POST', path, { body: { agentId }, credential }),
    detach: (agentId: string) => app.json('DELETE', `${path}?agentId=${agentId}`, { credential }),
    attached: async () => (await app.json('GET', path, { credential })).body.agents,
    put: (body: object) => app.json('PUT', `/api/sessions/${sessionId}`, { body }),
    session: async () => (await app.json('GET', `/api/sessions/${sessionId}`)).body,
  };
}

const card = (id: string, name: string) => ({ id, name, avatarUrl: null });

describe('agents of a session', () => {
  it('are the same list for every client, and every change publishes an event', async () => {
    const app = await createSessionApp();
    await app.attach(GRACE);
    await app.clock.advance(1000);
    await app.put({ agentIds: [GRACE, ALAN] });
    expect(await app.attached()).toEqual([
      { ...card(GRACE, 'Grace'), attachedAt: at(0) },
      { ...card(ALAN, 'Alan'), attachedAt: at(1000) },
    ]);
    await app.clock.advance(1000);
    await app.detach(GRACE);
    expect((await app.session()).agentIds).toEqual([ALAN]);
    await app.put({ agentIds: [] });
    await app.put({ name: 'Renamed' });
    const { sessionId } = app;
    expect(app.events).toEqual([
      { type: 'agent_attached', sessionId, timestamp: at(0), agent: card(GRACE, 'Grace') },
      { type: 'agent_attached', sessionId, timestamp: at(1000), agent: card(ALAN, 'Alan') },
      { type: 'agent_detached', sessionId, timestamp: at(2000), agentId: GRACE },
      { type: 'agent_detached', sessionId, timestamp: at(2000), agentId: ALAN },
    ]);
  });

  it('survive parallel changes: one attachment wins and no change is lost', async () => {
    const app = await createSessionApp();
    const same = await Promise.all(Array.from({ length: 20 }, () => app.attach(GRACE)));
    expect(same.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect(app.events).toHaveLength(1);
    const [alan, gone] = await Promise.all([app.attach(ALAN), app.detach(GRACE)]);
    expect([alan.status, gone.status]).toEqual([200, 200]);
    expect((await app.session()).agentIds).toEqual([ALAN]);
    const ends = await Promise.all(Array.from({ length: 20 }, () => app.detach(ALAN)));
    expect(ends.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
  });

  it('are detached by the owner, and by the user who attached them', async () => {
    const app = await createSessionApp();
    const bob = await app.addUser('bob@example.com');
    await shareWith(app, app.user, `session/${app.sessionId}`, bob, 'write');
    const path = `/api/sessions/${app.sessionId}/agents` as const;
    const own = (await callAs(app, bob, 'POST', '/api/v1/agents', { name: 'Own' })).body.id;
    const detach = (id: string) => callAs(app, bob, 'DELETE', `${path}?agentId=${id}`);
    await app.attach(GRACE);
    await callAs(app, bob, 'POST', path, { agentId: own });
    const refused = await detach(GRACE);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect((await app.session()).agentIds).toEqual([GRACE, own]);
    expect((await detach(own)).status).toBe(200);
    await callAs(app, bob, 'POST', path, { agentId: own });
    expect((await app.detach(own)).status).toBe(200);
    expect((await app.session()).agentIds).toEqual([GRACE]);
    const stored = await app.services.store.collection(SESSIONS).get(app.sessionId);
    expect(stored?.linkedBy).toBeUndefined();
  });

  it.each([
    ['DELETE', `/api/agents/${GRACE}/delete`],
    ['DELETE', `/api/v1/agents/${GRACE}`],
  ])('are detached on deletion with an event to every session: %s %s', async (method, path) => {
    const app = await createSessionApp();
    await app.attach(GRACE);
    await app.attach(ALAN);
    const before = app.events.length;
    const deleted = await app.json(method, path, { credential: await app.token() });
    expect(deleted.status).toBeLessThan(300);
    await app.settle();
    const { sessionId } = app;
    expect(app.events.slice(before)).toEqual([
      { type: 'agent_detached', sessionId, timestamp: at(0), agentId: GRACE },
    ]);
    expect((await app.session()).agentIds).toEqual([ALAN]);
    expect((await app.attached()).map(({ id }: { id: string }) => id)).toEqual([ALAN]);
    const again = await app.detach(GRACE);
    expect([again.status, again.body.error.code]).toEqual([404, 'AGENT_NOT_FOUND']);
  });

  it('are deleted only by their owner and otherwise stay attached', async () => {
    const app = await createSessionApp();
    await app.attach(GRACE);
    const bob = await app.token(await app.addUser('bob@example.com'));
    const refused = await app.json('DELETE', `/api/agents/${GRACE}/delete`, { credential: bob });
    expect(refused.status).toBe(404);
    await app.settle();
    expect((await app.session()).agentIds).toEqual([GRACE]);
  });
});
