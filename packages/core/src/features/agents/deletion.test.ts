import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { createDetachHandler } from './deletion.ts';
import type { AgentEvents, PublishedAgentEvent } from './events.ts';
import { AGENTS, type AgentRecord } from './records.ts';

const GONE = 'a'.repeat(24);
const OTHER = 'b'.repeat(24);

/** Sessions with the deleted agent, beside one without it. */
async function setUp(count: number) {
  const store = createMemoryStore();
  const sessions = store.collection(SESSIONS);
  const add = (id: string, agentIds: readonly string[]) =>
    sessions.insert({
      id,
      ownerId: 'u',
      agentIds,
      agentsAttachedAt: Object.fromEntries(agentIds.map((agentId) => [agentId, 5])),
    } as Partial<SessionRecord> as SessionRecord);
  for (let number = 0; number < count; number += 1) await add(`s${number}`, [OTHER, GONE]);
  await add('without', [OTHER]);
  const published: PublishedAgentEvent[] = [];
  const agentEvents = {
    publish: (event) => void published.push(event as PublishedAgentEvent),
  } as Partial<AgentEvents> as AgentEvents;
  const handler = createDetachHandler({ store: delayed(store), agentEvents });
  const run = (attempt = 1) =>
    handler.run(
      { payload: { agentId: GONE }, attempt } as unknown as LeasedJob,
      new AbortController().signal,
      async () => undefined,
    );
  return { store, sessions, published, run };
}

describe('deletion of an agent', () => {
  it.each([0, 1, 199, 200, 201, 400, 401])('detaches it from all of %i sessions', async (count) => {
    const { sessions, published, run } = await setUp(count);
    expect(await run()).toBeUndefined();
    expect(await sessions.count({ agentIds: { has: GONE } })).toBe(0);
    expect(await sessions.count({ agentIds: { has: OTHER } })).toBe(count + 1);
    expect(new Set(published.map(({ sessionId }) => sessionId)).size).toBe(count);
    expect(published).toHaveLength(count);
  });

  it('keeps when other agents were attached, and remembers the deleted one', async () => {
    const { sessions, published, run } = await setUp(1);
    await run();
    expect(await sessions.get('s0')).toMatchObject({
      agentIds: [OTHER],
      agentsAttachedAt: { [OTHER]: 5 },
      droppedLinks: [GONE],
    });
    expect((await sessions.get('s0'))?.agentsAttachedAt).not.toHaveProperty(GONE);
    expect(await sessions.get('without')).not.toHaveProperty('droppedLinks');
    expect(published).toEqual([{ type: 'agent_detached', sessionId: 's0', agentId: GONE }]);
  });

  it('detaches nothing while the agent exists, and looks again later', async () => {
    const { store, sessions, published, run } = await setUp(2);
    await store.collection(AGENTS).insert({ id: GONE, ownerId: 'u' } as Partial<AgentRecord> as AgentRecord);
    expect(await run()).toMatchObject({ countAttempt: true });
    expect([await sessions.count({ agentIds: { has: GONE } }), published]).toEqual([2, []]);
    await store.collection(AGENTS).take(GONE);
    expect(await run(2)).toBeUndefined();
    expect(await sessions.count({ agentIds: { has: GONE } })).toBe(0);
  });
});
