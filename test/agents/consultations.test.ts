import { answered, createToolbox, defineTool } from '@questline/core';
import type { PublishedAgentEvent } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addAgent } from '../support/agents.ts';
import { answerParts, createChatApp, sayAtOnce } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const AGENTS = ['Grace', 'Alan'];
const LETTER = 'send_letter';

/** Sends letters with every role: two at a time, in two rounds, and each agent is asked for the same. */
function writeLetters(call: ModelCall): void {
  const { messages } = call.request;
  const who = AGENTS.find((name) => JSON.stringify(messages[0]).includes(`You speak as ${name}`)) ?? 'Turn';
  const round = messages.filter(({ role }) => role === 'assistant').length + 1;
  const use = (name: string, input: object) =>
    call.say({
      type: 'tool_use',
      id: `${name}-${JSON.stringify(input)}`,
      name,
      arguments: JSON.stringify(input),
    });
  if (round > 2) call.say(...answerParts(`${who} is done.`));
  else for (const copy of [1, 2]) use(LETTER, { to: `${who} ${round}.${copy}` });
  if (who === 'Turn' && round === 1) {
    for (const agent of AGENTS) use('delegate_to_agent', { agent, task: 'Write letters.' });
  }
  call.end();
}

describe('calls of the agents of a turn', () => {
  it('have keys of their own, which differ from those of the turn and of other agents', async () => {
    const keys = new Map<string, string>();
    const letter = defineTool({
      id: LETTER,
      description: 'Sends a letter.',
      input: z.object({ to: z.string() }),
      offered: 'default',
      run({ to }, { callKey }) {
        keys.set(to, callKey);
        return answered('Sent.');
      },
    });
    const app = await createChatApp({
      onCall: writeLetters,
      settings: { admin: { DefaultAPIModel: 'scripted' }, tools: [createToolbox([letter])] },
    });
    for (const [at, name] of AGENTS.entries()) await addAgent(app, { id: `${at}`.repeat(24), name });
    const { body } = await app.chat({
      message: 'Write to all',
      enableAgents: true,
      tools: [LETTER],
      wait: true,
    });
    expect(body).toMatchObject({ type: 'message', response: 'Turn is done.' });
    const id = body.id;
    // The two letters of the turn come first in its round, then its two agents.
    expect(Object.fromEntries(keys)).toEqual({
      ...{ 'Turn 1.1': `${id}:0`, 'Turn 1.2': `${id}:1`, 'Turn 2.1': `${id}:4`, 'Turn 2.2': `${id}:5` },
      ...{ 'Grace 1.1': `${id}:2:0`, 'Grace 1.2': `${id}:2:1`, 'Grace 2.1': `${id}:2:2` },
      ...{ 'Grace 2.2': `${id}:2:3`, 'Alan 1.1': `${id}:3:0`, 'Alan 1.2': `${id}:3:1` },
      ...{ 'Alan 2.1': `${id}:3:2`, 'Alan 2.2': `${id}:3:3` },
    });
  });
});

const GRACE_FAILED = 'Grace failed: The model gave no answer: the provider failed.';

describe('agent that fails within a turn', () => {
  it('is charged for what it said, and the turn goes on', async () => {
    const app = await createChatApp({
      onCall(call) {
        const last = call.request.messages.at(-1)?.content[0];
        if (JSON.stringify(call.request.messages[0]).includes('You speak as')) {
          call.say(
            { type: 'text', text: 'x'.repeat(100) },
            { type: 'usage', usage: { input: 10, output: 40 } },
          );
          return call.fail(new ProviderError('failed', 'secret'));
        }
        if (last?.type === 'tool_result') call.say(...answerParts(last.content));
        else callTool(call, 'delegate_to_agent', { agent: 'Grace', task: 'Go.' });
        call.end();
      },
    });
    await addAgent(app, { id: '1'.repeat(24), name: 'Grace' });
    const { body } = await app.chat({ message: 'Go', enableAgents: true, wait: true });
    expect(body).toMatchObject({ type: 'message', response: GRACE_FAILED });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ status }) => status)).toEqual(['settled', 'settled', 'settled']);
    expect(charges.map(({ amount }) => amount)).toContain(500_000);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});

it('gives the means to consult agents to the tools of a turn, and not to those of an agent', async () => {
  const seen: [string, boolean][] = [];
  const look = defineTool({
    id: LETTER,
    description: 'Looks.',
    input: z.object({ to: z.string() }),
    offered: 'default',
    run({ to }, { consult }) {
      seen.push([to.split(' ')[0] ?? '', consult !== undefined]);
      return answered('Seen.');
    },
  });
  const app = await createChatApp({
    onCall: writeLetters,
    settings: { admin: { DefaultAPIModel: 'scripted' }, tools: [createToolbox([look])] },
  });
  for (const [at, name] of AGENTS.entries()) await addAgent(app, { id: `${at}`.repeat(24), name });
  const events: PublishedAgentEvent[] = [];
  const { body: session } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } });
  await app.services.agentEvents.listen(session.id, (event) => events.push(event));
  const ask = { message: 'Write', sessionId: session.id, enableAgents: true, tools: [LETTER], wait: true };
  await app.chat(ask);
  expect(new Set(seen.map(([who, can]) => `${who} ${can}`))).toEqual(
    new Set(['Turn true', 'Grace false', 'Alan false']),
  );
  // Each agent is named once, as it begins, and all of them with the answer.
  const cards = AGENTS.map((name, at) => ({ id: `${at}`.repeat(24), name }));
  expect(events.filter(({ type }) => type === 'agent_thinking')).toMatchObject(
    cards.map(({ id }) => ({ agents: [id] })),
  );
  expect(events.filter(({ type }) => type === 'agent_response')).toMatchObject([
    { contributingAgents: cards },
  ]);
});

it('names an agent once that is consulted several times', async () => {
  const app = await createChatApp({
    onCall(call) {
      const { messages } = call.request;
      const round = messages.filter(({ role }) => role === 'assistant').length;
      if (JSON.stringify(messages[0]).includes('You speak as')) sayAtOnce('Done.')(call);
      else if (round < 3) callTool(call, 'delegate_to_agent', { agent: AGENTS[round % 2], task: 'Go.' });
      else sayAtOnce('All done.')(call);
    },
  });
  for (const [at, name] of AGENTS.entries()) await addAgent(app, { id: `${at}`.repeat(24), name });
  const { body: session } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } });
  const events: PublishedAgentEvent[] = [];
  await app.services.agentEvents.listen(session.id, (event) => events.push(event));
  await app.chat({ message: 'Go', sessionId: session.id, enableAgents: true, wait: true });
  const [grace, alan] = AGENTS.map((name, at) => ({ id: `${at}`.repeat(24), name }));
  expect(events.filter(({ type }) => type === 'agent_thinking')).toMatchObject(
    [grace, alan, grace].map((agent) => ({ agents: [agent?.id] })),
  );
  // The one that was asked last comes last.
  expect(events.filter(({ type }) => type === 'agent_response')).toMatchObject([
    { contributingAgents: [alan, grace] },
  ]);
});
