import { ProviderError } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { answerParts, type ChatWorld, type ChatWorldOptions, createChatWorld } from '../support/chat.ts';
import { useTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const GRACE = 'a'.repeat(24);
const ALAN = 'b'.repeat(24);
const EVE = 'c'.repeat(24);
const TOOL = 'delegate_to_agent';

const offeredTo = (call: ModelCall | undefined): string[] =>
  (call?.request.tools ?? []).map(({ name }) => name);
const isAgent = ({ request }: ModelCall): boolean =>
  JSON.stringify(request.messages[0]).includes('You speak as');

function say(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

/** The results the model was given last. */
const resultsOf = (call: ModelCall | undefined) =>
  (call?.request.messages.at(-1)?.content ?? []).flatMap((part) =>
    part.type === 'tool_result' ? [{ content: part.content, isError: part.isError }] : [],
  );

/** Gives work to an agent, once, and answers with what it was told. */
function delegating(
  agent: string,
  asAgent: (call: ModelCall) => void = (call) => say(call, 'There are 42.'),
): (call: ModelCall) => void {
  return (call) => {
    const [result] = resultsOf(call);
    if (isAgent(call)) asAgent(call);
    else if (result === undefined) useTool(call, TOOL, { agent, task: 'Count the stars in the sky.' });
    else say(call, `I heard: ${result.content}`);
  };
}

/** Gives work to two agents at once. */
function askBoth(call: ModelCall): void {
  for (const agent of ['Grace', 'Alan']) {
    call.say({ type: 'tool_use', id: agent, name: TOOL, arguments: JSON.stringify({ agent, task: 'Go' }) });
  }
  call.end();
}

async function peopled(options: ChatWorldOptions = {}): Promise<ChatWorld> {
  const world = await createChatWorld(options);
  const other = await world.addUser('bob@example.com');
  await addAgent(world, {
    id: GRACE,
    name: 'Grace',
    description: 'Counts things.',
    systemPrompt: 'Count everything.',
    deniedTools: ['dice_roll'],
  });
  await addAgent(world, { id: ALAN, name: 'Alan', ownerId: other.id, isPublic: true });
  await addAgent(world, { id: EVE, name: 'Eve', ownerId: other.id });
  return world;
}

const ASK = { message: 'How many stars are there?', enableAgents: true, wait: true };

describe('delegate_to_agent', () => {
  it('has an agent work in its own manner, within the turn and out of its purse', async () => {
    const world = await peopled({ onCall: delegating('Grace') });
    const { body } = await world.chat(ASK);
    const [first, agent] = world.calls;
    expect(offeredTo(first)).toEqual([TOOL]);
    expect(first?.request.tools?.[0]?.description).toMatch(/- Grace: Counts things\.\n- Alan$/);
    expect(agent?.request.messages).toMatchObject([
      { role: 'system', content: [{ text: expect.stringContaining('Count everything.') }] },
      { role: 'user', content: [{ text: 'Count the stars in the sky.' }] },
    ]);
    expect(body).toMatchObject({
      type: 'message',
      response: 'I heard: There are 42.',
      toolPayloads: [
        {
          type: 'agent',
          payload: { id: GRACE, name: 'Grace', task: 'Count the stars in the sky.', result: 'There are 42.' },
        },
      ],
    });
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ operation, status }) => [operation, status])).toEqual(
      Array.from({ length: 3 }, () => ['sendChatMessage', 'settled']),
    );
    const spent = charges.reduce((sum, { amount }) => sum + amount, 0);
    expect((await world.poll(body.id)).promptMeta).toMatchObject({ credits: spent / 1_000_000 });
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    expect(world.incidents).toEqual([]);
  });

  it('gives the agent the tools of the turn that are its own, and none to ask others', async () => {
    const world = await peopled({
      onCall: delegating('@grace', (call) => {
        if (resultsOf(call).length === 0) useTool(call, 'calculator', { expression: '6*7' });
        else say(call, `It is ${resultsOf(call)[0]?.content}.`);
      }),
    });
    const { body } = await world.chat({ ...ASK, tools: ['calculator', 'dice_roll'] });
    expect(offeredTo(world.calls[0])).toEqual(expect.arrayContaining(['calculator', 'dice_roll', TOOL]));
    expect(offeredTo(world.calls[1])).toEqual(['calculator']);
    expect(body.response).toBe('I heard: It is 42.');
  });

  it('refuses work to an agent that asks another one, and to tools it may not use', async () => {
    const told: unknown[] = [];
    const world = await peopled({
      onCall: delegating('Grace', (call) => {
        if (resultsOf(call).length > 0) {
          told.push(...resultsOf(call));
          return say(call, 'Alone, then.');
        }
        call.say({ type: 'tool_use', id: '1', name: TOOL, arguments: '{"agent":"Alan","task":"x"}' });
        call.say({ type: 'tool_use', id: '2', name: 'dice_roll', arguments: '{}' });
        call.end();
      }),
    });
    await world.chat({ ...ASK, tools: ['calculator', 'dice_roll'] });
    expect(told).toEqual([
      { content: `There is no tool ${TOOL}.`, isError: true },
      { content: 'There is no tool dice_roll.', isError: true },
    ]);
  });

  it.each([
    ['asked for by name', {}, true],
    ['with enableTools', { enableAgents: undefined, enableTools: true }, true],
    ['with a mode, when the message names one', { toolMode: 'smart', message: 'Ask grace' }, true],
    ['with a mode, when it does not', { toolMode: 'smart' }, false],
    ['without the switch', { enableAgents: false, enableTools: true }, false],
    ['with fast', { toolMode: 'fast' }, false],
    ['without automatic offers', { skip_auto_offers: true }, false],
    ['under a prompt mode', { promptMode: 'grounded' }, false],
    ['named, without automatic offers', { skip_auto_offers: true, tools: [TOOL] }, true],
    ['named, without the switch', { enableAgents: false, tools: [TOOL] }, false],
  ])('is offered: %s', async (_name, more, offered) => {
    const world = await peopled();
    const { status } = await world.chat({ ...ASK, ...more, enableMementos: false });
    expect(status).toBe(200);
    expect(offeredTo(world.calls[0]).includes(TOOL)).toBe(offered);
  });

  it('is offered to nobody without agents, and while they are switched off', async () => {
    const lonely = await createChatWorld();
    await lonely.chat(ASK);
    expect(offeredTo(lonely.calls[0])).toEqual([]);
    const off = await peopled({ settings: { admin: { DefaultAPIModel: 'scripted', EnableAgents: false } } });
    await off.chat(ASK);
    expect(offeredTo(off.calls[0])).toEqual([]);
  });

  it("knows no one else's agents", async () => {
    const world = await peopled({ onCall: delegating('Eve') });
    const { body } = await world.chat(ASK);
    expect(body.response).toBe('I heard: There is no agent Eve. There are: Grace, Alan.');
    expect(world.calls).toHaveLength(2);
  });

  it('tells the model when an agent fails, and the turn goes on', async () => {
    const world = await peopled({
      onCall: delegating('Grace', (call) => call.fail(new ProviderError('invalid_request', 'internal'))),
    });
    const { body } = await world.chat(ASK);
    expect(body.response).toMatch(/^I heard: Grace could not do it: /);
    expect(body.response).not.toContain('internal');
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ status }) => status).sort()).toEqual(['released', 'settled', 'settled']);
  });

  it('without credit for one agent more, the turn goes on without that one', async () => {
    const world = await peopled({
      // A call holds some 11 to 14 credits.
      credits: 22,
      onCall: (call) => {
        const results = resultsOf(call);
        if (isAgent(call)) say(call, 'Done.');
        else if (results.length > 0) say(call, results.map(({ content }) => content).join(' / '));
        else askBoth(call);
      },
    });
    const { body } = await world.chat({ ...ASK, max_tokens: 1000 });
    expect(body).toMatchObject({
      type: 'message',
      response: expect.stringMatching(/^Done\. \/ Alan could not do it: Insufficient credits\./),
    });
    expect(world.calls).toHaveLength(3);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });

  it('is broken off by a cancel while the agent speaks; what it said is charged', async () => {
    const world = await peopled({
      onCall: delegating('Grace', (call) => call.say({ type: 'text', text: 'x'.repeat(100) })),
    });
    const { id } = (await world.chat({ ...ASK, wait: false })).body;
    await world.settle();
    await world.json('POST', `/api/v1/quests/${id}/cancel`);
    await world.settle();
    expect(world.calls[1]?.stopped).toBe(true);
    expect(world.calls).toHaveLength(2);
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ status }) => status)).toEqual(['settled', 'settled']);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });

  it('several agents may work at the same time', async () => {
    const world = await peopled({
      onCall: (call) => {
        if (isAgent(call)) return;
        const results = resultsOf(call);
        if (results.length > 0) return say(call, results.map(({ content }) => content).join(' and '));
        askBoth(call);
      },
    });
    const { id } = (await world.chat({ ...ASK, wait: false })).body;
    await world.settle();
    expect(world.calls).toHaveLength(3);
    for (const [index, call] of world.calls.slice(1).reverse().entries()) {
      say(call, `word ${index}`);
      await world.settle();
    }
    expect(await world.poll(id)).toMatchObject({ status: 'done', reply: 'word 1 and word 0' });
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'settled'));
  });
});
