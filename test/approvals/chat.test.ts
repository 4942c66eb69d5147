import { describe, expect, it } from 'vitest';
import { callOnce, createApprovalApp, ROUND } from '../support/approvals.ts';
import { answerParts, type ChatApp } from '../support/chat.ts';

const WEEK = 7 * 24 * 3_600_000;
/** Long enough for the sweep to look several times. */
const SWEEPS = 120_000;
const START = 1000_000_000;
/** `Result: Sent to bob@example.com.` */
const LAST_ROUND = 100_000 + 40_000;
const ASK = { message: 'Write to Bob', enableTools: true, approvals: true };

async function start(app: ChatApp, body: object = ASK): Promise<string> {
  const { status, body: answer } = await app.chat(body);
  expect(status).toBe(200);
  await app.settle();
  return answer.id;
}

describe('a gated call of a turn with `approvals`', () => {
  it('waits with its input, without a hold, and runs once when it is approved', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    expect(await app.poll(id)).toMatchObject({
      status: 'waiting',
      pendingApprovals: [
        { callId: '1.0', tool: 'send_mail', kind: 'approval', input: { to: 'bob@example.com' } },
      ],
      promptMeta: { credits: 0.15 },
    });
    expect(app.sent).toEqual([]);
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - ROUND, held: 0 });

    const { status, body } = await app.decide(id, { callId: '1.0', decision: 'approve' });
    expect([status, body.status, body.pendingApprovals]).toEqual([200, 'pending', undefined]);
    await app.settle();
    const done = await app.poll(id);
    expect(done).toMatchObject({
      status: 'done',
      type: 'message',
      reply: 'Result: Sent to bob@example.com.',
    });
    expect(done).not.toHaveProperty('pendingApprovals');
    expect(app.sent).toEqual([{ to: 'bob@example.com', callKey: `${id}:0` }]);
    expect(done.promptMeta).toMatchObject({ usage: { inputTokens: 20, outputTokens: 9 }, credits: 0.29 });
    expect(await app.ledger.balance(app.account)).toMatchObject({
      posted: START - ROUND - LAST_ROUND,
      held: 0,
    });
  });

  it('survives two restarts and a week, costs nothing meanwhile, and ends as decided', async () => {
    const app = await createApprovalApp({
      onCall: callOnce('send_mail', { to: 'bob@example.com' }, 'First.'),
    });
    const id = await start(app);
    await app.api.close();
    await app.clock.advance(WEEK / 2);
    const second = await app.open();
    await app.clock.advance(SWEEPS);
    await app.settle();
    await second.close();
    await app.clock.advance(WEEK / 2);
    const third = await app.open();
    await app.clock.advance(SWEEPS);
    await app.settle();
    expect((await third.json('GET', `/api/v1/quests/${id}`)).body).toMatchObject({ status: 'waiting' });
    expect([second.model.calls.length, third.model.calls.length]).toEqual([0, 0]);
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - ROUND, held: 0 });

    const body = { decisions: [{ callId: '1.0', decision: 'approve' }] };
    expect((await third.json('POST', `/api/v1/quests/${id}/decisions`, { body })).status).toBe(200);
    await app.clock.advance(1000);
    await app.settle();
    expect((await third.json('GET', `/api/v1/quests/${id}`)).body).toMatchObject({
      status: 'done',
      reply: 'First.\n\nResult: Sent to bob@example.com.',
      promptMeta: { credits: 0.29 },
    });
    expect(third.model.calls).toHaveLength(1);
    expect(app.sent).toHaveLength(1);
    await third.close();
  });

  it('reports a rejection and its reason to the model', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    await app.decide(id, { callId: '1.0', decision: 'reject', reason: 'Wrong Bob.' });
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      status: 'done',
      reply: 'Result: The user rejected this call. It did not run. Reason: Wrong Bob.',
    });
    expect(app.sent).toEqual([]);
    expect(app.calls.at(-1)?.request.messages.at(-1)?.content[0]).toMatchObject({ isError: true });
  });

  it('runs with a changed input, which must match the schema of the tool', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    for (const input of [{ to: 'no address' }, {}, { to: ['x@example.com'] }]) {
      const bad = await app.decide(id, { callId: '1.0', decision: 'edit', input });
      expect([bad.status, bad.body.error]).toEqual([422, expect.stringContaining('decisions.0.input.to')]);
    }
    for (const bad of [
      { decision: 'edit' },
      { decision: 'edit', input: 'text' },
      { decision: 'answer', output: 1 },
    ]) {
      expect((await app.decide(id, { callId: '1.0', ...bad })).status).toBe(422);
    }
    expect(await app.poll(id)).toMatchObject({ status: 'waiting' });
    await app.decide(id, { callId: '1.0', decision: 'edit', input: { to: 'eve@example.com' } });
    await app.settle();
    expect(app.sent.map(({ to }) => to)).toEqual(['eve@example.com']);
    expect((await app.poll(id)).reply).toBe(
      'Result: The user changed the input of this call to {"to":"eve@example.com"}.\n\nSent to eve@example.com.',
    );
  });

  it('is decided once: a repetition changes nothing, and another decision is refused', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    const approve = { callId: '1.0', decision: 'approve' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.decide(id, approve)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await app.decide(id, { callId: '1.0', decision: 'reject' })).status).toBe(409);
    await app.settle();
    expect(app.sent).toHaveLength(1);
    expect(await app.poll(id)).toMatchObject({ status: 'done' });
    expect((await app.decide(id, approve)).status).toBe(409);
  });

  it('is decided one way by decisions that differ and arrive together', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    const answers = await Promise.all([
      app.decide(id, { callId: '1.0', decision: 'approve' }),
      app.decide(id, { callId: '1.0', decision: 'reject' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    await app.settle();
    expect(app.sent).toHaveLength(answers[0]?.status === 200 ? 1 : 0);
  });

  it('is unknown to strangers, and unknown calls are refused by name', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    const eve = await app.token(await app.addUser('eve@example.com'));
    const body = { decisions: [{ callId: '1.0', decision: 'approve' }] };
    const path = `/api/v1/quests/${id}/decisions`;
    expect((await app.json('POST', path, { body, credential: eve })).status).toBe(404);
    const unknown = await app.decide(
      id,
      { callId: '1.0', decision: 'approve' },
      { callId: '9.9', decision: 'approve' },
    );
    expect([unknown.status, unknown.body.error]).toEqual([
      400,
      expect.stringContaining('decisions.1.callId'),
    ]);
    await app.settle();
    expect(app.sent).toEqual([]);
    expect((await app.poll(id)).status).toBe('waiting');
  });

  it('waits until all calls of the round are decided; the other calls run at once', async () => {
    const app = await createApprovalApp({
      onCall(call) {
        const results = call.request.messages.at(-1)?.content ?? [];
        if (results[0]?.type === 'tool_result') {
          call.say(
            ...answerParts(results.map((one) => (one.type === 'tool_result' ? one.content : '')).join(' ')),
          );
        } else {
          const use = (id: string, name: string, input: object) =>
            call.say({ type: 'tool_use', id, name, arguments: JSON.stringify(input) });
          use('a', 'send_mail', { to: 'a@example.com' });
          use('b', 'look_up', { name: 'bob' });
          use('c', 'send_mail', { to: 'c@example.com' });
          call.say({ type: 'finish', reason: 'tool_use' });
        }
        call.end();
      },
    });
    const id = await start(app);
    expect(app.looked).toEqual(['bob']);
    const { body } = await app.decide(id, { callId: '1.2', decision: 'approve' });
    expect(body.pendingApprovals).toMatchObject([{ callId: '1.0' }, { callId: '1.2', decision: 'approve' }]);
    await app.settle();
    expect(app.sent).toEqual([]);
    await app.decide(id, { callId: '1.0', decision: 'reject' });
    await app.settle();
    expect((await app.poll(id)).reply).toBe(
      'The user rejected this call. It did not run. bob is bob@example.com. Sent to c@example.com.',
    );
    expect([app.looked, app.sent.length]).toEqual([['bob'], 1]);
  });

  it('does not wait beyond the maximum of calls: the model gets a refusal', async () => {
    const app = await createApprovalApp({
      onCall(call) {
        const results = call.request.messages.at(-1)?.content ?? [];
        if (results[0]?.type === 'tool_result') call.say(...answerParts('Enough.'));
        else {
          for (const name of ['a', 'b']) {
            const to = JSON.stringify({ to: `${name}@example.com` });
            call.say({ type: 'tool_use', id: name, name: 'send_mail', arguments: to });
          }
          call.say({ type: 'finish', reason: 'tool_use' });
        }
        call.end();
      },
    });
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'Mails', maxToolCalls: 1 },
    });
    const id = await start(app, { ...ASK, sessionId: session.id });
    expect((await app.poll(id)).pendingApprovals).toMatchObject([{ callId: '1.0' }]);
    await app.decide(id, { callId: '1.0', decision: 'approve' });
    await app.settle();
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'Enough.' });
    expect(app.sent.map(({ to }) => to)).toEqual(['a@example.com']);
    expect(app.calls[1]?.request.messages.at(-1)?.content).toMatchObject([
      { content: 'Sent to a@example.com.', isError: false },
      { content: expect.stringMatching(/^No more tool calls/), isError: true },
    ]);
  });

  it('can be cancelled while it waits: the turn ends, and its messages are stored', async () => {
    const app = await createApprovalApp({
      onCall: callOnce('send_mail', { to: 'bob@example.com' }, 'First.'),
    });
    const id = await start(app);
    const { status, body } = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    expect([status, body.status, body.pendingApprovals]).toEqual([200, 'stopped', undefined]);
    await app.settle();
    const { body: page } = await app.json('GET', `/api/v1/sessions/${body.sessionId}/messages`);
    expect(page.data.map(({ content }: { content: string }) => content).sort()).toEqual([
      'First.',
      'Write to Bob',
    ]);
    expect((await app.decide(id, { callId: '1.0', decision: 'approve' })).status).toBe(409);
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - ROUND, held: 0 });
    await app.clock.advance(SWEEPS);
    expect((await app.json('GET', `/api/v1/sessions/${body.sessionId}/messages`)).body.data).toHaveLength(2);
  });

  it('ends with its session', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    const { sessionId } = await app.poll(id);
    const credential = await app.token();
    expect((await app.json('DELETE', `/api/sessions/${sessionId}`, { credential })).status).toBeLessThan(300);
    await app.settle();
    expect((await app.decide(id, { callId: '1.0', decision: 'approve' })).status).toBe(404);
    await app.clock.advance(SWEEPS);
    await app.settle();
    expect(app.sent).toEqual([]);
    expect(app.incidents).toEqual([]);
  });

  it('answers a caller that waits for the reply', async () => {
    const app = await createApprovalApp();
    const answering = app.chat({ ...ASK, wait: true });
    await app.settle();
    expect(await answering).toMatchObject({
      status: 200,
      body: { status: 'waiting', pendingApprovals: [{ callId: '1.0' }] },
    });
  });

  it('is not shown to callers who did not ask', async () => {
    const app = await createApprovalApp();
    const id = await start(app, { message: 'Write to Bob', enableTools: true, tools: ['send_mail'] });
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'Result: Sent to bob@example.com.' });
    const other = await start(app, { message: 'Write to Bob', enableTools: true });
    const offered = app.calls.at(-1)?.request.tools?.map(({ name }) => name);
    expect(offered).toContain('look_up');
    expect(offered).not.toContain('send_mail');
    expect(await app.poll(other)).toMatchObject({ status: 'done' });
  });
});

describe('a tool of the client', () => {
  const clientTools = [
    { name: 'pick_color', description: 'Asks for a color.', parameters: { type: 'object' } },
  ];

  it('waits for its result', async () => {
    const app = await createApprovalApp({ onCall: callOnce('pick_color', {}) });
    const id = await start(app, { message: 'Paint', approvals: true, clientTools });
    expect(app.calls[0]?.request.tools).toEqual(clientTools);
    expect((await app.poll(id)).pendingApprovals).toMatchObject([{ tool: 'pick_color', kind: 'answer' }]);
    for (const bad of [{ decision: 'approve' }, { decision: 'edit', input: {} }, { decision: 'answer' }]) {
      expect((await app.decide(id, { callId: '1.0', ...bad })).status).toBe(422);
    }
    await app.decide(id, { callId: '1.0', decision: 'answer', output: { color: 'red' } });
    await app.settle();
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'Result: {"color":"red"}' });
  });

  it('needs `approvals` and a name of its own', async () => {
    const app = await createApprovalApp();
    const ask = (body: object) => app.chat({ message: 'Paint', ...body });
    expect((await ask({ clientTools })).body.error).toContain('clientTools');
    const taken = [{ ...clientTools[0], name: 'send_mail' }];
    expect((await ask({ approvals: true, clientTools: taken })).body.error).toContain('clientTools.0.name');
    const twice = [...clientTools, ...clientTools];
    expect((await ask({ approvals: true, clientTools: twice })).body.error).toContain('clientTools.1.name');
    expect((await ask({ approvals: true, clientTools: [{ name: 'a b' }] })).status).toBe(422);
  });
});
