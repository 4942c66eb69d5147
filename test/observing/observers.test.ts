import { createServices, fromCredits } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import {
  type CreditMovement,
  type ModelCall,
  type ModelCallEnd,
  type ModelProvider,
  type Observer,
  ProviderError,
} from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const COMPLETIONS = '/api/ai/v1/completions';
const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] };

const answering = () =>
  createScriptedProvider((call) => {
    call.say({ type: 'text', text: 'Hello' });
    call.say({ type: 'usage', usage: { input: 10, output: 20 } });
    call.say({ type: 'finish', reason: 'stop' });
    call.end();
  });

/** Records model calls and credit movements. */
function listener() {
  const calls: (ModelCall & { readonly began: boolean; readonly end: ModelCallEnd })[] = [];
  const movements: CreditMovement[] = [];
  const observer: Observer = {
    modelCall(call) {
      let began = false;
      return {
        began() {
          began = true;
        },
        ended: (end) => void calls.push({ ...call, began, end }),
      };
    },
    credit: (movement) => void movements.push(movement),
  };
  return { observer, calls, movements };
}

async function createObservedApp(
  models: ReturnType<typeof createScriptedProvider>,
  observers: readonly Observer[],
) {
  return createTestApp({
    models: [models],
    settings: { observers, admin: { enforceCredits: true } },
  });
}

const ask = async (app: TestApp): Promise<string> => (await app.ask('POST', COMPLETIONS, { body })).text();

describe('observers', () => {
  it('receive the credit movements and the model call of a request once each', async () => {
    const { observer, calls, movements } = listener();
    const app = await createObservedApp(answering(), [observer]);
    await ask(app);
    expect(calls).toEqual([
      {
        provider: 'scripted',
        model: SCRIPTED_MODEL.id,
        kind: 'chat',
        ownKey: false,
        maxTokens: 4096,
        began: true,
        end: { outcome: 'done', usage: { input: 10, output: 20 }, finishReason: 'stop' },
      },
    ]);
    const about = { operation: 'createCompletion', model: 'scripted' };
    expect(movements).toEqual([
      { ...about, kind: 'held', amount: expect.any(Number) },
      { ...about, kind: 'settled', amount: fromCredits(0.3), usage: { input: 10, output: 20 } },
    ]);
    expect(JSON.stringify([calls, movements])).not.toMatch(/Hello|svc_|[0-9a-f]{24}/);
  });

  it('receive the release of credit and the reason of a failure', async () => {
    const { observer, calls, movements } = listener();
    const app = await createObservedApp(
      createScriptedProvider((call) => call.fail(new ProviderError('overloaded', 'busy'))),
      [observer],
    );
    await ask(app);
    expect(movements.map(({ kind }) => kind)).toEqual(['held', 'released']);
    expect(movements[1]?.amount).toBe(movements[0]?.amount);
    expect(calls).toMatchObject([
      { began: false, end: { outcome: 'failed', error: { kind: 'overloaded' } } },
    ]);
  });

  it('receive each movement of a hold once, even if it is requested repeatedly', async () => {
    const { observer, movements } = listener();
    const { services, account } = await createObservedApp(answering(), [observer]);
    const { ledger, clock } = services;
    const details = { operation: 'createCompletion', userId: 'ada', requestId: 'r' };
    for (const key of ['given back', 'settled']) {
      const take = async () => {
        const request = { account, amount: 5, key, expiresAt: clock.now() + 60_000, details };
        const outcome = await ledger.hold(request);
        if (outcome.outcome !== 'held') throw new Error('expected a hold');
        return outcome.hold;
      };
      const hold = await take();
      for (let times = 0; times < 2; times += 1) {
        if (key === 'settled') await ledger.settle(hold, 3);
        await ledger.release(hold);
        await take();
      }
    }
    expect(movements.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['held', 5],
      ['released', 5],
      ['held', 5],
      ['settled', 3],
    ]);
  });

  it('receive that the client has disconnected', async () => {
    const { observer, calls } = listener();
    const app = await createObservedApp(
      createScriptedProvider((call) => call.say({ type: 'text', text: 'Hello' })),
      [observer],
    );
    const reader = (await app.ask('POST', COMPLETIONS, { body })).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await app.settle();
    expect(calls).toMatchObject([{ began: true, end: { outcome: 'client_closed' } }]);
  });

  it('wrap requests in the configured order and see their responses', async () => {
    const seen: string[] = [];
    const around = (name: string): Observer => ({
      async request({ operation }, work) {
        seen.push(`${name} before ${operation.id}`);
        const { status } = await work();
        seen.push(`${name} after ${status}`);
        return { status, headers: {}, body: undefined };
      },
    });
    const app = await createObservedApp(answering(), [around('outer'), around('inner')]);
    await app.ask('GET', '/api/ping', { credential: null });
    await app.ask('GET', '/nowhere', { credential: null });
    expect(seen).toEqual(['outer before ping', 'inner before ping', 'inner after 200', 'outer after 200']);
  });

  it('keep all capabilities of a provider', () => {
    const never = async (): Promise<never> => {
      throw new Error('not called');
    };
    const jobs = { submit: never, poll: never, fetch: never, cancel: never };
    // Every member of a provider: a new one does not compile until it is tested here.
    const whole: Required<ModelProvider> = {
      ...answering(),
      modelsForOwnKey: () => [],
      ignores: () => [],
      embed: never,
      image: never,
      speech: never,
      soundEffect: never,
      music: never,
      transcribe: never,
      video: jobs,
      musicJobs: jobs,
      close: async () => undefined,
    };
    const { observer } = listener();
    const { providers } = createServices(
      { ...createMemoryPorts(), models: [whole] },
      { jwtSecret: 'a'.repeat(64), observers: [observer] },
    );
    const { calls: _, ...members } = { calls: [], ...whole };
    expect(Object.keys(providers[0] ?? {}).sort()).toEqual(Object.keys(members).sort());
    expect(Object.keys(providers[0]?.video ?? {}).sort()).toEqual(Object.keys(jobs).sort());
  });

  it('affect nothing when they fail', async () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    const broken: Observer[] = [
      { modelCall: fail, credit: fail, getTraceContext: fail },
      { modelCall: () => ({ began: fail, ended: fail }) },
    ];
    const { observer, calls, movements } = listener();
    const app = await createObservedApp(answering(), [...broken, observer]);
    expect((await ask(app)).trim().endsWith('[DONE]')).toBe(true);
    expect([calls.length, movements.length]).toEqual([1, 2]);
  });

  it('add no calls when none is configured', async () => {
    const provider = answering();
    const app = await createTestApp({ models: [provider], webhooks: null });
    expect(app.services.observer).toBeUndefined();
    for (const verb of ['hold', 'renew', 'settle', 'release'] as const) {
      expect(app.services.ledger[verb].name).toBe(`bound ${verb}`);
      expect(app.services.unaudited.ledger[verb]).toBe(app.ledger[verb]);
    }
    expect(app.services.providers[0]).toBe(provider);
  });
});
