import {
  type Api,
  answered,
  createApi,
  createServices,
  createToolbox,
  defineTool,
  type Settings,
} from '@questline/core';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerParts, sayAtOnce, silent } from '../support/chat.ts';
import { callTool, createExecutionApp, type ExecutionApp } from '../support/execution.ts';
import { createGate } from '../support/gate.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';

const START = 1000_000_000;

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
