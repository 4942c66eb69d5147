import { setImmediate } from 'node:timers/promises';
import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { JobQueue } from '../ports/queue.ts';
import { createDecideQuest, type NewDecision } from './decisions.ts';
import { type CallDecision, newQuest, QUESTS, type QuestRecord, type WaitingCall } from './records.ts';

const ID = 'q1';
const MAIL: WaitingCall = { id: '1.0', tool: 'mail', kind: 'approval', input: { to: 'ada' } };
const PAGE: WaitingCall = { id: '1.1', tool: 'page', kind: 'answer', input: {} };
const APPROVE = { type: 'approve' } as const;
const ANSWER = { type: 'answer', output: 'yes', isError: false } as const;
const decide = (callId: string, decision: CallDecision): NewDecision => ({ callId, decision });

interface Options {
  readonly quest?: Partial<QuestRecord>;
  readonly calls?: readonly WaitingCall[];
  readonly queue?: (queue: JobQueue) => JobQueue;
  readonly parameters?: Readonly<Record<string, unknown>> | 'gone';
}

/** A quest that waits for two calls. */
async function setUp({ quest, calls = [MAIL, PAGE], queue = (own) => own, parameters }: Options = {}) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  await quests.insert({
    ...newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, 0),
    ...{ status: 'waiting', fence: 1, wait: { calls, sealedState: 'sealed', lastEvent: 0 } },
    ...quest,
  });
  const memory = createMemoryQueue({ clock, ids: createFakeIds() });
  const incidents: unknown[] = [];
  const asked: unknown[] = [];
  const before = { write: async (): Promise<void> => undefined };
  const decideQuest = createDecideQuest({
    store: {
      ...store,
      collection: (definition) => {
        const collection = store.collection(definition);
        return {
          ...collection,
          async update(...args) {
            await before.write();
            return collection.update(...args);
          },
        };
      },
    },
    ...{ clock, queue: queue(memory) },
    isMember: async () => false,
    toolRegistry: {
      async find(id: string, scope: object) {
        asked.push([id, scope]);
        if (parameters === 'gone') return undefined;
        return { schema: { parameters: parameters ?? { type: 'object' } } };
      },
    } as never,
    onError: (incident) => void incidents.push(incident),
  });
  const lease = async () => {
    const jobs = await memory.lease({ kinds: ['chat'], limit: 9, leaseMs: 1 });
    return jobs.map(({ key }) => key);
  };
  const read = () => quests.get(ID);
  return {
    clock,
    quests,
    incidents,
    asked,
    before,
    lease,
    read,
    decide: (...all: NewDecision[]) => decideQuest(ID, all),
  };
}

describe('decisions about the calls of a quest', () => {
  it('are stored as they come, and the last one lets it go on', async () => {
    const one = await setUp();
    expect(await one.decide(decide('1.0', APPROVE))).toMatchObject({
      ...{ status: 'waiting', updatedAt: one.clock.now() },
      wait: { calls: [{ ...MAIL, decision: APPROVE }, PAGE] },
      decided: [{ id: '1.0', type: 'approve', digest: expect.any(String) }],
    });
    expect(await one.lease()).toEqual([]);
    expect(await one.decide(decide('1.1', ANSWER))).toMatchObject({ status: 'pending', resumed: 1 });
    expect(await one.lease()).toEqual([`${ID}:1`]);
    expect((await one.read())?.decided).toHaveLength(2);
    expect(one.asked).toEqual([]);
  });

  it('that are repeated change nothing, also together with new ones', async () => {
    const one = await setUp();
    await one.decide(decide('1.0', APPROVE));
    const before = await one.read();
    expect(await one.decide(decide('1.0', APPROVE))).toEqual(before);
    expect(await one.decide(decide('1.0', APPROVE), decide('1.1', ANSWER))).toMatchObject({
      status: 'pending',
    });
    expect((await one.read())?.decided).toHaveLength(2);
    expect(await one.decide(decide('1.1', ANSWER))).toMatchObject({ status: 'pending' });
  });

  it('that differ from those before are refused', async () => {
    const one = await setUp();
    await one.decide(decide('1.0', APPROVE));
    for (const other of [{ type: 'reject' }, { type: 'edit', input: {} }] as const) {
      await expect(one.decide(decide('1.0', other))).rejects.toMatchObject({ status: 409 });
    }
  });

  it('are refused together where one of them cannot be taken', async () => {
    const one = await setUp();
    const refused = one.decide(decide('1.0', APPROVE), decide('9.9', APPROVE));
    const path = 'decisions.1.callId';
    await expect(refused).rejects.toMatchObject({ status: 400, details: [{ path }] });
    expect((await one.read())?.decided).toBeUndefined();
  });

  it('suit their calls', async () => {
    const one = await setUp();
    for (const decision of [APPROVE, { type: 'edit', input: {} }] as const) {
      await expect(one.decide(decide('1.1', decision))).rejects.toMatchObject({ status: 422 });
    }
    await expect(one.decide(decide('1.0', ANSWER))).rejects.toMatchObject({ status: 422 });
    expect(
      await one.decide(decide('1.0', { type: 'reject' }), decide('1.1', { type: 'reject' })),
    ).toMatchObject({
      status: 'pending',
    });
  });

  it.each(['done', 'stopped'] as const)('are refused when the quest is %s', async (status) => {
    const one = await setUp({ quest: { status } });
    await expect(one.decide(decide('1.0', APPROVE))).rejects.toMatchObject({ status: 409 });
  });

  it('are refused when the quest runs, or is unknown', async () => {
    const running = await setUp({ quest: { status: 'running' } });
    await expect(running.decide(decide('1.0', APPROVE))).rejects.toMatchObject({ status: 400 });
    const gone = await setUp();
    await gone.quests.take(ID);
    await expect(gone.decide(decide('1.0', APPROVE))).rejects.toMatchObject({ status: 404 });
  });
});

describe('decisions that arrive together', () => {
  it('are all stored', async () => {
    const one = await setUp();
    one.before.write = async () => {
      one.before.write = async () => undefined;
      await one.decide(decide('1.1', ANSWER));
    };
    expect(await one.decide(decide('1.0', APPROVE))).toMatchObject({ status: 'pending' });
    expect((await one.read())?.decided?.map(({ id }) => id)).toEqual(['1.1', '1.0']);
  });

  it('are refused after ten attempts', async () => {
    const one = await setUp();
    let attempts = 0;
    one.before.write = async () => {
      attempts += 1;
      await one.quests.update(ID, { fence: 100 + attempts });
    };
    await expect(one.decide(decide('1.0', APPROVE))).rejects.toMatchObject({ status: 409 });
    expect(attempts).toBe(10);
  });
});

describe('changed input of a call', () => {
  const edit = (input: never) => decide('1.0', { type: 'edit', input });
  const parameters = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] };

  it('matches the schema of its tool, as its owner has it', async () => {
    const one = await setUp({ parameters, calls: [PAGE, MAIL] });
    const wrong = one.decide(decide('1.1', ANSWER), edit({ to: 5 } as never));
    await expect(wrong).rejects.toMatchObject({
      status: 422,
      details: [{ path: 'decisions.1.input.to', message: expect.stringContaining('expected string') }],
    });
    expect(one.asked).toEqual([['mail', { userId: 'a', sessionId: 's', payer: { account: 'user:a' } }]]);
    expect(await one.decide(edit({ to: 'bob' } as never))).toMatchObject({
      wait: { calls: [PAGE, { ...MAIL, decision: { type: 'edit', input: { to: 'bob' } } }] },
    });
  });

  it('is taken as it is where nothing can check it, and refused where the tool is gone', async () => {
    const odd = await setUp({ parameters: { type: 'nonsense' } });
    expect(await odd.decide(edit(5 as never))).toMatchObject({ status: 'waiting' });
    const gone = await setUp({ parameters: 'gone' });
    await expect(gone.decide(edit({} as never))).rejects.toMatchObject({ status: 409 });
  });
});

it('answers once the job has been added', async () => {
  const one = await setUp({
    queue: (queue) => ({
      ...queue,
      async enqueue(...args) {
        await setImmediate();
        return queue.enqueue(...args);
      },
    }),
    calls: [MAIL],
  });
  await one.decide(decide('1.0', APPROVE));
  expect(await one.lease()).toEqual([`${ID}:1`]);
});

it('reports a job that cannot be added, and keeps the decision', async () => {
  const error = new Error('away');
  const one = await setUp({
    queue: (queue) => ({ ...queue, enqueue: () => Promise.reject(error) }),
    calls: [MAIL],
  });
  expect(await one.decide(decide('1.0', APPROVE))).toMatchObject({ status: 'pending' });
  expect(one.incidents).toEqual([{ operation: 'job:chat', requestId: '', error }]);
});
