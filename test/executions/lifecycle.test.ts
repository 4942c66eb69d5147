import { setImmediate as turn } from 'node:timers/promises';
import {
  type Api,
  answered,
  createApi,
  createServices,
  createToolbox,
  defineTool,
  QUESTS,
  type Settings,
} from '@questline/core';
import { createFakeIds, createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerParts, sayAtOnce, silent } from '../support/chat.ts';
import { createExecutionWorld, type ExecutionWorld, useTool } from '../support/execution.ts';
import { createGate } from '../support/gate.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';

const TERMINAL = ['completed', 'failed', 'aborted'];
const START = 1000_000_000;

describe('runs of one user at once', () => {
  it('are three at most, however many ask together', async () => {
    const world = await createExecutionWorld({ onCall: silent });
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.run()));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(3);
    expect(statuses.filter((status) => status === 409)).toHaveLength(47);
    const quests = await world.services.store.collection(QUESTS).find({});
    expect(quests).toHaveLength(3);
    // Somebody else has places of his own.
    const other = await world.addUser('bob@example.com');
    const credential = await world.token(other);
    const { body } = await world.json('POST', '/api/v1/sessions', { body: { name: 'x' }, credential });
    expect((await world.run({ session_id: body.id }, { credential })).status).toBe(202);
  });

  it('leave their places when they end, however they do', async () => {
    const world = await createExecutionWorld({ onCall: silent });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await world.run()).body.id);
    await world.settle();
    expect((await world.run()).status).toBe(409);
    await world.json('POST', `/api/v1/agent-executions/${ids[1]}/cancel`);
    expect((await world.run()).status).toBe(202);
    expect((await world.run()).status).toBe(409);
    world.calls[0]?.say(...answerParts('Done.'));
    world.calls[0]?.end();
    await world.settle();
    expect((await world.run()).status).toBe(202);
    expect((await world.run()).status).toBe(409);
  });

  it('are as many as the setting says', async () => {
    const world = await createExecutionWorld({
      onCall: silent,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 1 },
    });
    expect([(await world.run()).status, (await world.run()).status]).toEqual([202, 409]);
  });
});

describe('Idempotency-Key', () => {
  const key = { headers: { 'Idempotency-Key': 'once' } };

  it('makes 50 parallel duplicates one run, one call of the model and one charge', async () => {
    const world = await createExecutionWorld({ onCall: sayAtOnce('Hello.') });
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.run({}, key)));
    await world.settle();
    for (const { status, body } of answers) expect([status, body]).toEqual([202, answers[0]?.body]);
    expect(world.calls).toHaveLength(1);
    expect(await world.ledger.charges({ account: world.account }, 10)).toHaveLength(1);
    const other = await world.run({ message: 'Something else' }, key);
    expect([other.status, other.body.errorCode]).toEqual([422, 'idempotency_key_reused']);
    const bad = await world.run({}, { headers: { 'Idempotency-Key': '' } });
    expect([bad.status, bad.body.errorCode]).toEqual([422, 'invalid_idempotency_key']);
  });

  it('of a run that found no place is free again', async () => {
    const world = await createExecutionWorld({
      onCall: silent,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 1 },
    });
    const { id } = (await world.run()).body;
    expect((await world.run({}, key)).status).toBe(409);
    await world.json('POST', `/api/v1/agent-executions/${id}/cancel`);
    expect((await world.run({}, key)).status).toBe(202);
  });
});

describe('cancel', () => {
  it('aborts a run in the middle of a round; what was said is paid for', async () => {
    const world = await createExecutionWorld({ onCall: silent });
    const { id } = (await world.run()).body;
    await world.settle();
    world.calls[0]?.say({ type: 'text', text: 'x'.repeat(250) });
    await world.settle();
    const { status, body } = await world.json('POST', `/api/v1/agent-executions/${id}/cancel`);
    expect([status, body.status, body.error]).toEqual([200, 'aborted', 'This run was cancelled.']);
    await world.settle();
    expect(world.calls[0]?.stopped).toBe(true);
    expect(await world.look(id)).toEqual(body);
    const [charge] = await world.ledger.charges({ account: world.account }, 10);
    expect(charge).toMatchObject({ status: 'settled', usage: { output: 100 } });
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });

  it('500 races against completion: exactly one end, never changed again, paid at most for what ran', async () => {
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
        useTool(call, 'calculator', { expression: '1+1' }, 'On.');
        return;
      }
      for (const part of answerParts('Hello.')) {
        call.say(part);
        await pause(4);
      }
      call.end();
    };
    const world = await createExecutionWorld({
      credits: 1_000_000,
      onCall: (call) => {
        void play(call);
      },
    });
    const ends = { completed: 0, aborted: 0 };
    let spent = 0;
    for (let round = 0; round < 500; round += 1) {
      const before = world.calls.length;
      const { body } = await world.json('POST', '/api/v1/sessions', { body: { name: 'x' } });
      const { id } = (await world.run({ session_id: body.id })).body;
      await pause(60);
      const [cancelled] = await Promise.all([
        world.json('POST', `/api/v1/agent-executions/${id}/cancel`),
        pause(20),
      ]);
      await world.settle();
      const end = await world.look(id);
      expect(TERMINAL).toContain(end.status);
      expect(cancelled.body.status).toBe(end.status);
      const answers = end.steps.filter(({ type }: { type: string }) => type === 'final_answer');
      expect(answers).toHaveLength(end.status === 'completed' ? 1 : 0);
      expect(end.answer).toBe(end.status === 'completed' ? 'Hello.' : null);
      ends[end.status as keyof typeof ends] += 1;
      const { posted, held } = await world.ledger.balance(world.account);
      const charged = 1_000_000_000_000 - posted - spent;
      spent += charged;
      expect(held).toBe(0);
      const rounds = world.calls.length - before;
      // No round costs more than what was held for it, and what never ran costs nothing.
      if (rounds === 0) expect(charged).toBe(0);
      if (end.status === 'completed') expect(charged).toBe(rounds === 1 ? 110_000 : 260_000);
      await world.clock.advance(600);
      await world.settle();
      expect(await world.look(id)).toEqual(end);
    }
    expect(await world.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    expect(world.incidents).toEqual([]);
    console.info(`500 races: ${ends.completed} completed, ${ends.aborted} aborted`);
    expect(Math.min(ends.completed, ends.aborted)).toBeGreaterThan(25);
  });

  it('of the session deletes what the run left', async () => {
    const world = await createExecutionWorld({
      onCall: (call) => useTool(call, 'calculator', { expression: '1' }, 'On.'),
    });
    const { id } = (await world.run({ max_iterations: 2 })).body;
    await world.settle();
    await world.json('DELETE', `/api/sessions/${world.sessionId}`);
    await world.settle();
    expect((await world.look(id)).error).toBe('Agent execution not found');
    await world.clock.advance(120_000);
    await world.settle();
    const { STEPS } = await import('../../packages/core/src/executions/records.ts');
    expect(await world.services.store.collection(STEPS).count({})).toBe(0);
  });
});

describe('a worker that vanished', () => {
  /** The world's process, which can be shut off, and another one behind the same store and ledger. */
  async function twoProcesses(
    onCall: (call: ModelCall) => void = silent,
    settings: Partial<Settings> = { admin: { DefaultAPIModel: 'scripted' } },
  ) {
    const gate = createGate();
    const world = await createExecutionWorld({ onCall, store: gate.store, ledger: gate.ledger, settings });
    const model = createScriptedProvider(sayAtOnce('Second.'));
    const { limiter, clock } = world.services;
    const services = createServices(
      { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [model] },
      { jwtSecret: 'a'.repeat(64) },
    );
    const other: Api = createApi(services);
    return { world, gate, model, other };
  }

  async function pass({ clock, settle }: ExecutionWorld, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 5000) {
      await clock.advance(Math.min(left, 5000));
      await settle();
    }
  }

  it('before its first word: the run is done once more, and paid once', async () => {
    const { world, gate, model, other } = await twoProcesses();
    const { id } = (await world.run()).body;
    await world.settle();
    gate.shut();
    await other.start();
    await pass(world, 65_000);
    gate.open();
    await world.settle();
    expect(await world.look(id)).toMatchObject({ status: 'completed', answer: 'Second.' });
    expect(model.calls).toHaveLength(1);
    expect(await world.ledger.balance(world.account)).toMatchObject({ posted: START - 110_000, held: 0 });
    await other.close();
  });

  it('between two steps: the run has failed, keeps its steps, and is paid once', async () => {
    const { world, gate, model, other } = await twoProcesses((call) => {
      if (call.request.messages.length <= 2) useTool(call, 'calculator', { expression: '1+1' }, 'On.');
    });
    const { id } = (await world.run()).body;
    await world.settle();
    gate.shut();
    await other.start();
    await pass(world, 65_000);
    // It comes back late, and has nothing to say any more.
    gate.open();
    world.calls[1]?.say(...answerParts('Too late.'));
    world.calls[1]?.end();
    await pass(world, 5000);
    const run = await world.look(id);
    expect(run).toMatchObject({
      status: 'failed',
      answer: null,
      error: expect.stringContaining('interrupted'),
    });
    expect(run.steps.map(({ type }: { type: string }) => type)).toEqual(['thought', 'action', 'observation']);
    expect(model.calls).toHaveLength(0);
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(1);
    // Nobody knew of the second step's hold: it lapses by itself.
    await world.clock.advance(16 * 60_000);
    await world.settle();
    expect(await world.ledger.balance(world.account)).toMatchObject({ posted: START - 150_000, held: 0 });
    await other.close();
  });

  it('and comes back from a tool adds no step to what others have ended', async () => {
    let finish = (): void => undefined;
    const slow = defineTool({
      id: 'slow',
      description: 'Takes its time.',
      input: z.object({}),
      offered: 'default',
      run: () =>
        new Promise((resolve) => {
          finish = () => resolve(answered('At last.'));
        }),
    });
    const { world, gate, other } = await twoProcesses((call) => useTool(call, 'slow', {}, 'On.'), {
      admin: { DefaultAPIModel: 'scripted' },
      tools: [createToolbox([slow])],
    });
    const { id } = (await world.run()).body;
    await world.settle();
    expect((await world.look(id)).steps).toHaveLength(2);
    // Its heartbeats don't get through; the result comes in the moment before it learns of that.
    gate.shut();
    await other.start();
    await pass(world, 65_000);
    finish();
    await world.settle();
    gate.open();
    await pass(world, 5000);
    const run = await world.look(id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('interrupted') });
    expect(run.steps.map(({ type }: { type: string }) => type)).toEqual(['thought', 'action']);
    expect(world.calls).toHaveLength(1);
    await other.close();
  });

  it('and comes back in the middle of a round adds no step to a run that others have done', async () => {
    const { world, gate, other } = await twoProcesses();
    const { id } = (await world.run()).body;
    await world.settle();
    gate.shut();
    // Heard while it is shut off: everything it writes from here on comes late.
    const [call] = world.calls;
    if (call !== undefined) useTool(call, 'calculator', { expression: '1+1' }, 'Late.');
    await world.settle();
    await other.start();
    await pass(world, 65_000);
    gate.open();
    await pass(world, 5000);
    const run = await world.look(id);
    expect(run).toMatchObject({ status: 'completed', answer: 'Second.' });
    expect(run.steps).toEqual([{ type: 'final_answer', content: 'Second.', iteration: 1 }]);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    await other.close();
  });
});
