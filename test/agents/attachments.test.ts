import type { PublishedAgentEvent } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { createChatWorld } from '../support/chat.ts';
import { NOW } from '../support/world.ts';

const GRACE = 'a'.repeat(24);
const ALAN = 'b'.repeat(24);
const at = (ms: number): string => new Date(NOW + ms).toISOString();

async function createSessionWorld() {
  const world = await createChatWorld();
  await addAgent(world, { id: GRACE, name: 'Grace' });
  await addAgent(world, { id: ALAN, name: 'Alan' });
  const credential = await world.token();
  const sessionId = (await world.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
  const path = `/api/sessions/${sessionId}/agents`;
  const events: PublishedAgentEvent[] = [];
  await world.services.agentEvents.listen(sessionId, (event) => events.push(event));
  return {
    ...world,
    sessionId,
    events,
    attach: (agentId: string) => world.json('POST', path, { body: { agentId }, credential }),
    detach: (agentId: string) => world.json('DELETE', `${path}?agentId=${agentId}`, { credential }),
    attached: async () => (await world.json('GET', path, { credential })).body.agents,
    put: (body: object) => world.json('PUT', `/api/sessions/${sessionId}`, { body }),
    session: async () => (await world.json('GET', `/api/sessions/${sessionId}`)).body,
  };
}

const card = (id: string, name: string) => ({ id, name, avatarUrl: null });

describe('the agents of a session', () => {
  it('are one list, whoever changes it, and every change is told', async () => {
    const world = await createSessionWorld();
    await world.attach(GRACE);
    await world.clock.advance(1000);
    await world.put({ agentIds: [GRACE, ALAN] });
    expect(await world.attached()).toEqual([
      { ...card(GRACE, 'Grace'), attachedAt: at(0) },
      { ...card(ALAN, 'Alan'), attachedAt: at(1000) },
    ]);
    await world.clock.advance(1000);
    await world.detach(GRACE);
    expect((await world.session()).agentIds).toEqual([ALAN]);
    await world.put({ agentIds: [] });
    await world.put({ name: 'Renamed' });
    const { sessionId } = world;
    expect(world.events).toEqual([
      { type: 'agent_attached', sessionId, timestamp: at(0), agent: card(GRACE, 'Grace') },
      { type: 'agent_attached', sessionId, timestamp: at(1000), agent: card(ALAN, 'Alan') },
      { type: 'agent_detached', sessionId, timestamp: at(2000), agentId: GRACE },
      { type: 'agent_detached', sessionId, timestamp: at(2000), agentId: ALAN },
    ]);
  });

  it('are none the worse for many changes at once: one attaches, none is lost', async () => {
    const world = await createSessionWorld();
    const same = await Promise.all(Array.from({ length: 20 }, () => world.attach(GRACE)));
    expect(same.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect(world.events).toHaveLength(1);
    const [alan, gone] = await Promise.all([world.attach(ALAN), world.detach(GRACE)]);
    expect([alan.status, gone.status]).toEqual([200, 200]);
    expect((await world.session()).agentIds).toEqual([ALAN]);
    const ends = await Promise.all(Array.from({ length: 20 }, () => world.detach(ALAN)));
    expect(ends.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
  });

  it('are detached also after they were deleted', async () => {
    const world = await createSessionWorld();
    await world.attach(GRACE);
    const credential = await world.token();
    await world.json('DELETE', `/api/agents/${GRACE}/delete`, { credential });
    expect(await world.attached()).toEqual([]);
    expect((await world.detach(GRACE)).status).toBe(200);
    const again = await world.detach(GRACE);
    expect([again.status, again.body.error.code]).toEqual([404, 'AGENT_NOT_FOUND']);
  });
});
