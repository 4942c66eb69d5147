import { describe, expect, it } from 'vitest';
import { type PlannedTask, planIn } from './plan.ts';
import { runPlan, type TaskOutcome, type TaskState } from './schedule.ts';

const task = (id: string, ...dependsOn: string[]): PlannedTask => ({
  id,
  title: `Task ${id}`,
  instructions: `Do ${id}.`,
  dependsOn,
});
const said = (...tasks: object[]): string => `Here is my plan: ${JSON.stringify({ tasks })}`;

describe('plan', () => {
  it('orders each task after its prerequisites', () => {
    const plan = planIn(said(task('c', 'a', 'b', 'a'), task('b', 'a'), task('a')));
    expect(plan?.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(plan?.[2]?.dependsOn).toEqual(['a', 'b']);
  });

  it('has at most eight tasks, and bounds their texts', () => {
    const plan = (change: object, count = 8) =>
      planIn(
        said(...Array.from({ length: count }, (_, at) => ({ ...task(`t${at}`), ...(at === 0 && change) }))),
      );
    const long = { id: 'x'.repeat(40), title: 'x'.repeat(200), instructions: 'x'.repeat(4000) };
    expect(plan(long)).toHaveLength(8);
    for (const [field, text] of Object.entries(long)) expect(plan({ [field]: `${text}x` })).toBeUndefined();
    for (const field of Object.keys(long)) expect(plan({ [field]: '' })).toBeUndefined();
    expect(plan({ dependsOn: Array(8).fill('t1') })?.[7]?.dependsOn).toEqual(['t1']);
    expect(plan({ dependsOn: Array(9).fill('t1') })).toBeUndefined();
    expect(plan({}, 2)).toHaveLength(2);
  });

  it('accepts numbers as ids, and a missing list of prerequisites', () => {
    expect(
      planIn(
        said(
          { id: 1, title: 'x', instructions: 'x' },
          { id: 2, title: 'y', instructions: 'y', dependsOn: [1] },
        ),
      ),
    ).toMatchObject([
      { id: '1', dependsOn: [] },
      { id: '2', dependsOn: ['1'] },
    ]);
  });

  it.each([
    ['no JSON', 'I would rather not.'],
    ['broken JSON', '{"tasks": ['],
    ['something else', '{"steps": []}'],
    ['nothing to do', said()],
    ['a single task', said(task('a'))],
    ['an id twice', said(task('a'), task('a'))],
    ['an unknown need', said(task('a'), task('b', 'z'))],
    ['a circle', said(task('a'), task('b', 'c'), task('c', 'b'))],
    ['a task that needs itself', said(task('a'), task('b', 'b'))],
    ['a task without instructions', said(task('a'), { id: 'b', title: 'b', instructions: '' })],
    ['too many tasks', said(...Array.from({ length: 9 }, (_, n) => task(`t${n}`)))],
  ])('is undefined for %s', (_name, text) => {
    expect(planIn(text)).toBeUndefined();
  });
});

/** Runs a plan whose tasks are ended by the test. */
function started(plan: readonly PlannedTask[]) {
  const running = new Map<string, { end(outcome: TaskOutcome): void; fail(reason: unknown): void }>();
  const states: [string, TaskState][] = [];
  const results: [string, TaskState, string | undefined][] = [];
  const given = new Map<string, readonly string[]>();
  const end = runPlan(plan, {
    run: ({ id }, results) =>
      new Promise((resolve, reject) => {
        given.set(id, [...results.keys()]);
        running.set(id, {
          end: (outcome) => {
            running.delete(id);
            resolve(outcome);
          },
          fail: (reason) => {
            running.delete(id);
            reject(reason as Error);
          },
        });
      }),
    changed: ({ id }, state, result) => {
      states.push([id, state]);
      results.push([id, state, result]);
    },
  });
  end.catch(() => undefined);
  return { running, states, results, given, end };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const done = (result: string): TaskOutcome => ({ state: 'done', result });

describe('execution of a plan', () => {
  it('runs independent tasks in parallel, at most three at a time, and dependants after them', async () => {
    const plan = [task('a'), task('b'), task('c'), task('d'), task('e', 'a', 'b')];
    const { running, given, end } = started(plan);
    expect([...running.keys()]).toEqual(['a', 'b', 'c']);
    running.get('a')?.end(done('A'));
    await turn();
    expect([...running.keys()]).toEqual(['b', 'c', 'd']);
    running.get('b')?.end(done('B'));
    await turn();
    expect([...running.keys()]).toEqual(['c', 'd', 'e']);
    expect(given.get('e')).toEqual(['a', 'b']);
    for (const one of ['c', 'd', 'e']) running.get(one)?.end(done(one.toUpperCase()));
    expect(Object.fromEntries(await end)).toEqual({ a: 'A', b: 'B', c: 'C', d: 'D', e: 'E' });
  });

  it('skips tasks that depend on a failed one, even indirectly, and continues with the rest', async () => {
    const { running, states, end } = started([task('a'), task('b', 'a'), task('c', 'b'), task('d')]);
    running.get('a')?.end({ state: 'failed', result: 'no' });
    running.get('d')?.end(done('D'));
    expect(Object.fromEntries(await end)).toEqual({ d: 'D' });
    expect(Object.fromEntries(states)).toEqual({ a: 'failed', b: 'skipped', c: 'skipped', d: 'done' });
  });

  it('reports each state, with the result of a task or the reason of its failure', async () => {
    const { running, results, end } = started([task('a'), task('b'), task('c', 'b')]);
    running.get('a')?.end(done('A'));
    running.get('b')?.end({ state: 'failed', result: 'no' });
    await end;
    expect(results).toEqual([
      ['a', 'running', undefined],
      ['b', 'running', undefined],
      ['a', 'done', 'A'],
      ['b', 'failed', 'no'],
      ['c', 'skipped', undefined],
    ]);
  });

  it('reports a task that broke as failed', async () => {
    const { running, results, end } = started([task('a'), task('b')]);
    running.get('a')?.fail(new Error('broken'));
    await turn();
    running.get('b')?.end(done('B'));
    await expect(end).rejects.toThrow('broken');
    expect(results).toContainEqual(['a', 'failed', undefined]);
  });

  it('retries a postponed task when there is room', async () => {
    const { running, states, end } = started([task('a'), task('b'), task('c')]);
    running.get('b')?.end({ state: 'postponed', reason: 'no room' });
    running.get('c')?.end({ state: 'postponed', reason: 'no room' });
    await turn();
    expect([...running.keys()]).toEqual(['a']);
    running.get('a')?.end(done('A'));
    await turn();
    expect([...running.keys()]).toEqual(['b']);
    running.get('b')?.end(done('B'));
    await turn();
    running.get('c')?.end(done('C'));
    expect([...(await end).keys()]).toEqual(['a', 'b', 'c']);
    expect(states.filter(([, state]) => state === 'pending')).toHaveLength(2);
  });

  it('rejects when a task has no room even alone', async () => {
    const { running, end } = started([task('a'), task('b'), task('c', 'a')]);
    running.get('a')?.end(done('A'));
    await turn();
    running.get('b')?.end({ state: 'postponed', reason: new Error('no credit') });
    await turn();
    running.get('c')?.end({ state: 'postponed', reason: new Error('no credit') });
    await turn();
    running.get('b')?.end({ state: 'postponed', reason: new Error('no credit') });
    await expect(end).rejects.toThrow('no credit');
    expect(running.size).toBe(0);
  });

  it('starts no task after an abort, and waits for the running ones', async () => {
    const { running, end } = started([task('a'), task('b'), task('c'), task('d')]);
    let isOver = false;
    end.then(
      () => undefined,
      () => {
        isOver = true;
      },
    );
    running.get('a')?.fail(new Error('stopped'));
    await turn();
    expect([[...running.keys()], isOver]).toEqual([['b', 'c'], false]);
    running.get('b')?.end(done('B'));
    running.get('c')?.end(done('C'));
    await expect(end).rejects.toThrow('stopped');
  });
});
