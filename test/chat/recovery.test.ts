import {
  type Api,
  createApi,
  createServices,
  ProviderError,
  QUESTS,
  StorageUnavailable,
} from '@questline/core';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import {
  answerParts,
  type ChatWorld,
  type ChatWorldOptions,
  createChatWorld,
  sayAtOnce,
  silent,
} from '../support/chat.ts';
import { createGate, type Gate } from '../support/gate.ts';
import { createScriptedProvider, type ModelCall, type ScriptedProvider } from '../support/model.ts';

const START = 1000_000_000;
const SETTINGS = { admin: { DefaultAPIModel: 'scripted' } };

interface Two {
  readonly world: ChatWorld;
  /** Shut: the world's process is paused, or dead. */
  readonly gate: Gate;
  /** Another process behind the same store and ledger, with a model of its own. */
  readonly other: { readonly api: Api; readonly model: ScriptedProvider };
}

async function twoProcesses(
  onOtherCall: (call: ModelCall) => void = sayAtOnce('Second.'),
  options: ChatWorldOptions = {},
): Promise<Two> {
  const gate = createGate();
  const world = await createChatWorld({ onCall: silent, store: gate.store, ledger: gate.ledger, ...options });
  const { limiter, clock } = world.services;
  const model = createScriptedProvider(onOtherCall);
  const services = createServices(
    { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [model] },
    { jwtSecret: 'a'.repeat(64) },
  );
  return { world, gate, other: { api: createApi(services), model } };
}

/** Lets time pass in steps, as it does. */
async function pass({ clock, settle }: ChatWorld, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5000) {
    await clock.advance(Math.min(left, 5000));
    await settle();
  }
}

async function recordOf({ gate }: Two, id: string) {
  const quest = await gate.shared.store.collection(QUESTS).get(id);
  if (quest === undefined) throw new Error('the quest is gone');
  return quest;
}

async function settledOf({ gate, world }: Two) {
  const charges = await gate.shared.ledger.charges({ account: world.account }, 100);
  return charges.filter(({ status }) => status === 'settled');
}

describe('a worker that vanished', () => {
  it('before anything was said: the turn is run once more, and paid once', async () => {
    const two = await twoProcesses();
    const { world, gate, other } = two;
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    expect(world.calls).toHaveLength(1);
    gate.shut();
    await other.api.start();
    await pass(world, 65_000);
    expect(await recordOf(two, id)).toMatchObject({ status: 'done', type: 'message', text: 'Second.' });
    expect(await settledOf(two)).toHaveLength(1);
    expect(await gate.shared.ledger.balance(world.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    await other.api.close();
  });

  it('twice before anything was said: the turn has failed', async () => {
    const two = await twoProcesses(silent);
    const { world, gate, other } = two;
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    gate.shut();
    // The second one is handed the job and never heard of again.
    const { queue } = createServices(
      { ...gate.shared, limiter: world.services.limiter, clock: world.clock, models: [] },
      { jwtSecret: 'a'.repeat(64) },
    );
    await world.clock.advance(60_000);
    expect(await queue.lease({ kinds: ['chat'], limit: 1, leaseMs: 60_000 })).toMatchObject([{ attempt: 2 }]);
    await other.api.start();
    await pass(world, 65_000);
    expect(await recordOf(two, id)).toMatchObject({
      status: 'done',
      type: 'error',
      explanation: expect.stringContaining('Please try again'),
    });
    expect(other.model.calls).toHaveLength(0);
    expect(await settledOf(two)).toHaveLength(0);
    expect((await gate.shared.ledger.balance(world.account)).held).toBe(0);
    await other.api.close();
  });

  it('again and again while it holds credit: no hold outlives the quest', async () => {
    // The second process dies too, in the middle of its call; then in the middle of a later call of a turn with tools.
    for (const tools of [false, true]) {
      const second = createGate();
      const two = await twoProcesses(silent, { settings: SETTINGS });
      const { world, gate } = two;
      const { ledger, store } = gate.shared;
      const { id } = (await world.chat({ message: 'Hi', enableTools: tools })).body;
      await world.settle();
      if (tools) {
        world.calls[0]?.say({ type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' });
        world.calls[0]?.end();
        await world.settle();
      }
      expect(world.calls).toHaveLength(tools ? 2 : 1);
      gate.shut();
      const { limiter, clock } = world.services;
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
      await pass(world, 65_000);
      expect(dying.model.calls).toHaveLength(tools ? 0 : 1);
      if (!tools) expect((await ledger.balance(world.account)).held).toBeGreaterThan(0);
      second.shut();
      const last = process(gate.shared, 4);
      await last.api.start();
      await pass(world, 65_000);
      expect(last.model.calls).toHaveLength(0);
      expect(await recordOf(two, id)).toMatchObject({ status: 'done', type: tools ? 'message' : 'error' });
      expect((await ledger.balance(world.account)).held).toBe(0);
      expect(await settledOf(two)).toHaveLength(tools ? 1 : 0);
      // Both come back, and find nothing that they could end.
      gate.open();
      second.open();
      await pass(world, 65_000);
      expect((await ledger.balance(world.account)).held).toBe(0);
      expect(await settledOf(two)).toHaveLength(tools ? 1 : 0);
      await last.api.close();
    }
  });

  it('in the moment it took the hold of a later round: the hold is given back, and nobody takes it late', async () => {
    for (const isTaken of [true, false]) {
      const two = await twoProcesses(silent, { settings: SETTINGS });
      const { world, gate, other } = two;
      const { ledger } = gate.shared;
      const { id } = (await world.chat({ message: 'Hi', enableTools: true })).body;
      await world.settle();
      const { hold } = ledger;
      ledger.hold = async (...args) => {
        const outcome = isTaken ? await hold.apply(ledger, args) : undefined;
        gate.shut();
        // It comes back with what it has, or asks only then.
        await gate.opened;
        return outcome ?? hold.apply(ledger, args);
      };
      world.calls[0]?.say({ type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' });
      world.calls[0]?.end();
      await world.settle();
      ledger.hold = hold;
      expect(world.calls).toHaveLength(1);
      expect((await ledger.balance(world.account)).held > 0).toBe(isTaken);
      await other.api.start();
      await pass(world, 65_000);
      expect(await recordOf(two, id)).toMatchObject({ status: 'done', type: 'message' });
      expect((await ledger.balance(world.account)).held).toBe(0);
      gate.open();
      await pass(world, 65_000);
      expect((await ledger.balance(world.account)).held).toBe(0);
      expect(await settledOf(two)).toHaveLength(1);
      expect(other.model.calls).toHaveLength(0);
      await other.api.close();
    }
  });

  it('after some words: they are the answer, and paid for once', async () => {
    const two = await twoProcesses();
    const { world, gate, other } = two;
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    world.calls[0]?.say({ type: 'text', text: 'x'.repeat(250) });
    await world.settle();
    await world.clock.advance(500);
    await world.settle();
    gate.shut();
    await other.api.start();
    await pass(world, 65_000);
    const quest = await recordOf(two, id);
    expect(quest).toMatchObject({ status: 'done', type: 'message', text: 'x'.repeat(250) });
    expect(other.model.calls).toHaveLength(0);
    const [charge, ...more] = await settledOf(two);
    expect(more).toEqual([]);
    expect(charge).toMatchObject({ model: 'scripted', usage: { output: 100 } });
    // It comes back, and has nothing to say any more.
    gate.open();
    world.calls[0]?.say(...answerParts('and more'));
    world.calls[0]?.end();
    await pass(world, 5000);
    expect(await recordOf(two, id)).toEqual(quest);
    expect(await settledOf(two)).toEqual([charge]);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    await other.api.close();
  });

  it('between writing the charge down and the end: what was written is settled, once', async () => {
    const two = await twoProcesses();
    const { world, gate, other } = two;
    const { settle } = gate.shared.ledger;
    let settlements = 0;
    // Dead from the moment it asks for the settlement; the ledger may or may not have heard of it.
    for (const heard of [false, true]) {
      const { id } = (await world.chat({ message: 'Hi' })).body;
      await world.settle();
      gate.shared.ledger.settle = async (...args) => {
        gate.shut();
        settlements += 1;
        if (heard) await settle.apply(gate.shared.ledger, args);
        return new Promise(() => undefined);
      };
      world.calls.at(-1)?.say(...answerParts('First.'));
      world.calls.at(-1)?.end();
      await world.settle();
      gate.shared.ledger.settle = settle;
      await other.api.start();
      await pass(world, 65_000);
      expect(await recordOf(two, id)).toMatchObject({ status: 'done', type: 'message', text: 'First.' });
      await other.api.drain(0);
      gate.open();
      await pass(world, 5000);
    }
    expect(settlements).toBe(2);
    expect(other.model.calls).toHaveLength(0);
    expect(await settledOf(two)).toHaveLength(2);
    expect(await gate.shared.ledger.balance(world.account)).toMatchObject({
      posted: START - 220_000,
      held: 0,
    });
  });
});

describe('a ledger that holds, and whose answer is lost', () => {
  const lost = [
    ['in the first round', false, new Error('not what it should answer'), 0],
    ['in a later round', true, new StorageUnavailable('away'), 0],
    ['in a later round, and away for a while', true, new StorageUnavailable('away'), 2],
  ] as const;

  it.each(lost)('%s: the quest ends, and nothing stays held', async (_when, isLater, failure, failures) => {
    const two = await twoProcesses(silent, { settings: SETTINGS });
    const { world, gate } = two;
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
    const { id } = (await world.chat({ message: 'Hi', enableTools: true })).body;
    await world.settle();
    if (isLater) {
      lose();
      world.calls[0]?.say({ type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' });
      world.calls[0]?.end();
      await world.settle();
    }
    expect((await ledger.balance(world.account)).held > 0).toBe(failures > 0);
    await pass(world, 10_000);
    expect(await recordOf(two, id)).toMatchObject({ status: 'done' });
    expect((await ledger.balance(world.account)).held).toBe(0);
    expect(await settledOf(two)).toHaveLength(isLater ? 1 : 0);
    expect(left).toBe(0);
  });
});

describe('a worker paused beyond its lease', () => {
  it('is refused by the fence when it comes back with its answer, and charges nothing', async () => {
    const two = await twoProcesses();
    const { world, gate, other } = two;
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    gate.shut();
    await other.api.start();
    await pass(world, 65_000);
    const quest = await recordOf(two, id);
    expect(quest).toMatchObject({ status: 'done', text: 'Second.', fence: 2 });
    world.calls[0]?.say({ type: 'text', text: 'First, but too late.' });
    world.calls[0]?.say({ type: 'usage', usage: { input: 1000, output: 1000 } });
    world.calls[0]?.end();
    await world.settle();
    gate.open();
    await pass(world, 5000);
    expect(await recordOf(two, id)).toEqual(quest);
    expect(await gate.shared.ledger.balance(world.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    expect(await settledOf(two)).toHaveLength(1);
    await other.api.close();
  });

  it('is refused by the fence alone, while another still works on the turn', async () => {
    const two = await twoProcesses(silent);
    const { world, gate, other } = two;
    // Its heartbeat hears nothing: only the fence of the quest itself stands between it and the record.
    world.services.queue.renew = () => new Promise(() => undefined);
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    gate.shut();
    await other.api.start();
    await pass(world, 65_000);
    gate.open();
    world.calls[0]?.say({ type: 'text', text: 'First, but' });
    await pass(world, 5000);
    expect(await recordOf(two, id)).toMatchObject({ status: 'running', fence: 2 });
    expect(await recordOf(two, id)).not.toHaveProperty('text');
    world.calls[0]?.say(...answerParts(' too late.'));
    world.calls[0]?.end();
    await pass(world, 5000);
    expect(await recordOf(two, id)).toMatchObject({ status: 'running', fence: 2 });
    expect(await settledOf(two)).toHaveLength(0);
    other.model.calls[0]?.say(...answerParts('Second.'));
    other.model.calls[0]?.end();
    await pass(world, 5000);
    expect(await recordOf(two, id)).toMatchObject({ status: 'done', text: 'Second.' });
    expect(await gate.shared.ledger.balance(world.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    await other.api.close();
  });

  it('leaves the hold to the one that has the turn now', async () => {
    const two = await twoProcesses(silent);
    const { world, gate, other } = two;
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    const { held } = await gate.shared.ledger.balance(world.account);
    expect(held).toBeGreaterThan(0);
    gate.shut();
    await other.api.start();
    await pass(world, 65_000);
    expect(other.model.calls).toHaveLength(1);
    expect((await gate.shared.ledger.balance(world.account)).held).toBe(held);
    gate.open();
    world.calls[0]?.fail(new ProviderError('invalid_request', 'no'));
    await pass(world, 25_000);
    expect((await gate.shared.ledger.balance(world.account)).held).toBe(held);
    other.model.calls[0]?.say(...answerParts('Second.'));
    other.model.calls[0]?.end();
    await world.settle();
    expect(await recordOf(two, id)).toMatchObject({ status: 'done', text: 'Second.' });
    expect(await gate.shared.ledger.balance(world.account)).toMatchObject({
      posted: START - 110_000,
      held: 0,
    });
    await other.api.close();
  });
});

describe('draining', () => {
  it('with 20 running and 20 waiting: refuses new work, lets what can end, gives back the rest, leaks no hold', async () => {
    const two = await twoProcesses(sayAtOnce('Second.'), {
      settings: { admin: { DefaultAPIModel: 'scripted' }, worker: { concurrency: { chat: 20 } } },
      credits: 100_000,
    });
    const { world, gate, other } = two;
    const ids: string[] = [];
    for (let count = 0; count < 40; count += 1) ids.push((await world.chat({ message: 'Hi' })).body.id);
    await world.settle();
    expect(world.calls).toHaveLength(20);
    const statuses = async () => {
      const quests = await Promise.all(ids.map((id) => recordOf(two, id)));
      const counts: Record<string, number> = {};
      for (const { status, text = '' } of quests) {
        const name = status === 'done' ? `done: ${text}` : status;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    };
    expect(await statuses()).toEqual({ running: 20, pending: 20 });

    // Ten end in time, five have said something when the time is up, five have not.
    const drained = world.api.drain(10_000);
    await world.settle();
    const refused = await world.chat({ message: 'Hi' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await world.json('GET', `/api/v1/quests/${ids[0]}`)).status).toBe(200);
    for (const call of world.calls.slice(0, 10)) {
      call.say(...answerParts('In time.'));
      call.end();
    }
    for (const call of world.calls.slice(10, 15)) call.say({ type: 'text', text: 'Half of' });
    await pass(world, 10_000);
    await drained;
    expect(world.calls).toHaveLength(20);
    expect(await statuses()).toEqual({ 'done: In time.': 10, 'done: Half of': 5, running: 5, pending: 20 });
    expect((await gate.shared.ledger.balance(world.account)).held).toBe(0);
    expect(world.calls.slice(10).every(({ stopped }) => stopped)).toBe(true);

    await other.api.start();
    await pass(world, 5000);
    expect(await statuses()).toEqual({ 'done: In time.': 10, 'done: Half of': 5, 'done: Second.': 25 });
    expect((await gate.shared.ledger.balance(world.account)).held).toBe(0);
    expect(await settledOf(two)).toHaveLength(40);
    await other.api.close();
  });

  it('lets those who wait go, the quest goes on elsewhere', async () => {
    const world = await createChatWorld({ onCall: silent });
    const waiting = world.chat({ message: 'Hi', wait: true });
    await world.settle();
    await world.api.close();
    const { status, body } = await waiting;
    expect([status, body.errorCode]).toEqual([504, 'request_timeout']);
    expect(world.clock.pending).toBe(0);
  });

  it('can be followed by another start', async () => {
    const world = await createChatWorld();
    await world.api.drain();
    expect((await world.chat({ message: 'Hi' })).status).toBe(503);
    await world.api.start();
    expect((await world.chat({ message: 'Hi', wait: true })).body.response).toBe('Hello.');
  });
});
