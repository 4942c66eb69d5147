import { describe, expect, it } from 'vitest';
import { callOnce, createApprovalApp, ROUND } from '../support/approvals.ts';

const START = 1000_000_000;
const RUNS = '/api/v1/agent-executions';

async function startRun(body: object = {}) {
  const app = await createApprovalApp({
    onCall: callOnce('send_mail', { to: 'bob@example.com' }, 'I write.'),
  });
  const { body: session } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } });
  const { status, body: run } = await app.json('POST', RUNS, {
    body: { session_id: session.id, message: 'Do it', approvals: true, ...body },
  });
  expect(status).toBe(202);
  await app.settle();
  const look = async () => (await app.json('GET', `${RUNS}/${run.id}`)).body;
  return { app, id: run.id as string, look };
}

describe('a gated call of an agent run with `approvals`', () => {
  it('waits, survives a restart, and goes on with the next step', async () => {
    const { app, id, look } = await startRun();
    expect(await look()).toMatchObject({
      status: 'waiting',
      pending_approvals: [{ call_id: '1.0', tool: 'send_mail', input: { to: 'bob@example.com' } }],
      steps: [{ type: 'thought', content: 'I write.' }, { type: 'action' }],
    });
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - ROUND, held: 0 });
    await app.api.close();
    await app.clock.advance(7 * 24 * 3_600_000);
    const other = await app.open();
    const body = { decisions: [{ callId: '1.0', decision: 'approve' }] };
    expect((await other.json('POST', `/api/v1/quests/${id}/decisions`, { body })).status).toBe(200);
    await app.clock.advance(1000);
    await app.settle();
    const done = await look();
    expect(done).toMatchObject({
      status: 'completed',
      answer: 'Result: Sent to bob@example.com.',
      total_iterations: 2,
    });
    expect(done.steps.map(({ type }: { type: string }) => type)).toEqual([
      'thought',
      'action',
      'observation',
      'final_answer',
    ]);
    expect(app.sent).toHaveLength(1);
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - ROUND - 140_000, held: 0 });
    await other.close();
  });

  it('does not wait for a tool that is approved in advance', async () => {
    const { app, look } = await startRun({ tools: ['send_mail'] });
    expect(await look()).toMatchObject({ status: 'completed' });
    expect(app.sent).toHaveLength(1);
  });

  it('fails the run without `approvals`', async () => {
    const { app, look } = await startRun({ approvals: undefined });
    expect(await look()).toMatchObject({ status: 'failed', error: expect.stringContaining('send_mail') });
    expect(app.sent).toEqual([]);
  });

  it('can be cancelled while it waits', async () => {
    const { app, id, look } = await startRun();
    const { body } = await app.json('POST', `${RUNS}/${id}/cancel`);
    expect(body).toMatchObject({ status: 'aborted' });
    await app.settle();
    const { body: page } = await app.json('GET', `/api/v1/sessions/${body.session_id}/messages`);
    expect(page.data).toMatchObject([{ content: 'Do it' }]);
    expect(await look()).not.toHaveProperty('pending_approvals');
  });
});
