import { RESPONSES, SESSIONS, STEPS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { NOW } from '../support/test-app.ts';
import { createPlace as createPlaceOn, DAY_MS, MESSAGE_BYTES, PLACES } from './place.ts';

describe.each(PLACES)('retention on $name', ({ open }) => {
  const createPlace = (settings: Parameters<typeof createPlaceOn>[1]) => createPlaceOn(open, settings);

  it('deletes old messages, releases their quota and keeps the last turn', async () => {
    const place = await createPlace({ retention: { messages: 30 } });
    const mixed = await place.addSession(1);
    for (const days of [40, 31, 29]) await place.addTurn(mixed, days);
    const quiet = await place.addSession(50);
    for (const days of [60, 50]) await place.addTurn(quiet, days);
    expect(await place.run(true)).toEqual({ messages: 6, responses: 0, deliveries: 0 });
    expect(await place.findTimes(mixed)).toHaveLength(6);
    expect(await place.run()).toEqual({ messages: 6, responses: 0, deliveries: 0 });
    expect(await place.findTimes(mixed)).toEqual([29, 29]);
    expect(await place.findTimes(quiet)).toEqual([50, 50]);
    expect(await place.readUsage()).toBe(4 * MESSAGE_BYTES);
    expect(await place.run()).toMatchObject({ messages: 0 });
  });

  it('keeps the newest messages of each session, in whole turns, and all of the last day', async () => {
    const place = await createPlace({ keepNewest: { messages: 3 } });
    const session = await place.addSession(0);
    for (const days of [5, 4, 3, 2]) await place.addTurn(session, days);
    const busy = await place.addSession(0);
    for (const days of [0.1, 0.2, 0.3]) await place.addTurn(busy, days);
    expect(await place.run(true)).toMatchObject({ messages: 4 });
    expect(await place.run()).toMatchObject({ messages: 4 });
    expect(await place.findTimes(session)).toEqual([2, 2, 3, 3]);
    expect(await place.findTimes(busy)).toHaveLength(6);
  });

  it('deletes old quests that have ended, and keeps the others and the last turn of a session', async () => {
    const place = await createPlace({ retention: { quests: 7 } });
    const session = await place.addSession(1);
    await place.addQuest(session, 9);
    await place.addTurn(session, 8);
    const kept = [
      await place.addTurn(session, 6),
      await place.addQuest(session, 20, { status: 'running', liveSince: 1, jobId: 'job' }),
      await place.addQuest(session, 20, { status: 'waiting', liveSince: 8_640_000_000_000_000 }),
      // A worker still stores its output.
      await place.addQuest(session, 20, { status: 'stopped', jobId: 'job' }),
    ];
    const stopped = await place.addSession(9);
    kept.push(await place.addQuest(stopped, 9, { kind: 'chat', status: 'stopped' }));
    expect(await place.run(true)).toMatchObject({ quests: 2 });
    expect(await place.run()).toMatchObject({ quests: 2 });
    expect(await place.findQuests()).toEqual(kept.toSorted());
    expect(await place.findTimes(session)).toEqual([6, 6, 8, 8]);
  });

  it('deletes the steps of an agent run with it', async () => {
    const place = await createPlace({ retention: { quests: 7 } });
    const session = await place.addSession(1);
    const steps = place.services.store.collection(STEPS);
    for (const days of [8, 6]) {
      const executionId = await place.addQuest(session, days, { kind: 'agent-execution' });
      const step = { executionId, sessionId: session, number: 0, type: 'thought', iteration: 1 } as const;
      await steps.insert({ id: `step-${days}`, ...step, content: 'text' });
    }
    expect(await place.run()).toMatchObject({ quests: 1 });
    expect((await steps.find({})).map(({ id }) => id)).toEqual(['step-6']);
  });

  it('keeps the newest quests of each session', async () => {
    const place = await createPlace({ keepNewest: { quests: 2 } });
    const session = await place.addSession(0);
    const ids: string[] = [];
    for (const days of [5, 4, 3, 2]) ids.push(await place.addQuest(session, days));
    const other = await place.addSession(0);
    ids.push(await place.addQuest(other, 9));
    expect(await place.run(true)).toMatchObject({ quests: 2 });
    expect(await place.run()).toMatchObject({ quests: 2 });
    expect(await place.findQuests()).toEqual(ids.slice(2).toSorted());
  });

  it('keeps the newest sessions and responses of each owner', async () => {
    const place = await createPlace({
      keepNewest: { sessions: 2, responses: 1 },
      retention: { sessions: 100 },
    });
    const { store } = place.services;
    const sessions: string[] = [];
    for (const days of [200, 50, 40, 30, 0]) sessions.push(await place.addSession(days));
    for (const days of [3, 2, 0.5]) {
      await store.collection(RESPONSES).insert({
        ...{ id: `r${days}`, ownerId: place.ownerId, wire: '', input: '', earlier: [], bytes: 0 },
        createdAt: NOW - days * DAY_MS,
      });
    }
    expect(await place.run(true)).toEqual({ sessions: 3, responses: 2, deliveries: 0 });
    expect(await place.run()).toEqual({ sessions: 3, responses: 2, deliveries: 0 });
    expect((await store.collection(SESSIONS).find({})).map(({ id }) => id).sort()).toEqual(
      sessions.slice(3).toSorted(),
    );
    expect((await store.collection(RESPONSES).find({})).map(({ id }) => id)).toEqual(['r0.5']);
  });

  it('deletes each message once when two processes run at the same time', async () => {
    const place = await createPlace({ retention: { messages: 30 } });
    const session = await place.addSession(1);
    for (let days = 31; days < 81; days += 1) await place.addTurn(session, days);
    await place.addTurn(session, 1);
    await Promise.all([place.run(), place.run()]);
    await place.run();
    expect(await place.findTimes(session)).toEqual([1, 1]);
    expect(await place.readUsage()).toBe(2 * MESSAGE_BYTES);
  });
});
