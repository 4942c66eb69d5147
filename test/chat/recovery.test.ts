import { type Api, createApi, createServices } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { ProviderError, StorageUnavailable } from '@questline/core/ports';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import {
  answerParts,
  type ChatApp,
  type ChatAppOptions,
  createChatApp,
  sayAtOnce,
  silent,
} from '../support/chat.ts';
import { createGate, type Gate } from '../support/gate.ts';
import { createScriptedProvider, type ModelCall, type ScriptedProvider } from '../support/model.ts';

const START = 1000_000_000;
const SETTINGS = { admin: { DefaultAPIModel: 'scripted' } };

interface Two {
  readonly app: ChatApp;
  /** While the gate is shut, the app's process is paused or dead. */
  readonly gate: Gate;
  /** Another process with its own model on the same store and ledger. */
  readonly other: { readonly api: Api; readonly model: ScriptedProvider };
}

async function twoProcesses(
  onOtherCall: (call: ModelCall) => void = sayAtOnce('Second.'),
  options: ChatAppOptions = {},
): Promise<Two> {
  const gate = createGate();
  const app = await createChatApp({ onCall: silent, store: gate.store, ledger: gate.ledger, ...options });
  const { limiter, clock } = app.services;
  const model = createScriptedProvider(onOtherCall);
  const services = createServices(
    { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [model] },
    { jwtSecret: 'a'.repeat(64) },
  );
  return { app, gate, other: { api: createApi(services), model } };
}

/** Advances the clock in steps. */
async function pass({ clock, settle }: ChatApp, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5000) {
    await clock.advance(Math.min(left, 5000));
    await settle();
  }
}

async function getRecord({ gate }: Two, id: string) {
  const quest = await gate.shared.store.collection(QUESTS).get(id);
  if (quest === undefined) throw new Error('the quest is gone');
  return quest;
}

async function getSettled({ gate, app }: Two) {
  const charges = await gate.shared.ledger.charges({ account: app.account }, 100);
  return charges.filter(({ status }) => status === 'settled');
}

describe('chat worker that crashes', () => {
  it('is replaced and runs the turn again when there was no text, and charges once', async () => {
    const two = await twoProcesses();
    const { app, gate, other } = two;
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    expect(app.calls).toHaveLength(1);
    gate.shut();
    await other.api.start();
    await pass(app, 65_000);
    expect(await getRecord(two, id)).toMatchObject({ status: 'done', type: 'message', text: 'Second.' });
    expect(await getSettled(two)).toHaveLength(1);
    expect(await gate.shared.ledger.balance(app.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    await other.api.close();
  });

  it('fails the turn when two workers crash before the first text', async () => {
    const two = await twoProcesses(silent);
    const { app, gate, other } = two;
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    gate.shut();
    // The second worker claims the job and crashes.
    const { queue } = createServices(
      { ...gate.shared, limiter: app.services.limiter, clock: app.clock, models: [] },
      { jwtSecret: 'a'.repeat(64) },
    );
    await app.clock.advance(60_000);
    expect(await queue.lease({ kinds: ['chat'], limit: 1, leaseMs: 60_000 })).toMatchObject([{ attempt: 2 }]);
    await other.api.start();
    await pass(app, 65_000);
    expect(await getRecord(two, id)).toMatchObject({
      status: 'done',
      type: 'error',
      explanation: expect.stringContaining('Please try again'),
    });
    expect(other.model.calls).toHaveLength(0);
    expect(await getSettled(two)).toHaveLength(0);
    expect((await gate.shared.ledger.balance(app.account)).held).toBe(0);
    await other.api.close();
  });

  it('leaves no hold after the quest when workers crash repeatedly with credit held', async () => {
    // The second process also crashes: during its call, then during a later call of a turn with tools.
    for (const tools of [false, true]) {
      const second = createGate();
      const two = await twoProcesses(silent, { settings: SETTINGS });
      const { app, gate } = two;
      const { ledger, store } = gate.shared;
      const { id } = (await app.chat({ message: 'Hi', enableTools: tools })).body;
      await app.settle();
      if (tools) {
        app.calls[0]?.say({ type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' });
        app.calls[0]?.end();
        await app.settle();
      }
      expect(app.calls).toHaveLength(tools ? 2 : 1);
      gate.shut();
      const { limiter, clock } = app.services;
      const process = (ports: Gate['shared'], seed: number) => {
        const model = createScriptedProvider(silent);
        const ids = createFakeIds(seed);
        const api = createApi(
          createServices({ ...ports, limiter, clock, ids, models: [model] }, { jwtSecret: 'a'.repeat(64) }),
        );
        return { api, model };
      };
      const dying = process({ store: second.store(store), ledger: second.ledger(ledger) }, 3);
      await dying.api.start();
      await pass(app, 65_000);
      expect(dying.model.calls).toHaveLength(tools ? 0 : 1);
      if (!tools) expect((await ledger.balance(app.account)).held).toBeGreaterThan(0);
      second.shut();
      const last = process(gate.shared, 4);
      await last.api.start();
      await pass(app, 65_000);
      expect(last.model.calls).toHaveLength(0);
      expect(await getRecord(two, id)).toMatchObject({ status: 'done', type: tools ? 'message' : 'error' });
      expect((await ledger.balance(app.account)).held).toBe(0);
      expect(await getSettled(two)).toHaveLength(tools ? 1 : 0);
      // Both processes resume and find nothing to conclude.
      gate.open();
      second.open();
      await pass(app, 65_000);
      expect((await ledger.balance(app.account)).held).toBe(0);
      expect(await getSettled(two)).toHaveLength(tools ? 1 : 0);
      await last.api.close();
    }
  });

  it('releases the hold of a later round when the worker crashed while taking it', async () => {
    for (const isTaken of [true, false]) {
      const two = await twoProcesses(silent, { settings: SETTINGS });
      const { app, gate, other } = two;
      const { ledger } = gate.shared;
      const { id } = (await app.chat({ message: 'Hi', enableTools: true })).body;
      await app.settle();
      const { hold } = ledger;
      ledger.hold = async (...args) => {
        const outcome = isTaken ? await hold.apply(ledger, args) : undefined;
        gate.shut();
        // The process resumes with the hold it took, or takes it only now.
        await gate.opened;
        return outcome ?? hold.apply(ledger, args);
      };
      app.calls[0]?.say({ type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' });
      app.calls[0]?.end();
      await app.settle();
      ledger.hold = hold;
      expect(app.calls).toHaveLength(1);
      expect((await ledger.balance(app.account)).held > 0).toBe(isTaken);
      await other.api.start();
      await pass(app, 65_000);
      expect(await getRecord(two, id)).toMatchObject({ status: 'done', type: 'message' });
      expect((await ledger.balance(app.account)).held).toBe(0);
      gate.open();
      await pass(app, 65_000);
      expect((await ledger.balance(app.account)).held).toBe(0);
      expect(await getSettled(two)).toHaveLength(1);
      expect(other.model.calls).toHaveLength(0);
      await other.api.close();
    }
  });

  it('keeps partial text as the answer and charges once', async () => {
    const two = await twoProcesses();
    const { app, gate, other } = two;
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    app.calls[0]?.say({ type: 'text', text: 'x'.repeat(250) });
    await app.settle();
    await app.clock.advance(500);
    await app.settle();
    gate.shut();
    await other.api.start();
    await pass(app, 65_000);
    const quest = await getRecord(two, id);
    expect(quest).toMatchObject({
      status: 'done',
      type: 'message',
      text: 'x'.repeat(250),
      promptMeta: { model: 'scripted', credits: expect.any(Number) },
    });
    expect(other.model.calls).toHaveLength(0);
    const [charge, ...more] = await getSettled(two);
    expect(more).toEqual([]);
    expect(charge).toMatchObject({ model: 'scripted', usage: { output: 100 } });
    // The process resumes, but its output is rejected.
    gate.open();
    app.calls[0]?.say(...answerParts('and more'));
    app.calls[0]?.end();
    await pass(app, 5000);
    expect(await getRecord(two, id)).toEqual(quest);
    expect(await getSettled(two)).toEqual([charge]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await other.api.close();
  });

  it('settles a recorded charge once when the worker crashed before the end', async () => {
    const two = await twoProcesses();
    const { app, gate, other } = two;
    const { settle } = gate.shared.ledger;
    let settlements = 0;
    // The process crashes when it calls `settle`, before or after the ledger has done it.
    for (const heard of [false, true]) {
      const { id } = (await app.chat({ message: 'Hi' })).body;
      await app.settle();
      gate.shared.ledger.settle = async (...args) => {
        gate.shut();
        settlements += 1;
        if (heard) await settle.apply(gate.shared.ledger, args);
        return new Promise(() => undefined);
      };
      app.calls.at(-1)?.say(...answerParts('First.'));
      app.calls.at(-1)?.end();
      await app.settle();
      gate.shared.ledger.settle = settle;
      await other.api.start();
      await pass(app, 65_000);
      expect(await getRecord(two, id)).toMatchObject({ status: 'done', type: 'message', text: 'First.' });
      await other.api.drain(0);
      gate.open();
      await pass(app, 5000);
    }
    expect(settlements).toBe(2);
    expect(other.model.calls).toHaveLength(0);
    expect(await getSettled(two)).toHaveLength(2);
    expect(await gate.shared.ledger.balance(app.account)).toMatchObject({
      posted: START - 220_000,
      held: 0,
    });
  });
});

describe('ledger that takes a hold but loses the answer', () => {
  const lost = [
    ['in the first round', false, new Error('not the expected answer'), 0],
    ['in a later round', true, new StorageUnavailable('away'), 0],
    ['in a later round, with an outage of the ledger afterwards', true, new StorageUnavailable('away'), 2],
  ] as const;

  it.each(lost)('ends the quest and leaves nothing held: %s', async (_when, isLater, failure, failures) => {
    const two = await twoProcesses(silent, { settings: SETTINGS });
    const { app, gate } = two;
    const { ledger } = gate.shared;
    const { hold } = ledger;
    let left = failures;
    const lose = (): void => {
      ledger.hold = async (...args) => {
        await hold.apply(ledger, args);
        ledger.hold = async (...again) => {
          if (left > 0) {
            left -= 1;
            throw failure;
          }
          return hold.apply(ledger, again);
        };
        throw failure;
      };
    };
    if (!isLater) lose();
    const { id } = (await app.chat({ message: 'Hi', enableTools: true })).body;
    await app.settle();
    if (isLater) {
      lose();
      app.calls[0]?.say({ type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' });
      app.calls[0]?.end();
      await app.settle();
    }
    expect((await ledger.balance(app.account)).held > 0).toBe(failures > 0);
    await pass(app, 10_000);
    expect(await getRecord(two, id)).toMatchObject({ status: 'done' });
    expect((await ledger.balance(app.account)).held).toBe(0);
    expect(await getSettled(two)).toHaveLength(isLater ? 1 : 0);
    expect(left).toBe(0);
  });
});

describe('worker paused beyond its lease', () => {
  it('is rejected by the fence with its answer and charges nothing', async () => {
    const two = await twoProcesses();
    const { app, gate, other } = two;
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    gate.shut();
    await other.api.start();
    await pass(app, 65_000);
    const quest = await getRecord(two, id);
    expect(quest).toMatchObject({ status: 'done', text: 'Second.', fence: 2 });
    app.calls[0]?.say({ type: 'text', text: 'First, but too late.' });
    app.calls[0]?.say({ type: 'usage', usage: { input: 1000, output: 1000 } });
    app.calls[0]?.end();
    await app.settle();
    gate.open();
    await pass(app, 5000);
    expect(await getRecord(two, id)).toEqual(quest);
    expect(await gate.shared.ledger.balance(app.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    expect(await getSettled(two)).toHaveLength(1);
    await other.api.close();
  });

  it('is rejected by the fence while another worker runs the turn', async () => {
    const two = await twoProcesses(silent);
    const { app, gate, other } = two;
    // Its heartbeat gets no answer, so only the fence of the quest rejects its write.
    app.services.queue.renew = () => new Promise(() => undefined);
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    gate.shut();
    await other.api.start();
    await pass(app, 65_000);
    gate.open();
    app.calls[0]?.say({ type: 'text', text: 'First, but' });
    await pass(app, 5000);
    expect(await getRecord(two, id)).toMatchObject({ status: 'running', fence: 2 });
    expect(await getRecord(two, id)).not.toHaveProperty('text');
    app.calls[0]?.say(...answerParts(' too late.'));
    app.calls[0]?.end();
    await pass(app, 5000);
    expect(await getRecord(two, id)).toMatchObject({ status: 'running', fence: 2 });
    expect(await getSettled(two)).toHaveLength(0);
    other.model.calls[0]?.say(...answerParts('Second.'));
    other.model.calls[0]?.end();
    await pass(app, 5000);
    expect(await getRecord(two, id)).toMatchObject({ status: 'done', text: 'Second.' });
    expect(await gate.shared.ledger.balance(app.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    await other.api.close();
  });

  it('leaves the hold to the current worker', async () => {
    const two = await twoProcesses(silent);
    const { app, gate, other } = two;
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    const { held } = await gate.shared.ledger.balance(app.account);
    expect(held).toBeGreaterThan(0);
    gate.shut();
    await other.api.start();
    await pass(app, 65_000);
    expect(other.model.calls).toHaveLength(1);
    expect((await gate.shared.ledger.balance(app.account)).held).toBe(held);
    gate.open();
    app.calls[0]?.fail(new ProviderError('invalid_request', 'no'));
    await pass(app, 25_000);
    expect((await gate.shared.ledger.balance(app.account)).held).toBe(held);
    other.model.calls[0]?.say(...answerParts('Second.'));
    other.model.calls[0]?.end();
    await app.settle();
    expect(await getRecord(two, id)).toMatchObject({ status: 'done', text: 'Second.' });
    expect(await gate.shared.ledger.balance(app.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    await other.api.close();
  });
});

describe('drain of chat', () => {
  it('rejects new work, finishes what it can of 20 running and 20 waiting turns, returns the rest and leaks no hold', async () => {
    const two = await twoProcesses(sayAtOnce('Second.'), {
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        worker: { concurrency: { chat: 20 }, maxPerOwner: { chat: 20 } },
      },
      credits: 100_000,
    });
    const { app, gate, other } = two;
    const ids: string[] = [];
    for (let count = 0; count < 40; count += 1) ids.push((await app.chat({ message: 'Hi' })).body.id);
    await app.settle();
    expect(app.calls).toHaveLength(20);
    const statuses = async () => {
      const quests = await Promise.all(ids.map((id) => getRecord(two, id)));
      const counts: Record<string, number> = {};
      for (const { status, text = '' } of quests) {
        const name = status === 'done' ? `done: ${text}` : status;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    };
    expect(await statuses()).toEqual({ running: 20, pending: 20 });

    // Ten end in time, five have output at the timeout, five have none.
    const drained = app.api.drain(10_000);
    await app.settle();
    const refused = await app.chat({ message: 'Hi' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await app.json('GET', `/api/v1/quests/${ids[0]}`)).status).toBe(200);
    for (const call of app.calls.slice(0, 10)) {
      call.say(...answerParts('In time.'));
      call.end();
    }
    for (const call of app.calls.slice(10, 15)) call.say({ type: 'text', text: 'Half of' });
    await pass(app, 10_000);
    await drained;
    expect(app.calls).toHaveLength(20);
    expect(await statuses()).toEqual({ 'done: In time.': 10, 'done: Half of': 5, running: 5, pending: 20 });
    expect((await gate.shared.ledger.balance(app.account)).held).toBe(0);
    expect(app.calls.slice(10).every(({ stopped }) => stopped)).toBe(true);

    await other.api.start();
    await pass(app, 5000);
    expect(await statuses()).toEqual({ 'done: In time.': 10, 'done: Half of': 5, 'done: Second.': 25 });
    expect((await gate.shared.ledger.balance(app.account)).held).toBe(0);
    expect(await getSettled(two)).toHaveLength(40);
    await other.api.close();
  });

  it('answers waiting clients, and the quest continues in another process', async () => {
    const app = await createChatApp({ onCall: silent });
    const waiting = app.chat({ message: 'Hi', wait: true });
    await app.settle();
    await app.api.close();
    const { status, body } = await waiting;
    expect([status, body.errorCode]).toEqual([504, 'request_timeout']);
    expect(app.clock.pending).toBe(0);
  });

  it('can be followed by another start', async () => {
    const app = await createChatApp();
    await app.api.drain();
    expect((await app.chat({ message: 'Hi' })).status).toBe(503);
    await app.api.start();
    expect((await app.chat({ message: 'Hi', wait: true })).body.response).toBe('Hello.');
  });
});
