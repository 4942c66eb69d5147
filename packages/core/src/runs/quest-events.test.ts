import { getEventListeners } from 'node:events';
import { createMemoryPublisher } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Publisher } from '../ports/publisher.ts';
import { createQuestEventSource } from './event-source.ts';
import { createQuestEvents } from './quest-events.ts';
import type { QuestRecord, QuestStatus } from './records.ts';

const ID = 'q1';

/** A caller that waits for a quest. */
function setUp(publisher: Publisher = createMemoryPublisher()) {
  const clock = createFakeClock();
  const start = clock.now();
  const incidents: unknown[] = [];
  const events = createQuestEvents({
    publisher,
    clock,
    onError: (incident) => void incidents.push(incident),
  });
  const quest = { status: 'running' as QuestStatus | 'gone', error: undefined as Error | undefined };
  const looks: number[] = [];
  const control = new AbortController();
  const answer: { value?: unknown } = {};
  const wait = (timeoutMs = 1e6) => {
    const quests = {
      async get() {
        looks.push(clock.now() - start);
        if (quest.error !== undefined) throw quest.error;
        return quest.status === 'gone' ? undefined : { status: quest.status };
      },
    };
    void events.untilEnded(quests, ID, { timeoutMs, signal: control.signal }).then(
      (value) => {
        answer.value = value ?? 'gone';
      },
      (error) => {
        answer.value = error;
      },
    );
    return clock.advance(0);
  };
  return { clock, events, quest, looks, control, answer, wait, incidents, publisher };
}

describe('caller that waits for a quest', () => {
  it.each(['done', 'stopped', 'waiting', 'gone'] as const)(
    'gets it at once when it is %s',
    async (status) => {
      const { wait, quest, answer, clock, looks } = setUp();
      quest.status = status;
      await wait();
      expect([answer.value, clock.pending]).toEqual([status === 'gone' ? 'gone' : { status }, 0]);
      expect(looks).toEqual([0]);
    },
  );

  it.each(['ended', 'paused', 'stopped'] as const)('gets it when it is announced: %s', async (verb) => {
    const { wait, quest, answer, clock, events } = setUp();
    await wait();
    expect(answer.value).toBeUndefined();
    quest.status = 'done';
    events[verb]('other');
    await clock.advance(0);
    expect(answer.value).toBeUndefined();
    events[verb](ID);
    await clock.advance(0);
    expect([answer.value, clock.pending]).toEqual([{ status: 'done' }, 0]);
  });

  it('gets the quest of an end in its process without a further look, if it is known', async () => {
    const { wait, answer, clock, events, looks } = setUp();
    await wait();
    const quest = { id: ID, status: 'done' } as QuestRecord;
    events.ended('other', { ...quest, id: 'other' });
    await clock.advance(0);
    expect(answer.value).toBeUndefined();
    events.ended(ID, quest);
    await clock.advance(0);
    expect([answer.value, looks, clock.pending]).toEqual([quest, [0], 0]);
  });

  it('gets the quest of an end that comes during its first look', async () => {
    const { answer, clock, events } = setUp();
    const quest = { id: ID, status: 'done' } as QuestRecord;
    const quests = {
      async get() {
        events.ended(ID, quest);
        return { ...quest, status: 'running' as const };
      },
    };
    const { signal } = new AbortController();
    void events.untilEnded(quests, ID, { timeoutMs: 1e6, signal }).then((value) => {
      answer.value = value;
    });
    await clock.advance(0);
    expect([answer.value, clock.pending]).toEqual([quest, 0]);
  });

  it('looks by itself, at intervals that grow to 2 seconds', async () => {
    const deaf: Publisher = { publish: async () => undefined, subscribe: () => new Promise(() => undefined) };
    const { wait, looks, clock, quest, answer } = setUp(deaf);
    await wait();
    await clock.advance(8000);
    expect(looks).toEqual([0, 250, 750, 1750, 3750, 5750, 7750]);
    quest.status = 'done';
    await clock.advance(2000);
    expect(answer.value).toEqual({ status: 'done' });
  });

  it('looks again once it has subscribed', async () => {
    let subscribed = (): void => undefined;
    const { wait, looks, clock } = setUp({
      publish: async () => undefined,
      subscribe: () =>
        new Promise((resolve) => {
          subscribed = () => resolve(async () => undefined);
        }),
    });
    await wait();
    expect(looks).toEqual([0]);
    subscribed();
    await clock.advance(0);
    expect(looks).toEqual([0, 0]);
  });

  it.each([
    ['after its timeout', ({ clock }: ReturnType<typeof setUp>) => clock.advance(5000)],
    ['when it disconnects', ({ control }: ReturnType<typeof setUp>) => control.abort()],
    ['at a shutdown', ({ events }: ReturnType<typeof setUp>) => events.dismiss()],
  ])('gets the quest as it is %s', async (_name, end) => {
    const one = setUp();
    await one.wait(5000);
    await one.clock.advance(4999);
    expect(one.answer.value).toBeUndefined();
    await end(one);
    await one.clock.advance(0);
    expect([one.answer.value, one.clock.pending]).toEqual([{ status: 'running' }, 0]);
    expect(getEventListeners(one.control.signal, 'abort')).toHaveLength(0);
  });

  it('gets it at once when it has disconnected before', async () => {
    const one = setUp();
    one.control.abort();
    await one.wait();
    expect(one.answer.value).toEqual({ status: 'running' });
  });

  it('waits through an outage of the store, which is reported, up to its timeout', async () => {
    const error = new Error('away');
    const one = setUp();
    one.quest.error = error;
    await one.wait(5000);
    expect([one.answer.value, one.incidents[0]]).toEqual([
      undefined,
      { operation: 'wait', requestId: '', error },
    ]);
    await one.clock.advance(5000);
    expect(one.answer.value).toBe(error);
    const other = setUp();
    other.quest.error = error;
    await other.wait();
    Object.assign(other.quest, { error: undefined, status: 'done' });
    await other.clock.advance(1000);
    expect(other.answer.value).toEqual({ status: 'done' });
  });

  it('leaves no subscription', async () => {
    let open = 0;
    const one = setUp({
      publish: async () => undefined,
      async subscribe() {
        open += 1;
        return async () => {
          open -= 1;
        };
      },
    });
    await one.wait();
    expect(open).toBe(1);
    one.control.abort();
    await one.clock.advance(0);
    expect(open).toBe(0);
  });
});

describe('publisher that fails', () => {
  const error = new Error('away');
  const incident = (operation: string) => ({ operation, requestId: '', error });

  it('to publish or to subscribe is reported', async () => {
    const one = setUp({ publish: () => Promise.reject(error), subscribe: () => Promise.reject(error) });
    one.events.ended(ID);
    await one.wait();
    expect(one.incidents).toEqual([incident('publish'), incident('subscribe')]);
    one.quest.status = 'done';
    await one.clock.advance(250);
    expect([one.answer.value, one.incidents.length]).toEqual([{ status: 'done' }, 2]);
  });

  it('to end a subscription is reported', async () => {
    const one = setUp({ publish: async () => undefined, subscribe: async () => () => Promise.reject(error) });
    one.quest.status = 'done';
    await one.wait();
    expect(one.incidents).toEqual([incident('subscribe')]);
  });
});

it('reports stopped quests to the workers of all processes, and no other ends', async () => {
  const { events, clock } = setUp();
  const stopped: string[] = [];
  const end = await events.onStopped((id) => void stopped.push(id));
  events.stopped(ID);
  events.ended('q2');
  await clock.advance(0);
  await end();
  events.stopped('q3');
  await clock.advance(0);
  expect(stopped).toEqual([ID]);
});

describe('event of an ended quest', () => {
  const source = createQuestEventSource('quest', ['chat']);
  const quest = (more: Partial<QuestRecord> = {}) =>
    ({
      ...{ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', status: 'done', type: 'message' },
      request: { payer: { account: 'organization:o' } },
      ...more,
    }) as QuestRecord;
  const events = (before: Partial<QuestRecord> | undefined, after: Partial<QuestRecord> = {}) =>
    source.toEvents({ before: before && quest(before), after: quest(after) } as never);

  it('is sent once, with how it ended', () => {
    const data = { id: ID, sessionId: 's', kind: 'chat', organizationId: 'o', userId: 'a' };
    const running = { status: 'running' } as const;
    expect(events(running)).toEqual([{ type: 'quest.done', key: ID, data }]);
    expect(events(undefined)).toHaveLength(1);
    expect(events(running, { type: 'error', errorCode: 'insufficient_credits' as never })).toEqual([
      { type: 'quest.failed', key: ID, data: { ...data, errorCode: 'insufficient_credits' } },
    ]);
    expect(events(running, { status: 'stopped', type: 'error' })).toMatchObject([{ type: 'quest.stopped' }]);
    expect(events({ status: 'stopped' })).toEqual([]);
    expect(events(running, { status: 'waiting' })).toEqual([]);
    expect(events(running, { kind: 'enrich' })).toEqual([]);
  });

  it('is looked for in writes of an end only', () => {
    const statuses = ['pending', 'running', 'waiting', 'done', 'stopped'] as const;
    expect(statuses.filter((status) => source.matches({ status }))).toEqual(['done', 'stopped']);
    expect(source.matches({})).toBe(false);
  });
});
