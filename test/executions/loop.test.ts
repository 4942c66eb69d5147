import { answered, createToolbox, defineTool } from '@questline/core';
import { AGENTS, STEPS } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerParts, sayAtOnce, silent } from '../support/chat.ts';
import { callTool, createExecutionApp } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';
import { createBreakableStore } from '../support/store.ts';

/** A model that performs one step per round. */
function script(...rounds: ((call: ModelCall) => void)[]): (call: ModelCall) => void {
  let round = 0;
  return (call) => {
    rounds[round]?.(call);
    round += 1;
  };
}

const letter = defineTool({
  id: 'send_letter',
  description: 'Sends a letter.',
  input: z.object({ to: z.string() }),
  offered: 'default',
  gated: true,
  run: ({ to }, { callKey }) => answered(`sent to ${to} as ${callKey.slice(24)}`),
});
const tools = [createToolbox([letter])];

describe('agent run', () => {
  it('thinks, acts, observes and answers, with every step recorded', async () => {
    const app = await createExecutionApp({
      onCall: script(
        (call) => callTool(call, 'calculator', { expression: '6*7' }, 'I compute.'),
        sayAtOnce('It is 42.'),
      ),
    });
    const { status, body } = await app.run();
    expect(status).toBe(202);
    await app.settle();
    expect(await app.look(body.id)).toMatchObject({
      status: 'completed',
      answer: 'It is 42.',
      error: null,
      session_id: app.sessionId,
      total_iterations: 2,
      steps: [
        { type: 'thought', content: 'I compute.', iteration: 1 },
        { type: 'action', content: '{"expression":"6*7"}', iteration: 1, tool_name: 'calculator' },
        { type: 'observation', content: '42', iteration: 1, tool_name: 'calculator' },
        { type: 'final_answer', content: 'It is 42.', iteration: 2 },
      ],
    });
    expect(app.calls[1]?.request.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: [{ type: 'text' }, { type: 'tool_use', name: 'calculator' }] },
      { role: 'user', content: [{ type: 'tool_result', content: '42', isError: false }] },
    ]);
    // Each step is held and settled separately: 15 and 13 tokens.
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ amount, status: end }) => [amount, end]).sort()).toEqual([
      [130_000, 'settled'],
      [150_000, 'settled'],
    ]);
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: 999_720_000, held: 0 });
  });

  it('shows its steps while it runs', async () => {
    const app = await createExecutionApp({
      onCall: script((call) => callTool(call, 'calculator', { expression: '1+1' }, 'First.'), silent),
    });
    const { id } = (await app.run()).body;
    await app.settle();
    const { status, steps, answer, total_iterations } = await app.look(id);
    expect([status, steps.length, answer, total_iterations]).toEqual(['running', 3, null, 1]);
    app.calls[1]?.say(...answerParts('Two.'));
    app.calls[1]?.end();
    await app.settle();
    expect((await app.look(id)).status).toBe('completed');
  });

  it('returns all steps of a long run, in order', async () => {
    const breakable = createBreakableStore();
    const app = await createExecutionApp({ started: false, store: breakable.wrap });
    const { body } = await app.run();
    const steps = app.services.store.collection(STEPS);
    for (let number = 0; number < 2001; number += 1) {
      await steps.insert({
        ...{ id: `${body.id}:${number}`, executionId: body.id, sessionId: app.sessionId, number },
        ...{ type: 'thought', content: `Thought ${number}`, iteration: 1 },
      });
    }
    // A few reads suffice: an endless number of them fails.
    breakable.callsBeforeFailure = 20;
    breakable.failure = new Error('too many reads');
    const run = await app.look(body.id);
    const shown = run.steps?.map(({ content }: { content: string }) => content);
    expect(shown).toEqual(Array.from({ length: 2001 }, (_, number) => `Thought ${number}`));
  });

  it('is part of the session for the next turn', async () => {
    const app = await createExecutionApp({ onCall: sayAtOnce('Done so.') });
    await app.run({ message: 'Make a plan' });
    await app.settle();
    await app.clock.advance(1);
    await app.chat({ message: 'And?', sessionId: app.sessionId, wait: true });
    const said = app.calls[1]?.request.messages.slice(1).map(({ content }) => content[0]);
    expect(said).toMatchObject([{ text: 'Make a plan' }, { text: 'Done so.' }, { text: 'And?' }]);
  });

  it('must answer in its last round', async () => {
    const app = await createExecutionApp({
      onCall: (call) => {
        if (call.request.toolChoice === 'none') sayAtOnce('Enough.')(call);
        else callTool(call, 'calculator', { expression: '1' });
      },
    });
    const { id } = (await app.run({ max_iterations: 3 })).body;
    await app.settle();
    expect(app.calls).toHaveLength(3);
    const [first, , last] = app.calls.map(({ request }) => request);
    expect(last?.tools).toEqual(first?.tools);
    expect(await app.look(id)).toMatchObject({
      status: 'completed',
      answer: 'Enough.',
      total_iterations: 3,
    });
  });

  it('continues after a failed tool and invalid input', async () => {
    const app = await createExecutionApp({
      onCall: script(
        (call) => callTool(call, 'calculator', { wrong: 1 }),
        (call) => callTool(call, 'no_such_tool', {}),
        (call) => {
          call.say({ type: 'tool_use', id: 'x', name: 'calculator', arguments: '{' });
          call.end();
        },
        sayAtOnce('So be it.'),
      ),
    });
    const { id } = (await app.run()).body;
    await app.settle();
    const { steps, answer } = await app.look(id);
    const seen = steps.filter(({ type }: { type: string }) => type === 'observation');
    expect(seen.map(({ content }: { content: string }) => content)).toEqual([
      expect.stringContaining('Invalid arguments'),
      'There is no tool no_such_tool.',
      'The arguments were not valid JSON.',
    ]);
    expect(answer).toBe('So be it.');
  });
});

describe('gated tool', () => {
  const onCall = () =>
    script((call) => callTool(call, 'send_letter', { to: 'Bob' }, 'I write.'), sayAtOnce('Sent.'));

  it('runs when it was approved in advance', async () => {
    const app = await createExecutionApp({ onCall: onCall(), settings: settings() });
    const { id } = (await app.run({ tools: ['send_letter', 'send_letter', 'unknown'] })).body;
    await app.settle();
    const { status, steps } = await app.look(id);
    expect([status, steps[2]?.content]).toEqual(['completed', 'sent to Bob as :1:0']);
  });

  it('fails an unapproved run by name and charges its output', async () => {
    const app = await createExecutionApp({ onCall: onCall(), settings: settings() });
    const { id } = (await app.run()).body;
    await app.settle();
    expect(await app.look(id)).toMatchObject({
      status: 'failed',
      answer: null,
      error: expect.stringContaining("'send_letter'"),
      steps: [{ type: 'thought', content: 'I write.' }],
    });
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: 999_850_000, held: 0 });
  });

  function settings() {
    return { admin: { DefaultAPIModel: 'scripted' }, tools };
  }
});

describe('agent of a run', () => {
  it('supplies prompt, model, limits and tools', async () => {
    const app = await createExecutionApp({ settings: { tools } });
    const { store, clock } = app.services;
    const at = clock.now();
    const agent = {
      id: 'a'.repeat(24),
      ownerId: app.user.id,
      name: 'Grace',
      description: 'Counts things.',
      systemPrompt: 'Secret rule.',
      preferredModel: 'scripted',
      temperature: 0.3,
      maxTokens: 77,
      allowedTools: ['calculator', 'roll_dice'],
      deniedTools: ['roll_dice'],
      triggerWords: ['@grace'],
      isPublic: false,
      personality: {
        majorMotivation: 'truth',
        minorMotivation: '',
        characterFlaw: '',
        uniqueQuirk: '',
        responseStyle: 'dry',
      },
      capabilities: ['counting'],
      createdAt: at,
      updatedAt: at,
    };
    await store.collection(AGENTS).insert(agent);
    await app.run({ agent_id: agent.id });
    await app.settle();
    const request = app.calls[0]?.request;
    expect(request).toMatchObject({ temperature: 0.3, maxTokens: 77 });
    expect(request?.tools?.map(({ name }) => name)).toEqual(['calculator']);
    const [system] = request?.messages ?? [];
    expect(JSON.stringify(system)).toMatch(/Grace.*truth.*dry.*counting.*Secret rule/);
    // An agent of another user is reported as unknown until it is public and approved.
    const other = await app.addUser('bob@example.com');
    await store.collection(AGENTS).update(agent.id, { ownerId: other.id });
    expect((await app.run({ agent_id: agent.id })).body.error).toBe('Agent not found');
    await store.collection(AGENTS).update(agent.id, { isPublic: true, publication: 'approved' });
    expect((await app.run({ agent_id: agent.id })).status).toBe(202);
  });
});

describe('failure of a run', () => {
  it('reports missing credits on the poll', async () => {
    const app = await createExecutionApp({ credits: 0.001 });
    const { status, body } = await app.run();
    expect(status).toBe(202);
    await app.settle();
    expect(await app.look(body.id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Insufficient credits/),
      steps: [],
    });
  });

  it('keeps and charges finished steps when credits run out between two steps', async () => {
    const app = await createExecutionApp({ onCall: silent });
    const { id } = (await app.run()).body;
    await app.settle();
    // Another call spends the rest, except for what this step will release.
    const { available } = await app.ledger.balance(app.account);
    await app.ledger.hold({
      account: app.account,
      amount: available,
      key: 'other',
      expiresAt: app.clock.now() + 60_000,
      details: { operation: 'test', userId: app.user.id, requestId: '' },
    });
    const [call] = app.calls;
    if (call !== undefined) callTool(call, 'calculator', { expression: '1' }, 'On my way.');
    await app.settle();
    const run = await app.look(id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(/^Insufficient credits/) });
    expect(run.steps).toHaveLength(3);
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: 999_850_000, held: available });
  });

  it('hides the text of the provider', async () => {
    const app = await createExecutionApp({
      onCall: () => {
        throw new ProviderError('invalid_request', 'secret text of the provider');
      },
    });
    const { id } = (await app.run()).body;
    await app.settle();
    const run = await app.look(id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('refused') });
    expect(JSON.stringify(run)).not.toContain('secret');
  });

  it('reports an answer that the safety filter removed', async () => {
    const app = await createExecutionApp({
      onCall: (call) => {
        call.say({ type: 'finish', reason: 'content_filter' });
        call.end();
      },
    });
    const { id } = (await app.run()).body;
    await app.settle();
    expect(await app.look(id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('safety'),
    });
  });
});
