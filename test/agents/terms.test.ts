import { type AgentRecord, createToolbox, defineTool } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addAgent } from '../support/agents.ts';
import { type ChatWorldOptions, createChatWorld, sayAtOnce } from '../support/chat.ts';
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

/** A session that Grace is attached to, two models to ask and two tools to name. */
async function createStage(grace: Partial<AgentRecord>, options: ChatWorldOptions = {}) {
  const model = createScriptedProvider(sayAtOnce('Hello.'), [
    SCRIPTED_MODEL,
    { ...SCRIPTED_MODEL, id: 'better', prices: { input: 200, output: 200 } },
  ]);
  const world = await createChatWorld({
    model,
    key: { scopes: ['ai:chat', 'notebooks:write', 'agents:write'] },
    ...options,
    settings: {
      admin: { DefaultAPIModel: 'scripted' },
      tools: [createToolbox([tool('hammer'), tool('saw')])],
      ...options.settings,
    },
  });
  await addAgent(world, { id: GRACE, name: 'Grace', ...grace });
  const sessionId = (
    await world.json('POST', '/api/v1/sessions', { body: { name: 'Work', agentIds: [GRACE] } })
  ).body.id as string;
  /** What the model was asked. */
  const asked = () => {
    const request = world.calls.at(-1)?.request;
    return {
      model: request?.model,
      temperature: request?.temperature,
      maxTokens: request?.maxTokens,
      tools: request?.tools?.map(({ name }) => name) ?? [],
    };
  };
  return {
    ...world,
    sessionId,
    async say(more: object = {}) {
      const body = { sessionId, message: 'Dear @grace', enableAgents: true, wait: true, ...more };
      const answer = await world.chat(body);
      expect(answer.status).toBe(200);
      return { body: answer.body, ...asked() };
    },
    async run(more: object = {}) {
      const body = { session_id: sessionId, message: 'Do it', agent_id: GRACE, ...more };
      const started = await world.json('POST', '/api/v1/agent-executions', { body });
      while (started.status === 202 && (await isUnderWay(started.body.id))) await world.settle();
      return { status: started.status, body: started.body, ...asked() };
    },
  };

  async function isUnderWay(id: string): Promise<boolean> {
    const { body } = await world.json('GET', `/api/v1/agent-executions/${id}`);
    return ['pending', 'running'].includes(body.status);
  }
}

const GRACES = { preferredModel: 'better', temperature: 0.25, maxTokens: 77 };

describe('what an attached agent wants of a turn', () => {
  it('is done: its model, warmth and length, at the price of that model', async () => {
    const stage = await createStage(GRACES);
    const turn = await stage.say();
    expect(turn).toMatchObject({ model: 'better', temperature: 0.25, maxTokens: 77 });
    expect(turn.body.model).toBe('better');
    const [charge] = await stage.ledger.charges({ account: stage.account }, 1);
    // 10 tokens of input and one of output, each for two hundredths of a credit.
    expect(charge).toMatchObject({ model: 'better', amount: 220_000 });
  });

  it('yields to what the request says, and to nothing when it is not spoken to', async () => {
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

  it('counts in the latest session of who is signed in, too', async () => {
    const stage = await createStage(GRACES);
    const { body } = await stage.chat(
      { message: '@grace', enableAgents: true },
      { credential: await stage.token() },
    );
    expect(body).toMatchObject({ sessionId: stage.sessionId, model: 'better' });
  });

  it('is forgotten as far as the model is gone', async () => {
    const stage = await createStage({ ...GRACES, preferredModel: 'gone' });
    expect(await stage.say()).toMatchObject({ model: 'scripted', temperature: 0.25 });
  });

  it('is not done for public agents that nobody attached, but for the tools they deny', async () => {
    const stage = await createStage({});
    const bob = await stage.addUser('bob@example.com');
    const wish = { ownerId: bob.id, isPublic: true, deniedTools: ['saw'] };
    await addAgent(stage, { id: ALAN, name: 'Alan', ...GRACES, ...wish });
    const turn = await stage.say({ message: '@alan', tools: ['hammer', 'saw'], skip_auto_offers: true });
    expect(turn).toMatchObject({ model: 'scripted', temperature: undefined, maxTokens: 4096 });
    expect(turn.tools).toEqual(['hammer']);
  });
});

describe('the tools of agents in a turn', () => {
  const named = { tools: ['hammer', 'saw'], skip_auto_offers: true };

  it.each([
    ['denied ones are not offered', { deniedTools: ['saw'] }, ['hammer']],
    ['allowed ones are offered and no others', { allowedTools: ['saw'] }, ['saw']],
    ['denied wins over allowed', { allowedTools: ['saw'], deniedTools: ['saw'] }, []],
    ['none allowed is none', { allowedTools: [] }, []],
    ['nothing said is all', {}, ['hammer', 'saw']],
  ])('%s', async (_, grace: Partial<AgentRecord>, left) => {
    const stage = await createStage(grace);
    const turn = await stage.say(named);
    expect(turn.tools).toEqual(left);
    expect(turn.body.tools).toEqual({ autoSelectedTools: [], effectiveTools: left, unrecognizedTools: [] });
    expect((await stage.say({ ...named, message: 'Dear all' })).tools).toEqual(['hammer', 'saw']);
  });

  it('are those that all of several leave', async () => {
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

describe('a run that uses an agent', () => {
  it('does what the agent wants, where it says nothing itself', async () => {
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

  it('may use public and shared ones, and none of somebody else', async () => {
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
