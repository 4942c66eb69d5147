import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { MINUTE, open, openEngine } from '../../test/engine.ts';
import type { Observer } from '../observability/observer.ts';

describe('an engine', () => {
  it('runs jobs from its start until it is drained, and rejects work after that', async () => {
    const ran: string[] = [];
    const run = async ({ key }: { key: string }): Promise<undefined> => void ran.push(key);
    const handler = { kind: 'work', concurrency: 1, run };
    const { clock, queue, jobWatch, admissionControl, engine, countDrained } = openEngine({
      handlers: [handler],
    });
    const enqueue = (key: string) => queue.enqueue({ kind: 'work', key, payload: null });
    admissionControl.close();
    await enqueue('before');
    await clock.advance(0);
    expect([ran, await jobWatch.isUnattended()]).toEqual([[], true]);
    await engine.start();
    expect(() => admissionControl.admit()).not.toThrow();
    expect(await jobWatch.isUnattended()).toBe(false);
    await clock.advance(MINUTE);
    await enqueue('after');
    await clock.advance(MINUTE);
    expect(ran).toEqual(['before', 'after']);
    const draining = engine.drain(0);
    expect(() => admissionControl.admit()).toThrow('about to restart');
    await draining;
    expect(countDrained()).toBe(1);
    await enqueue('late');
    await clock.advance(MINUTE);
    expect([ran, await jobWatch.isUnattended()]).toEqual([['before', 'after'], true]);
    await engine.start();
    await clock.advance(MINUTE);
    expect(ran).toEqual(['before', 'after', 'late']);
    await engine.drain(0);
  });

  it('starts once', async () => {
    let subscribed = 0;
    const subscribe = async () => {
      subscribed += 1;
      return async () => undefined;
    };
    const runs: string[] = [];
    const task = { name: 'sweep', everyMs: MINUTE, atStart: true, run: async () => runs.push('sweep') };
    const { clock, engine, admissionControl } = openEngine({
      subscriptions: [subscribe],
      periodicTasks: [task],
    });
    await engine.start();
    admissionControl.close();
    await engine.start();
    await clock.advance(0);
    expect([subscribed, runs.length]).toEqual([1, 1]);
    expect(() => admissionControl.admit()).toThrow('about to restart');
    await engine.drain(0);
    expect(clock.pending).toBe(0);
  });
});

describe('periodic tasks', () => {
  it('run at the start only where they say so, and in their period', async () => {
    const runs: string[] = [];
    const toTask = (name: string, atStart?: boolean) => ({
      ...{ name, everyMs: MINUTE, run: async () => runs.push(name) },
      ...(atStart !== undefined && { atStart }),
    });
    const tasks = [toTask('first', true), toTask('second', false), toTask('third')];
    const { clock, engine } = openEngine({ periodicTasks: tasks });
    await engine.start();
    await clock.advance(MINUTE - 1);
    expect(runs).toEqual(['first']);
    await clock.advance(1);
    expect(runs.sort()).toEqual(['first', 'first', 'second', 'third']);
    await engine.drain(0);
    await clock.advance(5 * MINUTE);
    expect([runs.length, clock.pending]).toEqual([4, 0]);
  });

  it('are reported when they fail, and run again', async () => {
    const error = new Error('away');
    const task = { name: 'sweep', everyMs: MINUTE, atStart: true, run: () => Promise.reject(error) };
    const { clock, engine, reported } = openEngine({ periodicTasks: [task] });
    await engine.start();
    await clock.advance(2 * MINUTE);
    const incident = { operation: 'chore:sweep', requestId: '', error };
    expect(reported).toEqual([incident, incident, incident]);
    await engine.drain(0);
    expect(clock.pending).toBe(0);
  });

  it('are reported when the store does not give them a turn', async () => {
    const runs: string[] = [];
    const task = { name: 'sweep', everyMs: MINUTE, run: async () => runs.push('sweep') };
    const store = createMemoryStore();
    const away = { get: () => Promise.reject(new Error('away')) };
    const { clock, engine, reported } = openEngine(
      { periodicTasks: [task] },
      { ...store, collection: () => away as never },
    );
    await engine.start();
    await clock.advance(MINUTE);
    expect(runs).toEqual([]);
    expect(reported).toMatchObject([{ operation: 'chore:sweep', error: { message: 'away' } }]);
    await engine.drain(0);
  });

  it.each([
    ['lasts, until it ends', 999, true],
    ['lasts, for a second at most', 1000, false],
  ])('hold a shutdown while the run %s', async (_name, after, hasEnded) => {
    const { ended, end } = open();
    const task = { name: 'sweep', everyMs: MINUTE, atStart: true, run: () => ended };
    const { clock, engine, countDrained } = openEngine({ periodicTasks: [task] });
    await engine.start();
    const draining = engine.drain(0);
    await clock.advance(0);
    await clock.advance(998);
    expect(countDrained()).toBe(0);
    await clock.advance(1);
    expect(countDrained()).toBe(0);
    if (hasEnded) end();
    await clock.advance(after - 999);
    expect(countDrained()).toBe(1);
    await draining;
    end();
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  it('do not hold a shutdown after they have ended', async () => {
    const task = { name: 'sweep', everyMs: MINUTE, atStart: true, run: async () => undefined };
    const { clock, engine, delays, countDrained } = openEngine({ periodicTasks: [task] });
    await engine.start();
    await clock.advance(0);
    delays.length = 0;
    const draining = engine.drain(0);
    await clock.advance(0);
    // No timer for tasks.
    expect(delays).not.toContain(1000);
    expect([countDrained(), clock.pending]).toEqual([1, 0]);
    await draining;
  });
});

describe('a shutdown', () => {
  it('waits for jobs, then for the end of subscriptions', async () => {
    const job = open();
    const subscription = open();
    const events: string[] = [];
    const handler = { kind: 'work', concurrency: 1, run: () => job.ended as Promise<undefined> };
    const subscribe = async () => async () => {
      events.push('end');
      await subscription.ended;
    };
    const { clock, queue, engine, countDrained } = openEngine({
      handlers: [handler],
      subscriptions: [subscribe],
    });
    await queue.enqueue({ kind: 'work', key: 'a', payload: null });
    await engine.start();
    await clock.advance(1);
    const draining = engine.drain(10_000);
    await clock.advance(1);
    expect([events, countDrained()]).toEqual([[], 0]);
    job.end();
    await clock.advance(1);
    expect([events, countDrained()]).toEqual([['end'], 0]);
    subscription.end();
    await clock.advance(1);
    expect(countDrained()).toBe(1);
    await draining;
  });
});

it('observes jobs, and reports those that fail', async () => {
  const error = new Error('broken');
  const observed: string[] = [];
  const observer: Observer = {
    job(job, work) {
      observed.push(job.kind);
      return work();
    },
  };
  const handler = { kind: 'work', concurrency: 1, run: () => Promise.reject(error) };
  const { clock, queue, engine, reported } = openEngine(
    { handlers: [handler] },
    createMemoryStore(),
    observer,
  );
  await queue.enqueue({ kind: 'work', key: 'a', payload: null });
  await engine.start();
  await clock.advance(1);
  expect(observed).toEqual(['work']);
  expect(reported).toMatchObject([{ error }]);
  await engine.drain(0);
});
