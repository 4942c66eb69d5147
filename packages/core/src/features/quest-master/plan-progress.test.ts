import { expect, it } from 'vitest';
import type { ProgressWriter } from '../../runs/progress-writer.ts';
import { PLAN_PAYLOAD, type ToolPayload } from '../../runs/records.ts';
import { createPlanProgress, endedPlan } from './plan-progress.ts';

const PLAN = [
  { id: 'a', title: 'A', instructions: 'Do A.', dependsOn: [] },
  { id: 'b', title: 'B', instructions: 'Do B.', dependsOn: ['a'] },
] as const;
const [A, B] = PLAN;

function start() {
  const shown: ToolPayload[] = [];
  const show = (payload: ToolPayload) => {
    shown.push(payload);
    return (next: ToolPayload) => void shown.push(next);
  };
  const progress = createPlanProgress({ show } as unknown as ProgressWriter, PLAN);
  const tasks = (at: number) => (shown.at(at)?.payload as { readonly tasks?: unknown } | undefined)?.tasks;
  return { shown, progress, tasks };
}

it('shows the plan at once, without the instructions', () => {
  const { shown } = start();
  expect(shown).toEqual([
    {
      type: PLAN_PAYLOAD,
      payload: {
        tasks: [
          { id: 'a', title: 'A', dependsOn: [], state: 'pending' },
          { id: 'b', title: 'B', dependsOn: ['a'], state: 'pending' },
        ],
      },
    },
  ]);
});

it('shows each change, and keeps the result so far', () => {
  const { progress, tasks } = start();
  progress.changed(A, 'running', 'so far');
  progress.changed(A, 'done');
  expect(tasks(-1)).toMatchObject([{ state: 'done', result: 'so far' }, { state: 'pending' }]);
  progress.changed(B, 'failed', 'why');
  expect(tasks(-1)).toEqual([
    { id: 'a', title: 'A', dependsOn: [], state: 'done', result: 'so far' },
    { id: 'b', title: 'B', dependsOn: ['a'], state: 'failed', result: 'why' },
  ]);
  // What was shown before does not change.
  expect(tasks(0)).toMatchObject([{ state: 'pending' }, { state: 'pending' }]);
});

it('of an ended quest has no open task', () => {
  const tasks = (['pending', 'running', 'done', 'failed', 'skipped'] as const).map((state) => ({
    id: state,
    title: state,
    dependsOn: [],
    state,
    result: 'r',
  }));
  const ended = endedPlan({ type: PLAN_PAYLOAD, payload: { tasks } });
  const states = { pending: 'stopped', running: 'stopped' } as Readonly<Record<string, string>>;
  expect(ended).toEqual({
    type: PLAN_PAYLOAD,
    payload: { tasks: tasks.map((one) => ({ ...one, state: states[one.state] ?? one.state })) },
  });
});
