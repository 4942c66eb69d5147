import { createToolbox, defineTool } from '@questline/core';
import type { AgentRecord } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addAgent } from '../support/agents.ts';
import { type ChatAppOptions, createChatApp, sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';

const GRACE = 'a'.repeat(24);
const ALAN = 'b'.repeat(24);

const tool = (id: string) =>
  defineTool({
    id,
    description: id,
    input: z.object({}),
    offered: 'requested',
    run: () => ({ content: id, isError: false }),
  });

/** A session with Grace attached, two models and two tools. */
async function createStage(grace: Partial<AgentRecord>, options: ChatAppOptions = {}) {
  const model = createScriptedProvider(sayAtOnce('Hello.'), [
    SCRIPTED_MODEL,
    { ...SCRIPTED_MODEL, id: 'better', prices: { input: 200, output: 200 } },
  ]);
  const app = await createChatApp({
    model,
    key: { scopes: ['ai:chat', 'notebooks:write', 'agents:write'] },
    ...options,
    settings: {
      admin: { DefaultAPIModel: 'scripted' },
      tools: [createToolbox([tool('hammer'), tool('saw')])],
      ...options.settings,
    },
  });
  await addAgent(app, { id: GRACE, name: 'Grace', ...grace });
  const sessionId = (
    await app.json('POST', '/api/v1/sessions', { body: { name: 'Work', agentIds: [GRACE] } })
  ).body.id as string;
  /** The last request to the model. */
  const asked = () => {
    const request = app.calls.at(-1)?.request;
    return {
      model: request?.model,
      temperature: request?.temperature,
      maxTokens: request?.maxTokens,
      tools: request?.tools?.map(({ name }) => name) ?? [],
    };
  };
  return {
    ...app,
    sessionId,
    async say(more: object = {}) {
      const body = { sessionId, message: 'Dear @grace', enableAgents: true, wait: true, ...more };
      const answer = await app.chat(body);
      expect(answer.status).toBe(200);
      return { body: answer.body, ...asked() };
    },
    async run(more: object = {}) {
      const body = { session_id: sessionId, message: 'Do it', agent_id: GRACE, ...more };
      const started = await app.json('POST', '/api/v1/agent-executions', { body });
      while (started.status === 202 && (await isUnderWay(started.body.id))) await app.settle();
      return { status: started.status, body: started.body, ...asked() };
    },
  };

  async function isUnderWay(id: string): Promise<boolean> {
    const { body } = await app.json('GET', `/api/v1/agent-executions/${id}`);
    return ['pending', 'running'].includes(body.status);
  }
}

const GRACES = { preferredModel: 'better', temperature: 0.25, maxTokens: 77 };

describe('options of an attached agent', () => {
  it('set model, temperature and output cap of the turn, at the price of that model', async () => {
    const stage = await createStage(GRACES);
    const turn = await stage.say();
    expect(turn).toMatchObject({ model: 'better', temperature: 0.25, maxTokens: 77 });
    expect(turn.body.model).toBe('better');
    const [charge] = await stage.ledger.charges({ account: stage.account }, 1);
    // 10 input tokens and one output token at 0.02 credits each.
    expect(charge).toMatchObject({ model: 'better', amount: 220_000 });
  });

  it('are overridden by the request, and do not apply to a turn without agents', async () => {
    const stage = await createStage(GRACES);
    const insisting = { model: 'scripted', temperature: 1.5, max_tokens: 9 };
    expect(await stage.say(insisting)).toMatchObject({ model: 'scripted', temperature: 1.5, maxTokens: 9 });
    for (const more of [{ message: 'Dear all' }, { enableAgents: false }]) {
      expect(await stage.say(more)).toMatchObject({
        model: 'scripted',
        temperature: undefined,
        maxTokens: 4096,
      });
    }
  });

  it('also apply in the latest session of a signed-in user', async () => {
    const stage = await createStage(GRACES);
    const { body } = await stage.chat(
      { message: '@grace', enableAgents: true },
      { credential: await stage.token() },
    );
    expect(body).toMatchObject({ sessionId: stage.sessionId, model: 'better' });
  });

  it('are ignored when the model no longer exists', async () => {
    const stage = await createStage({ ...GRACES, preferredModel: 'gone' });
    expect(await stage.say()).toMatchObject({ model: 'scripted', temperature: 0.25 });
  });

  it('do not apply for unattached public agents, except for denied tools', async () => {
    const stage = await createStage({});
    const bob = await stage.addUser('bob@example.com');
    const input = { ownerId: bob.id, isPublic: true, deniedTools: ['saw'] };
    await addAgent(stage, { id: ALAN, name: 'Alan', ...GRACES, ...input });
    const turn = await stage.say({ message: '@alan', tools: ['hammer', 'saw'], skip_auto_offers: true });
    expect(turn).toMatchObject({ model: 'scripted', temperature: undefined, maxTokens: 4096 });
    expect(turn.tools).toEqual(['hammer']);
  });
});

describe('tools of agents in a turn', () => {
  const named = { tools: ['hammer', 'saw'], skip_auto_offers: true };

  it.each([
    ['denied tools are not offered', { deniedTools: ['saw'] }, ['hammer']],
    ['only allowed tools are offered', { allowedTools: ['saw'] }, ['saw']],
    ['deniedTools has priority over allowedTools', { allowedTools: ['saw'], deniedTools: ['saw'] }, []],
    ['an empty allowedTools allows none', { allowedTools: [] }, []],
    ['without both lists all are offered', {}, ['hammer', 'saw']],
  ])('%s', async (_, grace: Partial<AgentRecord>, left) => {
    const stage = await createStage(grace);
    const turn = await stage.say(named);
    expect(turn.tools).toEqual(left);
    expect(turn.body.tools).toEqual({ autoSelectedTools: [], effectiveTools: left, unrecognizedTools: [] });
    expect((await stage.say({ ...named, message: 'Dear all' })).tools).toEqual(['hammer', 'saw']);
  });

  it('are the intersection of the lists of all mentioned agents', async () => {
    const stage = await createStage({ allowedTools: ['hammer', 'saw'] });
    const bob = await stage.addUser('bob@example.com');
    await addAgent(stage, {
      id: ALAN,
      name: 'Alan',
      ownerId: bob.id,
      isPublic: true,
      allowedTools: ['saw', 'file'],
    });
    expect((await stage.say({ ...named, message: '@grace @alan' })).tools).toEqual(['saw']);
  });
});

describe('run of an agent', () => {
  it('uses the options of the agent where the request sets none', async () => {
    const stage = await createStage({ ...GRACES, deniedTools: ['saw'], systemPrompt: 'Count.' });
    const tools = ['hammer', 'saw'];
    const run = await stage.run({ tools });
    expect(run).toMatchObject({ model: 'better', temperature: 0.25, maxTokens: 77 });
    expect(run.tools).toContain('hammer');
    expect(run.tools).not.toContain('saw');
    expect(JSON.stringify(stage.calls.at(-1)?.request.messages[0])).toMatch(/You speak as Grace.*Count\./);
    const insisting = { model: 'scripted', temperature: 1, max_tokens: 9 };
    expect(await stage.run(insisting)).toMatchObject({ model: 'scripted', temperature: 1, maxTokens: 9 });
  });

  it('may use public and shared agents, but no private agent of another user', async () => {
    const stage = await createStage({});
    const bob = await stage.addUser('bob@example.com');
    const add = (id: string, more: Partial<AgentRecord>) =>
      addAgent(stage, { id, name: 'Alan', ownerId: bob.id, ...more });
    await add('1'.repeat(24), { isPublic: true });
    await add('2'.repeat(24), { readerIds: [stage.user.id] });
    await add('3'.repeat(24), {});
    const statuses: number[] = [];
    for (const one of ['1', '2', '3', '4']) {
      statuses.push((await stage.run({ agent_id: one.repeat(24) })).status);
    }
    expect(statuses).toEqual([202, 202, 404, 404]);
    const [foreign, unknown] = await Promise.all(
      ['3', '4'].map(async (one) => (await stage.run({ agent_id: one.repeat(24) })).body.error),
    );
    expect(foreign).toBe(unknown);
  });
});
