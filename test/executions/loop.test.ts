import { AGENTS, answered, createToolbox, defineTool, ProviderError } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerParts, sayAtOnce, silent } from '../support/chat.ts';
import { createExecutionWorld, useTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

/** A model that does one thing after the other. */
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

describe('a run', () => {
  it('thinks, acts, observes and answers, with each step on record', async () => {
    const world = await createExecutionWorld({
      onCall: script(
        (call) => useTool(call, 'calculator', { expression: '6*7' }, 'I compute.'),
        sayAtOnce('It is 42.'),
      ),
    });
    const { status, body } = await world.run();
    expect(status).toBe(202);
    await world.settle();
    expect(await world.look(body.id)).toMatchObject({
      status: 'completed',
      answer: 'It is 42.',
      error: null,
      session_id: world.sessionId,
      total_iterations: 2,
      steps: [
        { type: 'thought', content: 'I compute.', iteration: 1 },
        { type: 'action', content: '{"expression":"6*7"}', iteration: 1, tool_name: 'calculator' },
        { type: 'observation', content: '42', iteration: 1, tool_name: 'calculator' },
        { type: 'final_answer', content: 'It is 42.', iteration: 2 },
      ],
    });
    expect(world.calls[1]?.request.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: [{ type: 'text' }, { type: 'tool_use', name: 'calculator' }] },
      { role: 'user', content: [{ type: 'tool_result', content: '42', isError: false }] },
    ]);
    // Each step was held and settled by itself: 15 and 13 tokens.
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ amount, status: end }) => [amount, end]).sort()).toEqual([
      [130_000, 'settled'],
      [150_000, 'settled'],
    ]);
    expect(await world.ledger.balance(world.account)).toMatchObject({ posted: 999_720_000, held: 0 });
  });

  it('shows its steps while it is under way', async () => {
    const world = await createExecutionWorld({
      onCall: script((call) => useTool(call, 'calculator', { expression: '1+1' }, 'First.'), silent),
    });
    const { id } = (await world.run()).body;
    await world.settle();
    const { status, steps, answer, total_iterations } = await world.look(id);
    expect([status, steps.length, answer, total_iterations]).toEqual(['running', 3, null, 1]);
    world.calls[1]?.say(...answerParts('Two.'));
    world.calls[1]?.end();
    await world.settle();
    expect((await world.look(id)).status).toBe('completed');
  });

  it('is part of the session: the next turn knows of it', async () => {
    const world = await createExecutionWorld({ onCall: sayAtOnce('Done so.') });
    await world.run({ message: 'Make a plan' });
    await world.settle();
    await world.clock.advance(1);
    await world.chat({ message: 'And?', sessionId: world.sessionId, wait: true });
    const said = world.calls[1]?.request.messages.slice(1).map(({ content }) => content[0]);
    expect(said).toMatchObject([{ text: 'Make a plan' }, { text: 'Done so.' }, { text: 'And?' }]);
  });

  it('has to answer in its last round', async () => {
    const world = await createExecutionWorld({
      onCall: (call) => {
        if (call.request.tools === undefined) sayAtOnce('Enough.')(call);
        else useTool(call, 'calculator', { expression: '1' });
      },
    });
    const { id } = (await world.run({ max_iterations: 3 })).body;
    await world.settle();
    expect(world.calls).toHaveLength(3);
    expect(await world.look(id)).toMatchObject({
      status: 'completed',
      answer: 'Enough.',
      total_iterations: 3,
    });
  });

  it('goes on after a tool that fails, and after input that is none', async () => {
    const world = await createExecutionWorld({
      onCall: script(
        (call) => useTool(call, 'calculator', { wrong: 1 }),
        (call) => useTool(call, 'no_such_tool', {}),
        (call) => {
          call.say({ type: 'tool_use', id: 'x', name: 'calculator', arguments: '{' });
          call.end();
        },
        sayAtOnce('So be it.'),
      ),
    });
    const { id } = (await world.run()).body;
    await world.settle();
    const { steps, answer } = await world.look(id);
    const seen = steps.filter(({ type }: { type: string }) => type === 'observation');
    expect(seen.map(({ content }: { content: string }) => content)).toEqual([
      expect.stringContaining('The arguments do not fit'),
      'There is no tool no_such_tool.',
      'The arguments were not valid JSON.',
    ]);
    expect(answer).toBe('So be it.');
  });
});

describe('a gated tool', () => {
  const onCall = () =>
    script((call) => useTool(call, 'send_letter', { to: 'Bob' }, 'I write.'), sayAtOnce('Sent.'));

  it('is used when it was approved in advance', async () => {
    const world = await createExecutionWorld({ onCall: onCall(), settings: settings() });
    const { id } = (await world.run({ tools: ['send_letter', 'send_letter', 'unknown'] })).body;
    await world.settle();
    const { status, steps } = await world.look(id);
    expect([status, steps[2].content]).toEqual(['completed', 'sent to Bob as :1:0']);
  });

  it('fails the run that needs it without approval, and is named; what was thought is paid for', async () => {
    const world = await createExecutionWorld({ onCall: onCall(), settings: settings() });
    const { id } = (await world.run()).body;
    await world.settle();
    expect(await world.look(id)).toMatchObject({
      status: 'failed',
      answer: null,
      error: expect.stringContaining("'send_letter'"),
      steps: [{ type: 'thought', content: 'I write.' }],
    });
    expect(await world.ledger.balance(world.account)).toMatchObject({ posted: 999_850_000, held: 0 });
  });

  function settings() {
    return { admin: { DefaultAPIModel: 'scripted' }, tools };
  }
});

describe('an agent', () => {
  it('lends its manner, model, bounds and tools', async () => {
    const world = await createExecutionWorld({ settings: { tools } });
    const { store, clock } = world.services;
    const at = clock.now();
    const agent = {
      id: 'a'.repeat(24),
      ownerId: world.user.id,
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
    await world.run({ agent_id: agent.id });
    await world.settle();
    const request = world.calls[0]?.request;
    expect(request).toMatchObject({ temperature: 0.3, maxTokens: 77 });
    expect(request?.tools?.map(({ name }) => name)).toEqual(['calculator']);
    const [system] = request?.messages ?? [];
    expect(JSON.stringify(system)).toMatch(/Grace.*truth.*dry.*counting.*Secret rule/);
    // Somebody else's is an unknown one, until it is public.
    const other = await world.addUser('bob@example.com');
    await store.collection(AGENTS).update(agent.id, { ownerId: other.id });
    expect((await world.run({ agent_id: agent.id })).body.error).toBe('Agent not found');
    await store.collection(AGENTS).update(agent.id, { isPublic: true });
    expect((await world.run({ agent_id: agent.id })).status).toBe(202);
  });
});

describe('a run fails', () => {
  it('without credits, and says so on the poll', async () => {
    const world = await createExecutionWorld({ credits: 0.001 });
    const { status, body } = await world.run();
    expect(status).toBe(202);
    await world.settle();
    expect(await world.look(body.id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Insufficient credits/),
      steps: [],
    });
  });

  it('when credits end between two steps: what was done is kept and paid for', async () => {
    const world = await createExecutionWorld({ onCall: silent });
    const { id } = (await world.run()).body;
    await world.settle();
    // Something else takes all there is left, but for what this step gives back.
    const { available } = await world.ledger.balance(world.account);
    await world.ledger.hold({
      account: world.account,
      amount: available,
      key: 'other',
      expiresAt: world.clock.now() + 60_000,
      details: { operation: 'test', userId: world.user.id, requestId: '' },
    });
    const [call] = world.calls;
    if (call !== undefined) useTool(call, 'calculator', { expression: '1' }, 'On my way.');
    await world.settle();
    const run = await world.look(id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(/^Insufficient credits/) });
    expect(run.steps).toHaveLength(3);
    expect(await world.ledger.balance(world.account)).toMatchObject({ posted: 999_850_000, held: available });
  });

  it('with the provider, in our words', async () => {
    const world = await createExecutionWorld({
      onCall: () => {
        throw new ProviderError('invalid_request', 'secret text of the provider');
      },
    });
    const { id } = (await world.run()).body;
    await world.settle();
    const run = await world.look(id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('refused') });
    expect(JSON.stringify(run)).not.toContain('secret');
  });

  it('when the safety rules leave nothing of the answer', async () => {
    const world = await createExecutionWorld({
      onCall: (call) => {
        call.say({ type: 'finish', reason: 'content_filter' });
        call.end();
      },
    });
    const { id } = (await world.run()).body;
    await world.settle();
    expect(await world.look(id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('safety'),
    });
  });
});
