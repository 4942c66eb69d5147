import { describe, expect, it } from 'vitest';
import { createApprovalApp } from '../support/approvals.ts';
import { callTool } from '../support/execution.ts';
import { shareWith } from '../support/sharing.ts';

const ASK = { message: 'Write to Bob', enableTools: true, approvals: true };

async function setUp() {
  const app = await createApprovalApp();
  const { body: session } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Shared' } });
  const { id } = (await app.chat({ ...ASK, sessionId: session.id })).body;
  await app.settle();
  expect((await app.poll(id)).status).toBe('waiting');
  const decideAs = (credential: string, ...decisions: object[]) =>
    app.json('POST', `/api/v1/quests/${id}/decisions`, { body: { decisions }, credential });
  return { app, id, sessionId: session.id as string, decideAs };
}

describe('decisions about the calls of a turn', () => {
  it.each(['read', 'write'] as const)(
    'are unknown to users with whom its session is shared: %s',
    async (permission) => {
      const { app, id, sessionId, decideAs } = await setUp();
      const bob = await app.addUser('bob@example.com');
      await shareWith(app, app.user, `session/${sessionId}`, bob, permission);
      const credential = await app.token(bob);
      for (const more of [
        { decision: 'approve' },
        { decision: 'reject' },
        { decision: 'edit', input: { to: 'mallory@example.com' } },
      ]) {
        const { status, body } = await decideAs(credential, { callId: '1.0', ...more });
        expect([status, body.error]).toEqual([404, 'Quest not found']);
      }
      await app.settle();
      expect([app.sent, (await app.poll(id)).status]).toEqual([[], 'waiting']);
      expect((await decideAs(app.key, { callId: '1.0', decision: 'approve' })).status).toBe(200);
      await app.settle();
      expect(app.sent).toMatchObject([{ to: 'bob@example.com' }]);
    },
  );

  it.each([
    [['1.0', '1.0'], 1],
    [['1.1', '1.0', '1.0'], 2],
    [['1.0', '1.1', '1.0', '1.1'], 2],
  ])('name each call once: %j', async (ids, at) => {
    const { app, id, decideAs } = await setUp();
    const decisions = ids.map((callId) => ({ callId, decision: 'approve' }));
    const { status, body } = await decideAs(app.key, ...decisions);
    expect([status, body.error]).toEqual([422, expect.stringContaining(`decisions.${at}.callId`)]);
    await app.settle();
    expect([app.sent, (await app.poll(id)).status]).toEqual([[], 'waiting']);
  });
});

describe('answer of a tool of the client', () => {
  const MAX_LENGTH = 200_000;

  it.each([
    ['x'.repeat(MAX_LENGTH), 200],
    ['x'.repeat(MAX_LENGTH + 1), 422],
    [{ text: 'x'.repeat(MAX_LENGTH - 11) }, 200],
    [{ text: 'x'.repeat(MAX_LENGTH - 10) }, 422],
    [null, 200],
  ])('is limited in its length %#', async (output, expected) => {
    const app = await createApprovalApp({
      onCall(call) {
        const last = call.request.messages.at(-1)?.content[0];
        if (last?.type !== 'tool_result') return callTool(call, 'pick_color', {});
        call.say({ type: 'text', text: String(last.content.length) });
        call.end();
      },
    });
    const clientTools = [{ name: 'pick_color', description: 'Asks.', parameters: { type: 'object' } }];
    const { id } = (await app.chat({ message: 'Paint', approvals: true, clientTools })).body;
    await app.settle();
    const { status, body } = await app.decide(id, { callId: '1.0', decision: 'answer', output });
    expect(status).toBe(expected);
    if (status === 422) expect(body.error).toContain('decisions.0.output');
    await app.settle();
    const length = typeof output === 'string' ? output.length : JSON.stringify(output).length;
    const done = { status: 'done', reply: String(length) };
    expect(await app.poll(id)).toMatchObject(status === 200 ? done : { status: 'waiting' });
  });
});
