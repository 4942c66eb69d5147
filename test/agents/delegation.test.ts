import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { answerParts, type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
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

/** The tool results in the last request to the model. */
const toResults = (call: ModelCall | undefined) =>
  (call?.request.messages.at(-1)?.content ?? []).flatMap((part) =>
    part.type === 'tool_result' ? [{ content: part.content, isError: part.isError }] : [],
  );

/** Calls the delegation tool once and answers with its result. */
function delegating(
  agent: string,
  asAgent: (call: ModelCall) => void = (call) => say(call, 'There are 42.'),
): (call: ModelCall) => void {
  return (call) => {
    const [result] = toResults(call);
    if (isAgent(call)) asAgent(call);
    else if (result === undefined) callTool(call, TOOL, { agent, task: 'Count the stars in the sky.' });
    else say(call, `I heard: ${result.content}`);
  };
}

/** Delegates to two agents in parallel. */
function askBoth(call: ModelCall): void {
  for (const agent of ['Grace', 'Alan']) {
    call.say({ type: 'tool_use', id: agent, name: TOOL, arguments: JSON.stringify({ agent, task: 'Go' }) });
  }
  call.end();
}

async function createAppWithAgents(options: ChatAppOptions = {}): Promise<ChatApp> {
  const app = await createChatApp(options);
  const other = await app.addUser('bob@example.com');
  await addAgent(app, {
    id: GRACE,
    name: 'Grace',
    description: 'Counts things.',
    systemPrompt: 'Count everything.',
    deniedTools: ['dice_roll'],
  });
  await addAgent(app, { id: ALAN, name: 'Alan', ownerId: other.id, isPublic: true });
  await addAgent(app, { id: EVE, name: 'Eve', ownerId: other.id });
  return app;
}

const ASK = { message: 'How many stars are there?', enableAgents: true, wait: true };

describe('tool delegate_to_agent', () => {
  it('runs an agent with its own prompt within the turn and charges the payer of the turn', async () => {
    const app = await createAppWithAgents({ onCall: delegating('Grace') });
    const { body } = await app.chat(ASK);
    const [first, agent] = app.calls;
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
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ operation, status }) => [operation, status])).toEqual(
      Array.from({ length: 3 }, () => ['sendChatMessage', 'settled']),
    );
    const spent = charges.reduce((sum, { amount }) => sum + amount, 0);
    expect((await app.poll(body.id)).promptMeta).toMatchObject({ credits: spent / 1_000_000 });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.incidents).toEqual([]);
  });

  it('gives the agent only its own tools of the turn, without delegation', async () => {
    const app = await createAppWithAgents({
      onCall: delegating('@grace', (call) => {
        if (toResults(call).length === 0) callTool(call, 'calculator', { expression: '6*7' });
        else say(call, `It is ${toResults(call)[0]?.content}.`);
      }),
    });
    const { body } = await app.chat({ ...ASK, tools: ['calculator', 'dice_roll'] });
    expect(offeredTo(app.calls[0])).toEqual(expect.arrayContaining(['calculator', 'dice_roll', TOOL]));
    expect(offeredTo(app.calls[1])).toEqual(['calculator']);
    expect(body.response).toBe('I heard: It is 42.');
  });

  it('rejects delegation by an agent and tools the agent may not use', async () => {
    const reported: unknown[] = [];
    const app = await createAppWithAgents({
      onCall: delegating('Grace', (call) => {
        if (toResults(call).length > 0) {
          reported.push(...toResults(call));
          return say(call, 'Alone, then.');
        }
        call.say({ type: 'tool_use', id: '1', name: TOOL, arguments: '{"agent":"Alan","task":"x"}' });
        call.say({ type: 'tool_use', id: '2', name: 'dice_roll', arguments: '{}' });
        call.end();
      }),
    });
    await app.chat({ ...ASK, tools: ['calculator', 'dice_roll'] });
    expect(reported).toEqual([
      { content: `There is no tool ${TOOL}.`, isError: true },
      { content: 'There is no tool dice_roll.', isError: true },
    ]);
  });

  it.each([
    ['requested by name', {}, true],
    ['with enableTools', { enableAgents: undefined, enableTools: true }, true],
    [
      'offered by a tool mode when the message names an agent',
      { toolMode: 'smart', message: 'Ask grace' },
      true,
    ],
    ['offered by a tool mode when the message names no agent', { toolMode: 'smart' }, false],
    ['without enableAgents', { enableAgents: false, enableTools: true }, false],
    ['with fast', { toolMode: 'fast' }, false],
    ['without automatic offers', { skip_auto_offers: true }, false],
    ['with a prompt mode', { promptMode: 'grounded' }, false],
    ['requested by name without automatic offers', { skip_auto_offers: true, tools: [TOOL] }, true],
    ['requested by name without enableAgents', { enableAgents: false, tools: [TOOL] }, false],
  ])('offers delegation: %s', async (_name, more, offered) => {
    const app = await createAppWithAgents();
    const { status } = await app.chat({ ...ASK, ...more, enableMementos: false });
    expect(status).toBe(200);
    expect(offeredTo(app.calls[0]).includes(TOOL)).toBe(offered);
  });

  it('is not offered without agents or while agents are disabled', async () => {
    const lonely = await createChatApp();
    await lonely.chat(ASK);
    expect(offeredTo(lonely.calls[0])).toEqual([]);
    const off = await createAppWithAgents({
      settings: { admin: { DefaultAPIModel: 'scripted', EnableAgents: false } },
    });
    await off.chat(ASK);
    expect(offeredTo(off.calls[0])).toEqual([]);
  });

  it('rejects agents of other users', async () => {
    const app = await createAppWithAgents({ onCall: delegating('Eve') });
    const { body } = await app.chat(ASK);
    expect(body.response).toBe('I heard: There is no agent Eve. Available agents: Grace, Alan.');
    expect(app.calls).toHaveLength(2);
  });

  it('reports a failed agent to the model, and the turn continues', async () => {
    const app = await createAppWithAgents({
      onCall: delegating('Grace', (call) => call.fail(new ProviderError('invalid_request', 'internal'))),
    });
    const { body } = await app.chat(ASK);
    expect(body.response).toMatch(/^I heard: Grace failed: /);
    expect(body.response).not.toContain('internal');
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ status }) => status).sort()).toEqual(['released', 'settled', 'settled']);
  });

  it('continues the turn without an agent when credits are insufficient for it', async () => {
    const app = await createAppWithAgents({
      // A call holds 11 to 14 credits.
      credits: 22,
      onCall: (call) => {
        const results = toResults(call);
        if (isAgent(call)) say(call, 'Done.');
        else if (results.length > 0) say(call, results.map(({ content }) => content).join(' / '));
        else askBoth(call);
      },
    });
    const { body } = await app.chat({ ...ASK, max_tokens: 1000 });
    expect(body).toMatchObject({
      type: 'message',
      response: expect.stringMatching(/^Done\. \/ Alan failed: Insufficient credits\./),
    });
    expect(app.calls).toHaveLength(3);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('stops on cancel while the agent answers, and charges its output', async () => {
    const app = await createAppWithAgents({
      onCall: delegating('Grace', (call) => call.say({ type: 'text', text: 'x'.repeat(100) })),
    });
    const { id } = (await app.chat({ ...ASK, wait: false })).body;
    await app.settle();
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(app.calls[1]?.stopped).toBe(true);
    expect(app.calls).toHaveLength(2);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ status }) => status)).toEqual(['settled', 'settled']);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('runs several agents in parallel', async () => {
    const app = await createAppWithAgents({
      onCall: (call) => {
        if (isAgent(call)) return;
        const results = toResults(call);
        if (results.length > 0) return say(call, results.map(({ content }) => content).join(' and '));
        askBoth(call);
      },
    });
    const { id } = (await app.chat({ ...ASK, wait: false })).body;
    await app.settle();
    expect(app.calls).toHaveLength(3);
    for (const [index, call] of app.calls.slice(1).reverse().entries()) {
      say(call, `word ${index}`);
      await app.settle();
    }
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'word 1 and word 0' });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'settled'));
  });
});
