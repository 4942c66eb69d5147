import { answered, createToolbox, defineTool } from '@questline/core';
import { type ModelInfo, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callOnce, createApprovalApp, createMailTools } from '../support/approvals.ts';
import { answerParts, type ChatApp, type ChatAppOptions } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';

const RUNS = '/api/v1/agent-executions';
const ADMIN = { DefaultAPIModel: 'scripted' };
const MAIL = { to: 'bob@example.com' };

function say(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

async function pass({ clock, settle }: ChatApp, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    await clock.advance(1000);
    await settle();
  }
}

/** Begins a run. */
async function begin(options: ChatAppOptions, body: object = { approvals: true }) {
  const app = await createApprovalApp(options);
  const { body: session } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } });
  const asked = { session_id: session.id, message: 'Do it', ...body };
  const { id } = (await app.json('POST', RUNS, { body: asked })).body;
  await pass(app, 5000);
  return {
    app,
    look: async () => (await app.json('GET', `${RUNS}/${id}`)).body,
    async approve(callId: string) {
      expect((await app.decide(id, { callId, decision: 'approve' })).status).toBe(200);
      await pass(app, 5000);
    },
  };
}

describe('resumed agent run', () => {
  const MODELS: readonly ModelInfo[] = [
    SCRIPTED_MODEL,
    { ...SCRIPTED_MODEL, id: 'spare' },
    { ...SCRIPTED_MODEL, id: 'last' },
  ];
  const fallbacks = { scripted: ['spare'], spare: ['last'] };

  it.each([
    ['goes on with the model that answered before', 'scripted', 'completed'],
    ['asks no other model than the one that answered before', 'scripted, spare', 'failed'],
  ])('%s', async (_, away, status) => {
    let isResumed = false;
    const model = createScriptedProvider((call) => {
      const failing = isResumed ? away : 'scripted';
      if (failing.includes(call.request.model)) throw new ProviderError('overloaded', 'away');
      callOnce()(call);
    }, MODELS);
    const { app, look, approve } = await begin({ model, settings: { admin: ADMIN, fallbacks } });
    isResumed = true;
    const before = app.calls.length;
    await approve('1.0');
    expect((await look()).status).toBe(status);
    expect(new Set(app.calls.slice(before).map(({ request }) => request.model))).toEqual(new Set(['spare']));
  });

  it('keeps the tools that a result had unlocked, each once', async () => {
    const { tools } = createMailTools();
    const drawer = createToolbox([
      defineTool({
        id: 'open_drawer',
        description: 'Opens a drawer.',
        input: z.object({}),
        offered: 'default',
        run: () => ({ ...answered('It has scissors.'), unlocks: ['scissors', 'look_up'] }),
      }),
      defineTool({
        id: 'scissors',
        description: 'Cuts.',
        input: z.object({}),
        offered: 'requested',
        run: () => answered('Cut.'),
      }),
    ]);
    let round = 0;
    const { app, approve } = await begin({
      onCall(call) {
        round += 1;
        if (round === 1) callTool(call, 'open_drawer', {});
        else if (round === 2) callTool(call, 'send_mail', MAIL);
        else say(call, 'Done.');
      },
      settings: { admin: ADMIN, tools: [tools, drawer] },
    });
    await approve('2.0');
    const [before, unlocked, resumed] = app.calls.map(({ request }) =>
      (request.tools ?? []).map(({ name }) => name),
    );
    expect(before).not.toContain('scissors');
    expect(unlocked).toContain('scissors');
    expect(resumed?.sort()).toEqual(unlocked?.sort());
  });

  it('runs an approved call at most once when its worker dies during the call', async () => {
    const { app, look, approve } = await begin({ onCall: callOnce('send_mail', MAIL, 'First.') });
    const { toolRegistry, queue } = app.services;
    const run = toolRegistry.run.bind(toolRegistry);
    // The worker of this process stops renewing its lease in the middle of the call.
    toolRegistry.run = async (call, context) => {
      await run(call, context);
      queue.renew = async () => false;
      return new Promise(() => undefined);
    };
    await approve('1.0');
    const other = await app.open();
    await pass(app, 200_000);
    expect(await look()).toMatchObject({ status: 'failed', error: expect.stringContaining('interrupted') });
    expect([app.sent.length, other.model.calls.length]).toEqual([1, 0]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await other.close();
  });
});

it.each([
  ['with `approvals`', { approvals: true }],
  ['without `approvals`', {}],
])('a gated tool does not run in the work of an agent that a tool asks in a run %s', async (_, body) => {
  const { tools, sent } = createMailTools();
  const ask = defineTool({
    id: 'ask_grace',
    description: 'Asks Grace.',
    input: z.object({}),
    offered: 'default',
    run: async (_input, { consult }) =>
      answered(
        (await consult?.({
          agent: { id: 'a'.repeat(24), name: 'Grace', avatarUrl: null },
          system: 'You speak as Grace.',
          task: 'Write to Bob.',
          mayUse: () => true,
        })) ?? '',
      ),
  });
  const { look } = await begin(
    {
      onCall(call) {
        const last = call.request.messages.at(-1)?.content[0];
        if (last?.type === 'tool_result') say(call, last.content);
        else if (JSON.stringify(call.request.messages).includes('You speak as Grace'))
          callTool(call, 'send_mail', MAIL);
        else callTool(call, 'ask_grace', {});
      },
      settings: { admin: ADMIN, tools: [tools, createToolbox([ask])] },
    },
    body,
  );
  expect(await look()).toMatchObject({
    status: 'completed',
    answer: 'The tool send_mail needs the approval of the user, and cannot be used here.',
  });
  expect(sent).toEqual([]);
});
