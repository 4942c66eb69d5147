import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import type { JobQueue, LeasedJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { createDetachHandler, deleteOwnAgent } from './deletion.ts';
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
  return { store, sessions, published, run, handler };
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

  it('looks at one deletion at a time', async () => {
    expect((await setUp(0)).handler.concurrency).toBe(1);
  });

  it('reads the sessions in pages', async () => {
    const store = createMemoryStore();
    const limits: unknown[] = [];
    const sessions = new Proxy(store.collection(SESSIONS), {
      get: (target, name) =>
        name === 'find'
          ? (...[filter, options]: Parameters<typeof target.find>) => {
              limits.push(options?.limit);
              return target.find(filter, options);
            }
          : Reflect.get(target, name),
    });
    const collection = ((definition: object) =>
      definition === SESSIONS ? sessions : store.collection(AGENTS)) as unknown as Store['collection'];
    const handler = createDetachHandler({ store: { ...store, collection }, agentEvents: {} as AgentEvents });
    const job = { payload: { agentId: GONE }, attempt: 1 } as unknown as LeasedJob;
    await handler.run(job, new AbortController().signal, async () => undefined);
    expect(limits).toEqual([200]);
  });

  it('leaves a session that another change has detached in between', async () => {
    const { store, sessions, published } = await setUp(1);
    const agentEvents = {
      publish: (event) => void published.push(event as PublishedAgentEvent),
    } as Partial<AgentEvents> as AgentEvents;
    const transaction: Store['transaction'] = async (work) => {
      await sessions.update('s0', { agentIds: [OTHER] });
      return store.transaction(work);
    };
    const handler = createDetachHandler({ store: { ...store, transaction }, agentEvents });
    const job = { payload: { agentId: GONE }, attempt: 1 } as unknown as LeasedJob;
    await handler.run(job, new AbortController().signal, async () => undefined);
    expect(published).toEqual([]);
    expect(await sessions.get('s0')).not.toHaveProperty('droppedLinks');
  });
});

describe('request to delete an agent', () => {
  async function setUpOwned() {
    const inner = createMemoryStore();
    const agents = inner.collection(AGENTS);
    await agents.insert({ id: GONE, ownerId: 'u' } as Partial<AgentRecord> as AgentRecord);
    const jobs: unknown[] = [];
    const queue = {
      enqueue: async (job: unknown) => {
        jobs.push([job, (await agents.get(GONE)) !== undefined]);
      },
    } as unknown as JobQueue;
    const services = { store: delayed(inner), queue: delayed(queue, 5) };
    return { agents, jobs, services };
  }

  it('by its owner enqueues the detachment before the agent is gone', async () => {
    const { agents, jobs, services } = await setUpOwned();
    expect(await deleteOwnAgent(services, 'u', GONE)).toBe(true);
    const job = { kind: 'agents.detach', key: `detach:${GONE}`, payload: { agentId: GONE } };
    expect(jobs).toEqual([[job, true]]);
    expect(await agents.get(GONE)).toBeUndefined();
    expect(await deleteOwnAgent(services, 'u', GONE)).toBe(false);
  });

  it('by another user does nothing', async () => {
    const { agents, jobs, services } = await setUpOwned();
    expect(await deleteOwnAgent(services, 'eve', GONE)).toBe(false);
    expect([jobs, await agents.count({})]).toEqual([[], 1]);
  });

  it('deletes no agent that has passed to another user in between', async () => {
    const { agents, jobs, services } = await setUpOwned();
    const queue = {
      enqueue: async () => void (await agents.update(GONE, { ownerId: 'eve' })),
    } as unknown as JobQueue;
    expect(await deleteOwnAgent({ ...services, queue }, 'u', GONE)).toBe(false);
    expect([jobs, await agents.count({})]).toEqual([[], 1]);
  });
});
