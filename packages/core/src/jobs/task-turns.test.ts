import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createAdmissionControl } from '../operations/admission-control.ts';
import type { Store } from '../ports/store.ts';
import { createEngine, type Engine } from './engine.ts';
import { createJobSlots } from './job-slots.ts';
import { watchJobs } from './job-watch.ts';
import { createTaskTurns, TASK_TURNS } from './task-turns.ts';
import { DEFAULT_WORKER_SETTINGS } from './worker-settings.ts';

const MINUTE = 60_000;

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const runs: string[] = [];
  const open = (name: string, on: Store = store): Engine => {
    const onError = (incident: { error: unknown }) => void runs.push(String(incident.error));
    const watch = watchJobs(createMemoryQueue({ clock, ids: createFakeIds() }), { clock, onError });
    return createEngine(
      {
        ...{ store: on, clock, onError, worker: DEFAULT_WORKER_SETTINGS, jobSlots: createJobSlots() },
        ...{ queue: watch.queue, jobWatch: watch.jobWatch, admissionControl: createAdmissionControl() },
      },
      {
        handlers: [],
        periodicTasks: [{ name: 'sweep', everyMs: MINUTE, run: async () => runs.push(name) }],
        subscriptions: [],
        onDrained() {},
      },
    );
  };
  return { clock, store, runs, open };
}

describe('periodic tasks', () => {
  it('run once per period in one of several processes, and in another one when that process ends', async () => {
    const { clock, runs, open } = setUp();
    const engines = [open('first'), open('second'), open('third')];
    for (const engine of engines) {
      await engine.start();
      await clock.advance(1000);
    }
    for (let period = 0; period < 5; period += 1) await clock.advance(MINUTE);
    expect(runs).toHaveLength(5);
    const owner = ['first', 'second', 'third'].indexOf(runs[0] ?? '');
    await engines[owner]?.drain(0);
    runs.length = 0;
    for (let period = 0; period < 3; period += 1) await clock.advance(MINUTE);
    expect(runs.length).toBeGreaterThanOrEqual(2);
    expect(runs).not.toContain(['first', 'second', 'third'][owner]);
    await Promise.all(engines.map((engine) => engine.drain(0)));
  });

  it('run once when two processes look at the same moment', async () => {
    const { clock, store, runs, open } = setUp();
    const engines = [open('first'), open('second')];
    await Promise.all(engines.map((engine) => engine.start()));
    for (let period = 0; period < 4; period += 1) await clock.advance(MINUTE);
    expect(runs).toHaveLength(4);
    expect(await store.collection(TASK_TURNS).count({})).toBe(1);
    await Promise.all(engines.map((engine) => engine.drain(0)));
  });

  it('run despite a turn far ahead that a wrong clock has written', async () => {
    const { clock, store, runs, open } = setUp();
    await store
      .collection(TASK_TURNS)
      .insert({ id: 'sweep', nextRunAt: clock.now() + 365 * 24 * 60 * MINUTE });
    const engine = open('first');
    await engine.start();
    await clock.advance(MINUTE);
    expect(runs).toEqual(['first']);
    await engine.drain(0);
  });
});

describe('a turn', () => {
  it('is taken once in nine tenths of the period', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const turns = [createTaskTurns({ store, clock }), createTaskTurns({ store, clock })];
    const takeAll = (task: { name: string; everyMs: number }) =>
      Promise.all(turns.map((one) => one.take(task)));
    const task = { name: 'sweep', everyMs: 1001 };
    expect((await takeAll(task)).sort()).toEqual([false, true]);
    expect((await takeAll({ ...task, name: 'other' })).sort()).toEqual([false, true]);
    await clock.advance(899);
    expect(await takeAll(task)).toEqual([false, false]);
    await clock.advance(1);
    expect((await takeAll(task)).sort()).toEqual([false, true]);
    expect(await store.collection(TASK_TURNS).get('sweep')).toEqual({
      id: 'sweep',
      nextRunAt: clock.now() + 900,
    });
  });

  it('up to a period ahead is waited for, and one beyond comes from a wrong clock', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const turns = createTaskTurns({ store, clock });
    await store.collection(TASK_TURNS).insert({ id: 'near', nextRunAt: clock.now() + 1000 });
    await store.collection(TASK_TURNS).insert({ id: 'far', nextRunAt: clock.now() + 1001 });
    expect(await turns.take({ name: 'near', everyMs: 1000 })).toBe(false);
    expect(await turns.take({ name: 'far', everyMs: 1000 })).toBe(true);
  });
});
