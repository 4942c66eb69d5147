import { SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { createChatApp } from '../support/chat.ts';
import { createCountingStore } from '../support/store.ts';

/* Sessions stored before lists had a maximum: 38,000 equal or different entries. */

const OLD_LENGTH = 38_000;

async function setUp(length: number) {
  const counting = createCountingStore();
  const app = await createChatApp({ store: counting.wrap });
  const agent = await addAgent(app, { id: 'a'.repeat(24), name: 'Muse' });
  const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Old' } });
  const others = Array.from({ length: length - 1 }, (_, at) => at.toString(16).padStart(24, 'f'));
  await app.services.store.collection(SESSIONS).update(body.id, {
    agentIds: [agent.id, ...others],
    knowledgeIds: others,
    enabledTools: ['dice', ...others.map((_, at) => (at % 2 === 0 ? 'delegate_to_agent' : `tool${at}`))],
  });
  counting.calls = 0;
  return { app, counting, agent, id: body.id as string };
}

const USES: Readonly<
  Record<string, (app: Awaited<ReturnType<typeof createChatApp>>, id: string) => Promise<number>>
> = {
  'its agents are listed': async (app, id) =>
    (await app.json('GET', `/api/sessions/${id}/agents`, { credential: await app.token() })).status,
  'a message is sent': async (app, id) =>
    (await app.chat({ sessionId: id, message: 'hey @muse', enableAgents: true, enableTools: true })).status,
  'it is loaded': async (app, id) => (await app.json('GET', `/api/sessions/${id}`)).status,
  'it is cloned': async (app, id) =>
    (await app.json('POST', `/api/v1/sessions/${id}/clone`, { body: {} })).status,
  'its lists are replaced': async (app, id) =>
    (await app.json('PUT', `/api/sessions/${id}`, { body: { agentIds: [], knowledgeIds: [] } })).status,
};

describe('session with stored lists above the maximum', () => {
  it.each(Object.entries(USES))('uses no more store calls when %s', async (_, use) => {
    const few = await setUp(2);
    expect(await use(few.app, few.id)).toBe(200);
    const callsOfFew = few.counting.calls;
    const many = await setUp(OLD_LENGTH);
    expect(await use(many.app, many.id)).toBe(200);
    expect(many.counting.calls).toBeLessThanOrEqual(callsOfFew + 4);
  });

  it('uses the first agents of the list', async () => {
    const { app, agent, id } = await setUp(OLD_LENGTH);
    const { body } = await app.json('GET', `/api/sessions/${id}/agents`, {
      credential: await app.token(),
    });
    expect(body.agents).toEqual([expect.objectContaining({ id: agent.id })]);
  });

  it('accepts no further agents', async () => {
    const { app, id } = await setUp(100);
    const { id: agentId } = await addAgent(app, { id: 'b'.repeat(24), name: 'Other' });
    const { status, body } = await app.json('POST', `/api/sessions/${id}/agents`, {
      credential: await app.token(),
      body: { agentId },
    });
    expect([status, body.error.message]).toEqual([422, 'agentId: the session has the maximum of 100 agents']);
  });
});
