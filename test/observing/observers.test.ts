import {
  type CreditMovement,
  createServices,
  fromCredits,
  type ModelCall,
  type ModelCallEnd,
  type ModelProvider,
  type Observer,
  ProviderError,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { createWorld, type World } from '../support/world.ts';

const COMPLETIONS = '/api/ai/v1/completions';
const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] };

const answering = () =>
  createScriptedProvider((call) => {
    call.say({ type: 'text', text: 'Hello' });
    call.say({ type: 'usage', usage: { input: 10, output: 20 } });
    call.say({ type: 'finish', reason: 'stop' });
    call.end();
  });

/** Notes what it is told about models and credit. */
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

async function worldOf(models: ReturnType<typeof createScriptedProvider>, observers: readonly Observer[]) {
  return createWorld({
    models: [models],
    settings: { observers, admin: { enforceCredits: true } },
  });
}

const ask = async (world: World): Promise<string> => (await world.ask('POST', COMPLETIONS, { body })).text();

describe('whoever looks on', () => {
  it('is told of the credit and the question of a call, each once', async () => {
    const { observer, calls, movements } = listener();
    const world = await worldOf(answering(), [observer]);
    await ask(world);
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

  it('is told that credit was given back, and why nothing came', async () => {
    const { observer, calls, movements } = listener();
    const world = await worldOf(
      createScriptedProvider((call) => call.fail(new ProviderError('overloaded', 'busy'))),
      [observer],
    );
    await ask(world);
    expect(movements.map(({ kind }) => kind)).toEqual(['held', 'released']);
    expect(movements[1]?.amount).toBe(movements[0]?.amount);
    expect(calls).toMatchObject([
      { began: false, end: { outcome: 'failed', error: { kind: 'overloaded' } } },
    ]);
  });

  it('is told each movement of a hold once, however often it is asked for', async () => {
    const { observer, movements } = listener();
    const { services, account } = await worldOf(answering(), [observer]);
    const { ledger, clock } = services;
    const details = { operation: 'createCompletion', userId: 'ada', requestId: 'r' };
    for (const key of ['given back', 'settled']) {
      const take = async () => {
        const request = { account, amount: 5, key, expiresAt: clock.now() + 60_000, details };
        const outcome = await ledger.hold(request);
        if (outcome.outcome !== 'held') throw new Error('there is credit');
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

  it('is told that the client has left', async () => {
    const { observer, calls } = listener();
    const world = await worldOf(
      createScriptedProvider((call) => call.say({ type: 'text', text: 'Hello' })),
      [observer],
    );
    const reader = (await world.ask('POST', COMPLETIONS, { body })).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await world.settle();
    expect(calls).toMatchObject([{ began: true, end: { outcome: 'left' } }]);
  });

  it('stands around requests in the order given, and sees their answers', async () => {
    const seen: string[] = [];
    const around = (name: string): Observer => ({
      async request({ operation }, work) {
        seen.push(`${name} before ${operation.id}`);
        const { status } = await work();
        seen.push(`${name} after ${status}`);
        return { status, headers: {}, body: undefined };
      },
    });
    const world = await worldOf(answering(), [around('outer'), around('inner')]);
    await world.ask('GET', '/api/ping', { credential: null });
    await world.ask('GET', '/nowhere', { credential: null });
    expect(seen).toEqual(['outer before ping', 'inner before ping', 'inner after 200', 'outer after 200']);
  });

  it('leaves a provider all that it can do', () => {
    const never = async (): Promise<never> => {
      throw new Error('not asked');
    };
    const jobs = { submit: never, poll: never, fetch: never, cancel: never };
    // Every member that a provider may have: another one does not compile before it stands here, and is looked on.
    const whole: Required<ModelProvider> = {
      ...answering(),
      modelsForOwnKey: () => [],
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

  it('breaks nothing by failing while it is told', async () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    const broken: Observer[] = [
      { modelCall: fail, credit: fail, carry: fail },
      { modelCall: () => ({ began: fail, ended: fail }) },
    ];
    const { observer, calls, movements } = listener();
    const world = await worldOf(answering(), [...broken, observer]);
    expect((await ask(world)).trim().endsWith('[DONE]')).toBe(true);
    expect([calls.length, movements.length]).toEqual([1, 2]);
  });

  it('costs nothing while nobody does', async () => {
    const provider = answering();
    const world = await createWorld({ models: [provider] });
    expect(world.services.observer).toBeUndefined();
    expect(world.services.ledger).toBe(world.ledger);
    expect(world.services.providers[0]).toBe(provider);
  });
});
