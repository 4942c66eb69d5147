import { QUESTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { callOnce, createApprovalApp, ROUND } from '../support/approvals.ts';
import { answerParts, type ChatApp } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const START = 1000_000_000;
const LAST_ROUND = 140_000;
const APPROVE = { callId: '1.0', decision: 'approve' };

async function start(app: ChatApp): Promise<string> {
  const { body } = await app.chat({ message: 'Write to Bob', enableTools: true, approvals: true });
  await app.settle();
  return body.id;
}

async function pass({ clock, settle }: ChatApp, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5000) {
    await clock.advance(Math.min(left, 5000));
    await settle();
  }
}

describe('a quest that waits for decisions', () => {
  it('goes on when the process died between the last decision and its job', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    const { queue } = app.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = () => Promise.reject(new Error('killed'));
    expect((await app.decide(id, APPROVE)).body.status).toBe('pending');
    queue.enqueue = enqueue;
    await pass(app, 120_000);
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'Result: Sent to bob@example.com.' });
    expect(app.sent).toHaveLength(1);
  });

  it('stores its messages when the process died between the cancellation and its job', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    const { queue } = app.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = () => Promise.reject(new Error('killed'));
    const { body } = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    queue.enqueue = enqueue;
    await pass(app, 120_000);
    const { body: page } = await app.json('GET', `/api/v1/sessions/${body.sessionId}/messages`);
    expect(page.data).toMatchObject([{ content: 'Write to Bob' }]);
    expect(await app.services.store.collection(QUESTS).get(id)).not.toHaveProperty('liveSince');
  });

  it('is not taken over by the job from before the wait, whose process died before it finished', async () => {
    let second: ModelCall | undefined;
    const app = await createApprovalApp({
      onCall(call) {
        if (call.request.messages.at(-1)?.content[0]?.type === 'tool_result') second = call;
        else callTool(call, 'send_mail', { to: 'bob@example.com' });
      },
    });
    const { queue } = app.services;
    const finish = queue.finish.bind(queue);
    queue.finish = async () => true;
    const id = await start(app);
    queue.finish = finish;
    await app.decide(id, APPROVE);
    await app.settle();
    expect(app.sent).toHaveLength(1);
    // The lease of the first job expires while the second one works.
    await pass(app, 150_000);
    second?.say(...answerParts('Sent it now, dear.'));
    second?.end();
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      status: 'done',
      type: 'message',
      reply: 'Sent it now, dear.',
    });
    expect(app.sent).toHaveLength(1);
    expect(await app.ledger.balance(app.account)).toMatchObject({
      posted: START - ROUND - LAST_ROUND,
      held: 0,
    });
    expect(app.incidents).toEqual([]);
  });

  it('runs an approved call at most once when its worker dies during the call', async () => {
    const app = await createApprovalApp({
      onCall: callOnce('send_mail', { to: 'bob@example.com' }, 'First.'),
    });
    const id = await start(app);
    const { toolRegistry } = app.services;
    const run = toolRegistry.run.bind(toolRegistry);
    const { queue } = app.services;
    // The worker of this process stops renewing its lease in the middle of the call.
    toolRegistry.run = async (call, context) => {
      await run(call, context);
      queue.renew = async () => false;
      return new Promise(() => undefined);
    };
    await app.decide(id, APPROVE);
    await app.settle();
    const other = await app.open();
    await pass(app, 200_000);
    expect(await app.poll(id)).toMatchObject({ status: 'done', type: 'message', reply: 'First.' });
    expect(app.sent).toHaveLength(1);
    expect((await app.poll(id)).promptMeta).toMatchObject({ credits: 0.15 });
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - ROUND, held: 0 });
    await other.close();
  });

  it('goes on after a worker that died between its claim and the call', async () => {
    const app = await createApprovalApp();
    const id = await start(app);
    await app.api.close();
    const quests = app.services.store.collection(QUESTS);
    const other = await app.open();
    await other.json('POST', `/api/v1/quests/${id}/decisions`, { body: { decisions: [APPROVE] } });
    await quests.update(id, { status: 'running', jobId: 'dead', fence: 1_000_001 }, { status: 'pending' });
    await pass(app, 200_000);
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'Result: Sent to bob@example.com.' });
    expect(app.sent).toHaveLength(1);
    await other.close();
  });
});
