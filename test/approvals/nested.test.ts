import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { createApprovalApp } from '../support/approvals.ts';
import { answerParts } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const NEEDS_APPROVAL = 'The tool send_mail needs the approval of the user, and cannot be used here.';
const MAIL = { to: 'bob@example.com' };
const PLAN = JSON.stringify({
  tasks: ['a', 'b'].map((id) => ({ id, title: `Part ${id}`, instructions: `Do part ${id}.`, dependsOn: [] })),
});

function say(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

const offeredTo = (call: ModelCall | undefined): string[] =>
  (call?.request.tools ?? []).map(({ name }) => name);

/** Calls the gated tool although it is not offered, and says what it got. */
function sendUnasked(call: ModelCall): void {
  const last = call.request.messages.at(-1)?.content[0];
  if (last?.type === 'tool_result') say(call, last.content);
  else callTool(call, 'send_mail', MAIL);
}

/** Work within a turn, which no user can be asked about: by an agent, and by a task of a plan. */
const WORK = {
  'an agent': {
    body: { enableAgents: true, tools: ['send_mail', 'look_up'] },
    isInner: (words: string) => words.includes('You speak as Grace'),
    outer(call: ModelCall) {
      const last = call.request.messages.at(-1)?.content[0];
      if (last?.type === 'tool_result') say(call, last.content);
      else callTool(call, 'delegate_to_agent', { agent: 'Grace', task: 'Write to Bob.' });
    },
  },
  'a task of a plan': {
    body: { enableQuestMaster: true, tools: ['send_mail', 'look_up'] },
    isInner: (words: string) => /Do part \w/.test(words) && !words.includes('Use these results'),
    outer: (call: ModelCall) =>
      say(call, JSON.stringify(call.request.messages).includes('You are a planner') ? PLAN : NEEDS_APPROVAL),
  },
} as const;

describe.each(Object.entries(WORK))('a gated tool in the work of %s', (_name, { body, isInner, outer }) => {
  it('is not offered, and does not run when it is called all the same', async () => {
    const inner: ModelCall[] = [];
    const app = await createApprovalApp({
      onCall(call) {
        if (!isInner(JSON.stringify(call.request.messages))) return outer(call);
        inner.push(call);
        sendUnasked(call);
      },
    });
    await addAgent(app, { id: 'a'.repeat(24), name: 'Grace' });
    const { body: answer } = await app.chat({
      message: 'Write to Bob',
      approvals: true,
      wait: true,
      ...body,
    });
    expect(answer).toMatchObject({ status: 'done', type: 'message', response: NEEDS_APPROVAL });
    expect(app.sent).toEqual([]);
    expect(inner.length).toBeGreaterThan(1);
    for (const call of inner) expect(offeredTo(call)).toEqual(['look_up']);
    const results = inner.flatMap(({ request }) => request.messages.at(-1)?.content ?? []);
    const refused = results.filter(({ type }) => type === 'tool_result');
    expect(refused.length).toBe(inner.length / 2);
    for (const result of refused) expect(result).toMatchObject({ content: NEEDS_APPROVAL, isError: true });
  });
});
