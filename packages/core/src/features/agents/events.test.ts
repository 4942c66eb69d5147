import { describe, expect, it } from 'vitest';
import { toAgent, toAgentId } from '../../../../../test/support/agent-records.ts';
import type { AgentCard } from '../../contract/agent-card.ts';
import { createMemoryPublisher } from '../../memory/publisher.ts';
import type { Publisher } from '../../ports/publisher.ts';
import type { Incident } from '../../shared/incident.ts';
import {
  type AgentEvent,
  createAgentEvents,
  type PublishedAgentEvent,
  publishAnswer,
  publishThinking,
  toAgentCard,
} from './events.ts';
import type { AgentReach } from './reach.ts';

const TIME = '1970-01-01T00:00:00.050Z';
const CARDS = [1, 2].map((number) => toAgentCard(toAgent(number)));
const [SEEN, HIDDEN] = CARDS as [AgentCard, AgentCard];

/** `ada` may use the first agent only. */
function setUp(publisher: Publisher = createMemoryPublisher()) {
  const incidents: Incident[] = [];
  const agentReach = {
    list: async (userId, ids) =>
      ids.flatMap((id) => (userId === 'ada' && id === SEEN.id ? [toAgent(1)] : [])),
  } as Partial<AgentReach> as AgentReach;
  const events = createAgentEvents({
    ...{ publisher, agentReach, clock: { now: () => 50 } as never },
    onError: (incident) => void incidents.push(incident),
  });
  return { events, incidents };
}

/** Records what is published. */
function record() {
  const published: AgentEvent[] = [];
  const events = { ...setUp().events, publish: (event: AgentEvent) => void published.push(event) };
  return { events, published };
}

describe('events of agents', () => {
  it('reach the listeners of their session with the time', async () => {
    const { events } = setUp();
    const heard: PublishedAgentEvent[] = [];
    const leave = await events.listen('s', (event) => heard.push(event));
    const detached = (sessionId: string) =>
      ({ type: 'agent_detached', sessionId, agentId: SEEN.id }) as const satisfies AgentEvent;
    events.publish(detached('other'));
    events.publish(detached('s'));
    expect(heard).toEqual([{ ...detached('s'), timestamp: TIME }]);
    await leave();
    events.publish(detached('s'));
    expect(heard).toHaveLength(1);
  });

  it('that cannot be published are reported, and break nothing', async () => {
    const error = new Error('unreachable');
    const publish = async () => {
      await new Promise(setImmediate);
      throw error;
    };
    const { events, incidents } = setUp({ ...createMemoryPublisher(), publish });
    events.publish({ type: 'agent_detached', sessionId: 's', agentId: SEEN.id });
    await expect.poll(() => incidents).toEqual([{ operation: 'publish', requestId: '', error }]);
  });

  it('show a reader only the agents that the reader may use', async () => {
    const { events } = setUp();
    const about = { sessionId: 's', timestamp: TIME };
    const show = (event: object, userId = 'ada') =>
      events.show(userId, { ...about, ...event } as PublishedAgentEvent);
    const attached = (agent: AgentCard) => ({ type: 'agent_attached', agent });
    expect(await show(attached(SEEN))).toEqual({ ...about, ...attached(SEEN) });
    expect(await show(attached(HIDDEN))).toBeUndefined();
    expect(await show(attached(SEEN), 'eve')).toBeUndefined();

    const thinking = (...agents: string[]) => ({ type: 'agent_thinking', agents });
    expect(await show(thinking(HIDDEN.id, SEEN.id))).toEqual({ ...about, ...thinking(SEEN.id) });
    expect(await show(thinking(HIDDEN.id))).toBeUndefined();

    const answer = (...contributingAgents: AgentCard[]) => ({
      ...{ type: 'agent_response', messageId: 'q', contributingAgents },
    });
    expect(await show(answer(HIDDEN, SEEN))).toEqual({ ...about, ...answer(SEEN) });
    expect(await show(answer(HIDDEN))).toBeUndefined();

    const detached = { type: 'agent_detached', agentId: HIDDEN.id };
    expect(await show(detached, 'eve')).toEqual({ ...about, ...detached });
  });
});

describe('agents of an answer', () => {
  it('are published when they begin to think, and noted', () => {
    const { events, published } = record();
    expect(publishThinking(events, 's', [])).toEqual({});
    expect(published).toEqual([]);
    expect(publishThinking(events, 's', CARDS)).toEqual({ agents: CARDS });
    expect(published).toEqual([
      { type: 'agent_thinking', sessionId: 's', agents: [toAgentId(1), toAgentId(2)] },
    ]);
  });

  it('are published with the answer, not after a failure or without agents', () => {
    const { events, published } = record();
    const quest = { id: 'q', sessionId: 's', type: 'message', agents: CARDS } as const;
    publishAnswer(events, { ...quest, type: 'error' });
    publishAnswer(events, { id: 'q', sessionId: 's', type: 'message' });
    expect(published).toEqual([]);
    publishAnswer(events, quest);
    expect(published).toEqual([
      { type: 'agent_response', sessionId: 's', messageId: 'q', contributingAgents: CARDS },
    ]);
  });

  it('have a card with their avatar', () => {
    const agent = toAgent(1, { avatarUrl: 'https://a.b', description: 'Secret.' });
    expect(toAgentCard(agent)).toEqual({ id: toAgentId(1), name: 'n1', avatarUrl: 'https://a.b' });
    expect(SEEN.avatarUrl).toBeNull();
  });
});
