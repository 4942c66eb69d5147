import { type PublishedAgentEvent, SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { type ChatApp, createChatApp, sayAtOnce } from '../support/chat.ts';
import { NOW } from '../support/test-app.ts';

const GRACE = 'a'.repeat(24);
const AVATAR = 'https://example.com/grace.png';

/** A session with an attached agent and the events that it publishes. */
async function listening(options: Parameters<typeof createChatApp>[0] = {}) {
  const app = await createChatApp(options);
  await addAgent(app, { id: GRACE, name: 'Grace', avatarUrl: AVATAR });
  const { body } = await app.json('POST', '/api/v1/sessions', {
    body: { name: 'Work', agentIds: [GRACE] },
  });
  const sessionId = body.id as string;
  const events: PublishedAgentEvent[] = [];
  await app.services.agentEvents.listen(sessionId, (event) => events.push(event));
  return { app, sessionId, events };
}

const timestamp = new Date(NOW).toISOString();

async function say(app: ChatApp, sessionId: string, message: string): Promise<string> {
  const { body } = await app.chat({ sessionId, message, wait: true, enableAgents: true });
  return body.id as string;
}

describe('session agents in the view of a reader', () => {
  it('contains no more than HTTP returns: only the detachment of agents that the reader may not use', async () => {
    const { app, sessionId, events } = await listening();
    const bob = await app.addUser('bob@example.com');
    await app.services.store.collection(SESSIONS).update(sessionId, { readerIds: [bob.id] });
    const ALAN = 'b'.repeat(24);
    await addAgent(app, { id: ALAN, name: 'Alan', isPublic: true });
    await say(app, sessionId, '@grace and @alan');
    const path = `/api/sessions/${sessionId}/agents` as const;
    const asAda = { credential: await app.token() };
    await app.json('POST', path, { body: { agentId: ALAN }, ...asAda });
    await app.json('DELETE', `${path}?agentId=${GRACE}`, asAda);
    await app.json('POST', path, { body: { agentId: GRACE }, ...asAda });
    const shown = async (userId: string) =>
      (await Promise.all(events.map((event) => app.services.agentEvents.show(userId, event)))).filter(
        (event) => event !== undefined,
      );
    expect(await shown(app.user.id)).toEqual(events);
    const alan = { id: ALAN, name: 'Alan', avatarUrl: null };
    expect(await shown(bob.id)).toMatchObject([
      { type: 'agent_thinking', agents: [ALAN] },
      { type: 'agent_response', contributingAgents: [alan] },
      { type: 'agent_attached', agent: alan },
      { type: 'agent_detached', agentId: GRACE },
    ]);
    const listed = await app.json('GET', path, { credential: await app.token(bob) });
    expect(listed.body.agents.map(({ id }: { id: string }) => id)).toEqual([ALAN]);
    expect(JSON.stringify(await shown(bob.id))).not.toContain('Grace');
  });
});

describe('agent events of a session', () => {
  it('report that agents think and that their answer is ready', async () => {
    const { app, sessionId, events } = await listening();
    const questId = await say(app, sessionId, 'Dear @grace');
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

  it('are the same for an agent run', async () => {
    const { app, sessionId, events } = await listening();
    const { body } = await app.json('POST', '/api/v1/agent-executions', {
      body: { session_id: sessionId, message: 'Count', agent_id: GRACE },
    });
    while (events.length < 2) await app.settle();
    expect(events.map(({ type }) => type)).toEqual(['agent_thinking', 'agent_response']);
    expect(events[1]).toMatchObject({ messageId: body.id, contributingAgents: [{ id: GRACE }] });
  });

  it('are absent without an agent; a turn without an answer has no answer event', async () => {
    const { app, sessionId, events } = await listening({
      onCall: (call) => {
        if (JSON.stringify(call.request.messages).includes('fail')) throw new Error('broken');
        return sayAtOnce('Hello.')(call);
      },
    });
    await say(app, sessionId, 'Hello');
    expect(events).toEqual([]);
    const { body } = await app.chat({ sessionId, message: '@grace, fail', enableAgents: true });
    while ((await app.poll(body.id)).status !== 'done') await app.clock.advance(1000);
    await app.settle();
    expect(events.map(({ type }) => type)).toEqual(['agent_thinking']);
  });

  it('stay in their session and end with the subscription', async () => {
    const { app, sessionId, events } = await listening();
    const other: PublishedAgentEvent[] = [];
    const stop = await app.services.agentEvents.listen('b'.repeat(24), (event) => other.push(event));
    await say(app, sessionId, '@grace');
    await stop();
    app.services.agentEvents.publish({
      type: 'agent_detached',
      sessionId: 'b'.repeat(24),
      agentId: GRACE,
    });
    expect([events.length, other.length]).toEqual([2, 0]);
  });
});
