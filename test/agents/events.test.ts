import type { PublishedAgentEvent } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { type ChatWorld, createChatWorld, sayAtOnce } from '../support/chat.ts';
import { NOW } from '../support/world.ts';

const GRACE = 'a'.repeat(24);
const AVATAR = 'https://example.com/grace.png';

/** A session with an agent, and what is heard of it. */
async function listening(options: Parameters<typeof createChatWorld>[0] = {}) {
  const world = await createChatWorld(options);
  await addAgent(world, { id: GRACE, name: 'Grace', avatarUrl: AVATAR });
  const { body } = await world.json('POST', '/api/v1/sessions', {
    body: { name: 'Work', agentIds: [GRACE] },
  });
  const sessionId = body.id as string;
  const events: PublishedAgentEvent[] = [];
  await world.services.agentEvents.listen(sessionId, (event) => events.push(event));
  return { world, sessionId, events };
}

const timestamp = new Date(NOW).toISOString();

async function say(world: ChatWorld, sessionId: string, message: string): Promise<string> {
  const { body } = await world.chat({ sessionId, message, wait: true, enableAgents: true });
  return body.id as string;
}

describe('what is told of the agents of a session', () => {
  it('is that they think, and that their answer is ready', async () => {
    const { world, sessionId, events } = await listening();
    const questId = await say(world, sessionId, 'Dear @grace');
    expect(events).toEqual([
      { type: 'agent_thinking', sessionId, timestamp, agents: [GRACE] },
      {
        type: 'agent_response',
        sessionId,
        timestamp,
        messageId: questId,
        contributingAgents: [{ id: GRACE, name: 'Grace', avatarUrl: AVATAR }],
      },
    ]);
  });

  it('is the same for a run that uses one', async () => {
    const { world, sessionId, events } = await listening();
    const { body } = await world.json('POST', '/api/v1/agent-executions', {
      body: { session_id: sessionId, message: 'Count', agent_id: GRACE },
    });
    while (events.length < 2) await world.settle();
    expect(events.map(({ type }) => type)).toEqual(['agent_thinking', 'agent_response']);
    expect(events[1]).toMatchObject({ messageId: body.id, contributingAgents: [{ id: GRACE }] });
  });

  it('is nothing when no agent speaks, and no answer when there is none', async () => {
    const { world, sessionId, events } = await listening({
      onCall: (call) => {
        if (JSON.stringify(call.request.messages).includes('fail')) throw new Error('broken');
        return sayAtOnce('Hello.')(call);
      },
    });
    await say(world, sessionId, 'Hello');
    expect(events).toEqual([]);
    const { body } = await world.chat({ sessionId, message: '@grace, fail', enableAgents: true });
    while ((await world.poll(body.id)).status !== 'done') await world.clock.advance(1000);
    await world.settle();
    expect(events.map(({ type }) => type)).toEqual(['agent_thinking']);
  });

  it('stays with the session it belongs to, and ends with the listening', async () => {
    const { world, sessionId, events } = await listening();
    const other: PublishedAgentEvent[] = [];
    const stop = await world.services.agentEvents.listen('b'.repeat(24), (event) => other.push(event));
    await say(world, sessionId, '@grace');
    await stop();
    world.services.agentEvents.tell({
      type: 'agent_detached',
      sessionId: 'b'.repeat(24),
      agentId: GRACE,
    });
    expect([events.length, other.length]).toEqual([2, 0]);
  });
});
