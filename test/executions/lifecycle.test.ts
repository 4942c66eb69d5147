import { setImmediate as turn } from 'node:timers/promises';
import {
  type Api,
  answered,
  COLLECTIONS,
  createApi,
  createServices,
  createToolbox,
  defineTool,
  type Settings,
} from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { createFakeIds, createRandom } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { answerParts, type ChatAppOptions, sayAtOnce, silent } from '../support/chat.ts';
import { callTool, createExecutionApp, type ExecutionApp } from '../support/execution.ts';
import { createGate } from '../support/gate.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { shareWith } from '../support/sharing.ts';

const TERMINAL = ['completed', 'failed', 'aborted'];
const START = 1000_000_000;

const ENGINES: readonly (readonly [string, () => Promise<Pick<ChatAppOptions, 'ports'>>])[] = [
  ['memory', async () => ({})],
  ['SQLite', openSqlite],
];

async function openSqlite(): Promise<Pick<ChatAppOptions, 'ports'>> {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: COLLECTIONS });
  return { ports: (given) => createSqlPorts(database, given) };
}

describe('parallel runs of one user', () => {
  it('are limited to three, also when they are requested in parallel', async () => {
    const app = await createExecutionApp({ onCall: silent });
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.run()));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(3);
    expect(statuses.filter((status) => status === 409)).toHaveLength(47);
    const quests = await app.services.store.collection(QUESTS).find({});
    expect(quests).toHaveLength(3);
    // Another user has separate slots.
    const other = await app.addUser('bob@example.com');
    const credential = await app.token(other);
    const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'x' }, credential });
    expect((await app.run({ session_id: body.id }, { credential })).status).toBe(202);
  });

  it('release their slots however they end', async () => {
    const app = await createExecutionApp({ onCall: silent });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await app.run()).body.id);
    await app.settle();
    expect((await app.run()).status).toBe(409);
    await app.json('POST', `/api/v1/agent-executions/${ids[1]}/cancel`);
    expect((await app.run()).status).toBe(202);
    expect((await app.run()).status).toBe(409);
    const running = app.calls.find(({ stopped }) => !stopped);
    running?.say(...answerParts('Done.'));
    running?.end();
    await app.settle();
    expect((await app.run()).status).toBe(202);
    expect((await app.run()).status).toBe(409);
  });

  it('are limited by the setting', async () => {
    const app = await createExecutionApp({
      onCall: silent,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 1 },
    });
    expect([(await app.run()).status, (await app.run()).status]).toEqual([202, 409]);
  });

  it.each(ENGINES)('are limited in the sessions of the user and of others, on %s', async (_, open) => {
    const app = await createExecutionApp({
      ...(await open()),
      started: false,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 2 },
    });
    const grace = await app.addUser('grace@example.com');
    await shareWith(app, app.user, `session/${app.sessionId}`, grace, 'write');
    const credential = await app.token(grace);
    const start = async (asked = {}) => (await app.run({}, asked)).status;
    for (const asked of [{}, { credential }]) {
      expect([await start(asked), await start(asked), await start(asked)]).toEqual([202, 202, 409]);
    }
  });
});

describe('header Idempotency-Key on runs', () => {
  const key = { headers: { 'Idempotency-Key': 'once' } };

  it('makes 50 parallel duplicates one run, one model call and one charge', async () => {
    const app = await createExecutionApp({ onCall: sayAtOnce('Hello.') });
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.run({}, key)));
    await app.settle();
    for (const { status, body } of answers) expect([status, body]).toEqual([202, answers[0]?.body]);
    expect(app.calls).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
    const other = await app.run({ message: 'Something else' }, key);
    expect([other.status, other.body.errorCode]).toEqual([422, 'idempotency_key_reused']);
    const bad = await app.run({}, { headers: { 'Idempotency-Key': '' } });
    expect([bad.status, bad.body.errorCode]).toEqual([422, 'invalid_idempotency_key']);
  });

  it('can be used again after a run that got no slot', async () => {
    const app = await createExecutionApp({
      onCall: silent,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 1 },
    });
    const { id } = (await app.run()).body;
    expect((await app.run({}, key)).status).toBe(409);
    await app.json('POST', `/api/v1/agent-executions/${id}/cancel`);
    expect((await app.run({}, key)).status).toBe(202);
  });
});

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

describe('crashed worker of a run', () => {
  /** The app's process, which can be paused, and another one on the same store and ledger. */
  async function twoProcesses(
    onCall: (call: ModelCall) => void = silent,
    settings: Partial<Settings> = { admin: { DefaultAPIModel: 'scripted' } },
  ) {
    const gate = createGate();
    const app = await createExecutionApp({ onCall, store: gate.store, ledger: gate.ledger, settings });
    const model = createScriptedProvider(sayAtOnce('Second.'));
    const { limiter, clock } = app.services;
    const services = createServices(
      { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [model] },
      { jwtSecret: 'a'.repeat(64) },
    );
    const other: Api = createApi(services);
    return { app, gate, model, other };
  }

  async function pass({ clock, settle }: ExecutionApp, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 5000) {
      await clock.advance(Math.min(left, 5000));
      await settle();
    }
  }

  it('is replaced and repeats the run before its first text, and charges once', async () => {
    const { app, gate, model, other } = await twoProcesses();
    const { id } = (await app.run()).body;
    await app.settle();
    gate.shut();
    await other.start();
    await pass(app, 65_000);
    gate.open();
    await app.settle();
    expect(await app.look(id)).toMatchObject({ status: 'completed', answer: 'Second.' });
    expect(model.calls).toHaveLength(1);
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - 110_000, held: 0 });
    await other.close();
  });

  it('fails the run between two steps, keeps its steps and charges once', async () => {
    const { app, gate, model, other } = await twoProcesses((call) => {
      if (call.request.messages.length <= 2) callTool(call, 'calculator', { expression: '1+1' }, 'On.');
    });
    const { id } = (await app.run()).body;
    await app.settle();
    gate.shut();
    await other.start();
    await pass(app, 65_000);
    // The process resumes late, and its output is rejected.
    gate.open();
    app.calls[1]?.say(...answerParts('Too late.'));
    app.calls[1]?.end();
    await pass(app, 5000);
    const run = await app.look(id);
    expect(run).toMatchObject({
      status: 'failed',
      answer: null,
      error: expect.stringContaining('interrupted'),
    });
    expect(run.steps.map(({ type }: { type: string }) => type)).toEqual(['thought', 'action', 'observation']);
    expect(model.calls).toHaveLength(0);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(1);
    // No process knew the hold of the second step: it expires.
    await app.clock.advance(16 * 60_000);
    await app.settle();
    expect(await app.ledger.balance(app.account)).toMatchObject({ posted: START - 150_000, held: 0 });
    await other.close();
  });

  it('adds no step when a tool returns after another process ended the run', async () => {
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
    const { app, gate, other } = await twoProcesses((call) => callTool(call, 'slow', {}, 'On.'), {
      admin: { DefaultAPIModel: 'scripted' },
      tools: [createToolbox([slow])],
    });
    const { id } = (await app.run()).body;
    await app.settle();
    expect((await app.look(id)).steps).toHaveLength(2);
    // Its heartbeats fail; the result arrives just before the process learns of it.
    gate.shut();
    await other.start();
    await pass(app, 65_000);
    finish();
    await app.settle();
    gate.open();
    await pass(app, 5000);
    const run = await app.look(id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('interrupted') });
    expect(run.steps.map(({ type }: { type: string }) => type)).toEqual(['thought', 'action']);
    expect(app.calls).toHaveLength(1);
    await other.close();
  });

  it('adds no step when a round ends after another process finished the run', async () => {
    const { app, gate, other } = await twoProcesses();
    const { id } = (await app.run()).body;
    await app.settle();
    gate.shut();
    // The output arrives while the process is paused, so all its writes come late.
    const [call] = app.calls;
    if (call !== undefined) callTool(call, 'calculator', { expression: '1+1' }, 'Late.');
    await app.settle();
    await other.start();
    await pass(app, 65_000);
    gate.open();
    await pass(app, 5000);
    const run = await app.look(id);
    expect(run).toMatchObject({ status: 'completed', answer: 'Second.' });
    expect(run.steps).toEqual([{ type: 'final_answer', content: 'Second.', iteration: 1 }]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await other.close();
  });
});
