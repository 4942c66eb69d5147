import { describe, expect, it } from 'vitest';
import { toAgent, toAgentId } from '../../../../../test/support/agent-records.ts';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { MAX_SESSION_AGENTS, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { attachAgent, attachedAgents, detachAgent } from './attachments.ts';
import type { AgentEvent, AgentEvents } from './events.ts';
import { createAgentReach } from './reach.ts';
import { AGENTS } from './records.ts';

const NEW = toAgentId(1);
const OLD = toAgentId(2);
const GONE = toAgentId(9);
const TIME = { agentsAttachedAt: { [OLD]: 5 }, firstCreated: 3, lastUpdated: 4 };

/** A session of `ada` with one agent, which `bob` may change and `eve` may read. */
async function setUp(session: Partial<SessionRecord> = {}) {
  const store = createMemoryStore();
  for (const number of [1, 2]) await store.collection(AGENTS).insert(toAgent(number));
  const sessions = store.collection(SESSIONS);
  const record = {
    id: 's',
    ownerId: 'ada',
    agentIds: [OLD],
    readerIds: ['eve'],
    writerIds: ['bob'],
    ...TIME,
  };
  await sessions.insert({ ...record, ...session } as Partial<SessionRecord> as SessionRecord);
  const adminSettings = {
    current: async () => ({ AgentPublishing: 'approval' }),
  } as unknown as AdminSettingsReader;
  const published: AgentEvent[] = [];
  const services = {
    store: delayed(store),
    clock: { now: () => 50 } as never,
    agentReach: createAgentReach({ store, adminSettings }),
    agentEvents: { publish: (event) => void published.push(event) } as Partial<AgentEvents> as AgentEvents,
  };
  return {
    ...{ published, services, sessions },
    attach: (agentId = NEW, userId = 'ada') => attachAgent(services, userId, 's', agentId),
    detach: (agentId = OLD, userId = 'ada') => detachAgent(services, userId, 's', agentId),
  };
}

describe('attachment of an agent', () => {
  it('keeps the times of the others, and is stored before it is published', async () => {
    const { attach, sessions, published } = await setUp();
    const agent = { id: NEW, name: 'n1', avatarUrl: null };
    expect(await attach()).toEqual({ agent, attachedAt: 50 });
    expect(await sessions.get('s')).toMatchObject({
      agentIds: [OLD, NEW],
      agentsAttachedAt: { [OLD]: 5, [NEW]: 50 },
      lastUpdated: 50,
    });
    expect(published).toEqual([{ type: 'agent_attached', sessionId: 's', agent }]);
  });

  it('is refused a second time, and above the maximum', async () => {
    const { attach, sessions, published } = await setUp();
    await expect(attach(OLD)).rejects.toMatchObject({
      status: 409,
      applicationCode: 'AGENT_ALREADY_ATTACHED',
    });
    const ids = (count: number) => Array.from({ length: count }, (_, at) => toAgentId(100 + at));
    await sessions.update('s', { agentIds: ids(MAX_SESSION_AGENTS) });
    await expect(attach()).rejects.toMatchObject({ status: 422 });
    expect(published).toEqual([]);
    await sessions.update('s', { agentIds: ids(MAX_SESSION_AGENTS - 1) });
    await attach();
    expect((await sessions.get('s'))?.agentIds).toHaveLength(MAX_SESSION_AGENTS);
  });

  it.each([
    ['a reader of the session', 'eve', NEW, 403],
    ['a stranger', 'mallory', NEW, 404],
    ['a user with a write share, of an agent of another user', 'bob', NEW, 404],
    ['the owner, of an agent that does not exist', 'ada', GONE, 404],
  ])('is refused for %s', async (_, userId, agentId, status) => {
    const { attach, detach, sessions } = await setUp();
    await expect(attach(agentId, userId)).rejects.toMatchObject({ status });
    if (userId !== 'bob') await expect(detach(agentId, userId)).rejects.toMatchObject({ status });
    expect(await sessions.get('s')).toMatchObject({ agentIds: [OLD], lastUpdated: 4 });
  });

  it('has the time of the session where its own is unknown', async () => {
    const { services } = await setUp({ agentIds: [OLD, NEW] });
    const found = await attachedAgents(services, 'ada', 's');
    expect(found.map(({ agent, attachedAt }) => [agent.id, attachedAt])).toEqual([
      [OLD, 5],
      [NEW, 3],
    ]);
    await expect(attachedAgents(services, 'mallory', 's')).rejects.toMatchObject({ status: 404 });
  });
});

describe('detachment of an agent', () => {
  it('forgets its time, and is stored before it is published', async () => {
    const { attach, detach, sessions, published } = await setUp();
    await attach();
    expect(await detach()).toBe(50);
    const session = await sessions.get('s');
    expect([session?.agentIds, session?.agentsAttachedAt, session?.lastUpdated]).toEqual([
      [NEW],
      { [NEW]: 50 },
      50,
    ]);
    expect(published.at(-1)).toEqual({ type: 'agent_detached', sessionId: 's', agentId: OLD });
  });

  it('changes the time of the last change', async () => {
    const { detach, sessions } = await setUp();
    await detach();
    expect((await sessions.get('s'))?.lastUpdated).toBe(50);
  });

  it('is refused for an agent that is not attached', async () => {
    const { detach, published } = await setUp();
    await expect(detach(NEW)).rejects.toMatchObject({
      status: 409,
      applicationCode: 'AGENT_NOT_ATTACHED',
    });
    expect(published).toEqual([]);
  });
});
