import { AGENTS, SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { NOW } from '../support/test-app.ts';

const GRACE = 'a'.repeat(24);
const ALAN = 'b'.repeat(24);
const EVE = 'c'.repeat(24);

/** An app with an attached agent, a public agent and a private agent of another user. */
async function createAppWithAgents(options: Parameters<typeof createChatApp>[0] = {}) {
  const app = await createChatApp(options);
  const other = await app.addUser('bob@example.com');
  await addAgent(app, { id: GRACE, name: 'Grace', systemPrompt: 'Count everything.' });
  await addAgent(app, {
    id: ALAN,
    name: 'Alan',
    ownerId: other.id,
    isPublic: true,
    description: 'Decides.',
  });
  await addAgent(app, { id: EVE, name: 'Eve', ownerId: other.id });
  const { body } = await app.json('POST', '/api/v1/sessions', {
    body: { name: 'Work', agentIds: [GRACE] },
  });
  return { app, sessionId: body.id as string };
}

/** The system text that the model receives. */
async function getSystem(app: ChatApp, body: object): Promise<string> {
  const answer = await app.chat({ wait: true, enableAgents: true, ...body });
  expect(answer.status).toBe(200);
  return JSON.stringify(app.calls.at(-1)?.request.messages);
}

describe('option enableAgents', () => {
  it('adds attached and public agents by trigger words, ignoring case', async () => {
    const { app, sessionId } = await createAppWithAgents();
    const both = await getSystem(app, { sessionId, message: 'What do @GRACE and (@alan) say?' });
    expect(both).toMatch(/You speak as Grace.*Count everything.*You speak as Alan. Decides/);
    const one = await getSystem(app, { sessionId, message: '@alan?' });
    expect([one.includes('Grace'), one.includes('Alan')]).toEqual([false, true]);
  });

  it('ignores agents that are not mentioned, belong to others or have a longer name', async () => {
    const { app, sessionId } = await createAppWithAgents();
    for (const message of ['Hello grace', 'mail x@grace', 'mail x@gracely', '@eve', '@alan2', '@']) {
      expect(await getSystem(app, { sessionId, message })).not.toContain('You speak as');
    }
  });

  it('adds own and shared agents, attached or not', async () => {
    const { app } = await createAppWithAgents();
    expect(await getSystem(app, { message: '@grace' })).toContain('You speak as Grace');
    await app.services.store.collection(AGENTS).update(EVE, { readerIds: [app.user.id] });
    expect(await getSystem(app, { message: '@eve' })).toContain('You speak as Eve');
  });

  it('prefers the attached agent, then the own one, then the oldest public one with the same trigger word', async () => {
    const { app, sessionId } = await createAppWithAgents();
    const bob = { ownerId: 'e'.repeat(24), isPublic: true, triggerWords: ['@grace', '@alan'] };
    await addAgent(app, { id: '1'.repeat(24), name: 'Impostor', ...bob, createdAt: NOW + 1 });
    expect(await getSystem(app, { sessionId, message: '@grace' })).not.toContain('Impostor');
    expect(await getSystem(app, { message: '@grace' })).not.toContain('Impostor');
    expect(await getSystem(app, { message: '@alan' })).not.toContain('Impostor');
  });

  it('adds an agent that the session owner attached for other writers, but no agent of another user', async () => {
    const { app, sessionId } = await createAppWithAgents();
    const bob = await app.addUser('carol@example.com');
    await app.ledger.grant({ account: `user:${bob.id}`, amount: 1e9, key: 'c', reason: 'c' });
    await app.services.store
      .collection(SESSIONS)
      .update(sessionId, { writerIds: [bob.id], agentIds: [GRACE, EVE] });
    const credential = await app.token(bob);
    await app.chat({ sessionId, message: '@grace @eve', wait: true, enableAgents: true }, { credential });
    const sent = JSON.stringify(app.calls.at(-1)?.request);
    expect([sent.includes('You speak as Grace'), sent.includes('Eve')]).toEqual([true, false]);
  });

  it('is required unless enableTools is set; the prompt names the agents of its parts', async () => {
    const { app, sessionId } = await createAppWithAgents();
    const message = '@grace';
    expect(await getSystem(app, { sessionId, message, enableAgents: undefined })).not.toContain('Grace');
    expect(
      await getSystem(app, { sessionId, message, enableAgents: false, enableTools: true }),
    ).not.toContain('Grace');
    expect(
      await getSystem(app, { sessionId, message, enableAgents: undefined, enableTools: true }),
    ).toContain('Grace');
    const { body } = await app.chat({
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

  it('has no effect while agents are disabled', async () => {
    const { app, sessionId } = await createAppWithAgents({
      settings: { admin: { DefaultAPIModel: 'scripted', EnableAgents: false } },
    });
    expect(await getSystem(app, { sessionId, message: '@grace' })).not.toContain('Grace');
  });
});

describe('attachment of an agent to a session', () => {
  it('accepts own and public agents and rejects others as unknown', async () => {
    const { app } = await createAppWithAgents();
    const attach = async (id: string) =>
      (await app.json('POST', '/api/v1/sessions', { body: { name: 'x', agentIds: [id] } })).body;
    expect((await attach(GRACE)).agentIds).toEqual([GRACE]);
    expect((await attach(ALAN)).agentIds).toEqual([ALAN]);
    expect((await attach(EVE)).error).toBe(`Agent ${EVE} not found`);
    expect((await attach('0'.repeat(24))).error).toBe(`Agent ${'0'.repeat(24)} not found`);
  });
});
