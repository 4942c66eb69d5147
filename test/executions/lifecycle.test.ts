import { setImmediate as turn } from 'node:timers/promises';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { answerParts, silent } from '../support/chat.ts';
import { callTool, createExecutionApp } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';
import { shareWith } from '../support/sharing.ts';

const TERMINAL = ['completed', 'failed', 'aborted'];

describe('cancellation of a run', () => {
  it('aborts a run in the middle of a round and charges its output', async () => {
    const app = await createExecutionApp({ onCall: silent });
    const { id } = (await app.run()).body;
    await app.settle();
    app.calls[0]?.say({ type: 'text', text: 'x'.repeat(250) });
    await app.settle();
    const { status, body } = await app.json('POST', `/api/v1/agent-executions/${id}/cancel`);
    expect([status, body.status, body.error]).toEqual([200, 'aborted', 'This run was cancelled.']);
    await app.settle();
    expect(app.calls[0]?.stopped).toBe(true);
    expect(await app.look(id)).toEqual(body);
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge).toMatchObject({ status: 'settled', usage: { output: 100 } });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('is up to users who may write in the session', async () => {
    const app = await createExecutionApp({ onCall: silent });
    const { id } = (await app.run()).body;
    await app.settle();
    const grace = await app.addUser('grace@example.com');
    const asGrace = { credential: await app.token(grace) };
    const path = `/api/v1/agent-executions/${id}` as const;
    await shareWith(app, app.user, `session/${app.sessionId}`, grace, 'read');
    expect((await app.json('GET', path, asGrace)).body.status).toBe('running');
    expect((await app.json('POST', `${path}/cancel`, asGrace)).status).toBe(404);
    await app.settle();
    expect([(await app.look(id)).status, app.calls[0]?.stopped]).toEqual(['running', false]);
    await shareWith(app, app.user, `session/${app.sessionId}`, grace, 'write');
    expect((await app.json('POST', `${path}/cancel`, asGrace)).body.status).toBe('aborted');
  });

  it('ends exactly once in 500 races against completion, does not change afterwards, and charges at most the usage', async () => {
    const random = createRandom(11);
    const pause = async (most: number): Promise<void> => {
      for (let left = random.below(most + 1); left > 0; left -= 1) {
        if (random.chance(0.3)) await turn();
        else await Promise.resolve();
      }
    };
    const play = async (call: ModelCall): Promise<void> => {
      await pause(6);
      if (call.request.messages.length < 3 + 1 && random.chance(0.5)) {
        callTool(call, 'calculator', { expression: '1+1' }, 'On.');
        return;
      }
      for (const part of answerParts('Hello.')) {
        call.say(part);
        await pause(4);
      }
      call.end();
    };
    const app = await createExecutionApp({
      credits: 1_000_000,
      onCall: (call) => {
        void play(call);
      },
    });
    const ends = { completed: 0, aborted: 0 };
    let spent = 0;
    for (let round = 0; round < 500; round += 1) {
      const before = app.calls.length;
      const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'x' } });
      const { id } = (await app.run({ session_id: body.id })).body;
      await pause(60);
      const [cancelled] = await Promise.all([
        app.json('POST', `/api/v1/agent-executions/${id}/cancel`),
        pause(20),
      ]);
      await app.settle();
      const end = await app.look(id);
      expect(TERMINAL).toContain(end.status);
      expect(cancelled.body.status).toBe(end.status);
      const answers = end.steps.filter(({ type }: { type: string }) => type === 'final_answer');
      expect(answers).toHaveLength(end.status === 'completed' ? 1 : 0);
      expect(end.answer).toBe(end.status === 'completed' ? 'Hello.' : null);
      ends[end.status as keyof typeof ends] += 1;
      const { posted, held } = await app.ledger.balance(app.account);
      const charged = 1_000_000_000_000 - posted - spent;
      spent += charged;
      expect(held).toBe(0);
      const rounds = app.calls.length - before;
      // No round costs more than its hold, and a run that never started costs nothing.
      if (rounds === 0) expect(charged).toBe(0);
      if (end.status === 'completed') expect(charged).toBe(rounds === 1 ? 110_000 : 260_000);
      await app.clock.advance(600);
      await app.settle();
      expect(await app.look(id)).toEqual(end);
    }
    expect(await app.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    expect(app.incidents).toEqual([]);
    console.info(`500 races: ${ends.completed} completed, ${ends.aborted} aborted`);
    expect(Math.min(ends.completed, ends.aborted)).toBeGreaterThan(25);
  });

  it('deletes the output of the run with its session', async () => {
    const app = await createExecutionApp({
      onCall: (call) => callTool(call, 'calculator', { expression: '1' }, 'On.'),
    });
    const { id } = (await app.run({ max_iterations: 2 })).body;
    await app.settle();
    await app.json('DELETE', `/api/sessions/${app.sessionId}`);
    await app.settle();
    expect((await app.look(id)).error).toBe('Agent execution not found');
    await app.clock.advance(120_000);
    await app.settle();
    const { STEPS } = await import('../../packages/core/src/features/agent-runs/records.ts');
    expect(await app.services.store.collection(STEPS).count({})).toBe(0);
  });
});
