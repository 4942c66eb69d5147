import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { type ChatWorld, createChatWorld } from '../support/chat.ts';

const GRACE = 'a'.repeat(24);
const ALAN = 'b'.repeat(24);
const EVE = 'c'.repeat(24);

/** A world with an attached agent, a public one and somebody else's own. */
async function peopled(options: Parameters<typeof createChatWorld>[0] = {}) {
  const world = await createChatWorld(options);
  const other = await world.addUser('bob@example.com');
  await addAgent(world, { id: GRACE, name: 'Grace', systemPrompt: 'Count everything.' });
  await addAgent(world, {
    id: ALAN,
    name: 'Alan',
    ownerId: other.id,
    isPublic: true,
    description: 'Decides.',
  });
  await addAgent(world, { id: EVE, name: 'Eve', ownerId: other.id });
  const { body } = await world.json('POST', '/api/v1/sessions', {
    body: { name: 'Work', agentIds: [GRACE] },
  });
  return { world, sessionId: body.id as string };
}

/** What the model was told before the conversation. */
async function systemOf(world: ChatWorld, body: object): Promise<string> {
  const answer = await world.chat({ wait: true, enableAgents: true, ...body });
  expect(answer.status).toBe(200);
  return JSON.stringify(world.calls.at(-1)?.request.messages[0]);
}

describe('enableAgents', () => {
  it('brings in attached and public agents by their trigger words, whatever the case', async () => {
    const { world, sessionId } = await peopled();
    const both = await systemOf(world, { sessionId, message: 'What do @GRACE and (@alan) say?' });
    expect(both).toMatch(/You speak as Grace.*Count everything.*You speak as Alan. Decides/);
    const one = await systemOf(world, { sessionId, message: '@alan?' });
    expect([one.includes('Grace'), one.includes('Alan')]).toEqual([false, true]);
  });

  it('leaves others alone: unmentioned, unattached, foreign and of longer names', async () => {
    const { world, sessionId } = await peopled();
    for (const message of ['Hello grace', 'mail x@grace', 'mail x@gracely', '@eve', '@alan2', '@']) {
      expect(await systemOf(world, { sessionId, message })).not.toContain('You speak as');
    }
    // Attached nowhere, one's own agent is not meant.
    expect(await systemOf(world, { message: '@grace' })).not.toContain('You speak as');
  });

  it('is needed, or comes with enableTools; the prompt is told where the words come from', async () => {
    const { world, sessionId } = await peopled();
    const message = '@grace';
    expect(await systemOf(world, { sessionId, message, enableAgents: undefined })).not.toContain('Grace');
    expect(
      await systemOf(world, { sessionId, message, enableAgents: false, enableTools: true }),
    ).not.toContain('Grace');
    expect(
      await systemOf(world, { sessionId, message, enableAgents: undefined, enableTools: true }),
    ).toContain('Grace');
    const { body } = await world.chat({
      sessionId,
      message,
      enableAgents: true,
      wait: true,
      includePromptDetails: true,
    });
    expect(body.promptDetails).toContainEqual(
      expect.objectContaining({ source: 'session', name: 'agent:Grace', wasIncluded: true }),
    );
  });

  it('does nothing while the administrator has switched agents off', async () => {
    const { world, sessionId } = await peopled({
      settings: { admin: { DefaultAPIModel: 'scripted', EnableAgents: false } },
    });
    expect(await systemOf(world, { sessionId, message: '@grace' })).not.toContain('Grace');
  });
});

describe('attaching an agent to a session', () => {
  it('takes own and public ones; others are unknown', async () => {
    const { world } = await peopled();
    const attach = async (id: string) =>
      (await world.json('POST', '/api/v1/sessions', { body: { name: 'x', agentIds: [id] } })).body;
    expect((await attach(GRACE)).agentIds).toEqual([GRACE]);
    expect((await attach(ALAN)).agentIds).toEqual([ALAN]);
    expect((await attach(EVE)).error).toBe('Agent not found');
    expect((await attach('0'.repeat(24))).error).toBe('Agent not found');
  });
});
