import { type ModelInfo, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createApprovalApp } from '../support/approvals.ts';
import { answerParts, createChatApp, sayAtOnce } from '../support/chat.ts';
import { callTool, createExecutionApp } from '../support/execution.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';

const SPARE: ModelInfo = { ...SCRIPTED_MODEL, id: 'spare', name: 'Spare' };
const MODELS = [SCRIPTED_MODEL, SPARE];
const settings = {
  admin: { DefaultAPIModel: 'scripted' },
  fallbacks: { scripted: ['spare'], spare: ['scripted'] },
};

const isFirst = ({ request }: ModelCall): boolean =>
  request.messages.at(-1)?.content[0]?.type !== 'tool_result';

/** Calls a tool in the first round, and answers in the second, except for the models that are down in this round. */
const calling =
  (tool: string, input: object, isDown: (model: string, isFirstRound: boolean) => boolean) =>
  (call: ModelCall): void => {
    if (isDown(call.request.model, isFirst(call))) throw new ProviderError('not_configured', 'down');
    if (isFirst(call)) callTool(call, tool, input);
    else sayAtOnce('Done.')(call);
  };

describe('model of the rounds of a turn', () => {
  it.each([
    ['the first model', [] as string[], 'scripted'],
    ['the fallback of the first round', ['scripted'], 'spare'],
  ])('is the same in all: %s', async (_name, down, expected) => {
    const app = await createChatApp({
      settings,
      model: createScriptedProvider(
        calling('calculator', { expression: '1' }, (model, first) => first && down.includes(model)),
        MODELS,
      ),
    });
    const { body } = await app.chat({ message: 'Hi', tools: ['calculator'], wait: true });
    expect(body).toMatchObject({ type: 'message', response: 'Done.' });
    expect(app.calls.map(({ request }) => request.model)).toEqual([...down, expected, expected]);
    const { fallbackInfo } = await app.poll(body.id);
    if (down.length === 0) expect(fallbackInfo).toBeUndefined();
    else expect(fallbackInfo).toMatchObject({ primaryModel: 'scripted', fallbackModel: 'spare' });
  });

  it.each([
    ['the first model', [] as string[], 'scripted'],
    ['the fallback of the first round', ['scripted'], 'spare'],
  ])('stays the same when a later round fails: %s', async (_name, down, expected) => {
    const app = await createChatApp({
      settings,
      model: createScriptedProvider(
        calling('calculator', { expression: '1' }, (model, first) => !first || down.includes(model)),
        MODELS,
      ),
    });
    const { body } = await app.chat({ message: 'Hi', tools: ['calculator'], wait: true });
    expect(body).toMatchObject({ status: 'done', type: 'error' });
    expect(app.calls.map(({ request }) => request.model)).toEqual([...down, expected, expected]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it.each([
    ['the first model', [] as string[], 'scripted', false],
    ['the fallback of the first round', ['scripted'], 'spare', false],
    ['the first model, which then fails', [] as string[], 'scripted', true],
    ['the fallback, which then fails', ['scripted'], 'spare', true],
  ])('is the same after the turn has waited for the user: %s', async (_name, down, expected, fails) => {
    const app = await createApprovalApp({
      settings,
      model: createScriptedProvider(
        calling('send_mail', { to: 'bob@example.com' }, (model, first) =>
          first ? down.includes(model) : fails,
        ),
        MODELS,
      ),
    });
    const { id } = (await app.chat({ message: 'Write', enableTools: true, approvals: true })).body;
    await app.settle();
    expect((await app.poll(id)).status).toBe('waiting');
    await app.decide(id, { callId: '1.0', decision: 'approve' });
    await app.settle();
    expect(await app.poll(id)).toMatchObject({ status: 'done', type: fails ? 'error' : 'message' });
    expect(app.calls.map(({ request }) => request.model)).toEqual([...down, expected, expected]);
    expect(app.sent).toHaveLength(1);
  });
});

describe('turn with several waits', () => {
  it('names the calls of each round by their round, and shows all rounds to the model', async () => {
    const letters = ['a', 'b', 'c'];
    const app = await createApprovalApp({
      onCall(call) {
        const round = call.request.messages.filter(({ role }) => role === 'assistant').length;
        const letter = letters[round];
        if (letter === undefined) sayAtOnce('Done.')(call);
        else callTool(call, 'send_mail', { to: `${letter}@example.com` }, `Round ${round + 1}.`);
      },
    });
    const { id } = (await app.chat({ message: 'Write', enableTools: true, approvals: true })).body;
    for (let round = 1; round <= letters.length; round += 1) {
      await app.settle();
      const quest = await app.poll(id);
      expect(quest).toMatchObject({ status: 'waiting', pendingApprovals: [{ callId: `${round}.0` }] });
      await app.decide(id, { callId: `${round}.0`, decision: 'approve' });
    }
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      status: 'done',
      reply: 'Round 1.\n\nRound 2.\n\nRound 3.\n\nDone.',
    });
    expect(app.sent).toEqual(
      letters.map((letter, at) => ({ to: `${letter}@example.com`, callKey: `${id}:${at}` })),
    );
    const last = app.calls.at(-1)?.request.messages ?? [];
    expect(last.flatMap(({ content }) => content).filter(({ type }) => type === 'tool_result')).toMatchObject(
      letters.map((letter) => ({ content: `Sent to ${letter}@example.com.` })),
    );
  });
});

describe('end of a turn without text', () => {
  it.each([
    ['tool_use', 1, /exceeded the maximum number of tool calls/],
    ['content_filter', 0, /safety rules blocked/],
    ['max_tokens', 0, /used its whole output limit/],
  ] as const)('is an error with its reason: %s', async (reason, calls, message) => {
    const app = await createChatApp({
      onCall(call) {
        for (let at = 0; at < calls; at += 1)
          call.say({ type: 'tool_use', id: `${at}`, name: 'calculator', arguments: '{"expression":"1"}' });
        call.say({ type: 'usage', usage: { input: 10, output: 1 } }, { type: 'finish', reason });
        call.end();
      },
    });
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'x', maxToolCalls: 2 },
    });
    const ask = { message: 'Hi', sessionId: session.id, tools: ['calculator'], wait: true };
    const { body } = await app.chat(ask);
    expect(body).toMatchObject({ status: 'done', type: 'error', stopReason: reason });
    expect(body.response).toMatch(message);
    expect(app.calls).toHaveLength(calls === 0 ? 1 : 3);
  });

  it('is an empty answer when the model stopped by itself', async () => {
    const app = await createChatApp({
      onCall(call) {
        call.say({ type: 'usage', usage: { input: 10, output: 0 } }, { type: 'finish', reason: 'stop' });
        call.end();
      },
    });
    expect((await app.chat({ message: 'Hi', wait: true })).body).toMatchObject({
      type: 'message',
      response: '',
    });
  });
});

describe('round with tools', () => {
  it.each(['turn', 'run'])('of a %s is paid before its tools run', async (kind) => {
    const order: string[] = [];
    const app = await createExecutionApp({
      onCall(call) {
        order.push('model');
        if (isFirst(call)) callTool(call, 'calculator', { expression: '1' });
        else {
          call.say(...answerParts('Done.'));
          call.end();
        }
      },
      ledger: (ledger) => ({
        ...ledger,
        async settle(...given) {
          // Many turns of the event loop, so that work that does not wait goes ahead.
          for (let count = 0; count < 50; count += 1) await Promise.resolve();
          const settled = await ledger.settle(...given);
          order.push('paid');
          return settled;
        },
      }),
      services: (services) => ({
        ...services,
        toolRegistry: {
          ...services.toolRegistry,
          run(call, context) {
            order.push('tool');
            return services.toolRegistry.run(call, context);
          },
        },
      }),
    });
    if (kind === 'turn') await app.chat({ message: 'Hi', tools: ['calculator'], wait: true });
    else await app.run();
    for (let count = 0; count < 5; count += 1) await app.settle();
    expect(order).toEqual(['model', 'paid', 'tool', 'model', 'paid']);
  });
});
