import type { ProgressWriter } from '../../runs/progress-writer.ts';
import { PLAN_PAYLOAD, type ToolPayload } from '../../runs/records.ts';
import type { Plan, PlannedTask } from './plan.ts';
import type { TaskState } from './schedule.ts';

/** The state of a task. */
interface ShownTask {
  readonly id: string;
  readonly title: string;
  readonly dependsOn: readonly string[];
  readonly state: TaskState | 'stopped';
  /** The result so far, or the reason of a failure. */
  readonly result?: string;
}

/** The plan in the form for clients, during the work and afterwards. */
interface PlanProgress {
  changed(task: PlannedTask, state: TaskState, result?: string): void;
}

export function createPlanProgress(writer: ProgressWriter, plan: Plan): PlanProgress {
  const shown = new Map<string, ShownTask>(
    plan.map(({ id, title, dependsOn }) => [id, { id, title, dependsOn, state: 'pending' }]),
  );
  const payload = (): ToolPayload => ({
    type: PLAN_PAYLOAD,
    payload: { tasks: [...shown.values()].map((task) => ({ ...task })) },
  });
  const show = writer.show(payload());
  return {
    changed({ id, title, dependsOn }, state, result = shown.get(id)?.result) {
      shown.set(id, { id, title, dependsOn, state, ...(result !== undefined && { result }) });
      show(payload());
    },
  };
}

/** The plan of an ended quest: tasks that were not done never will be. */
export function endedPlan({ type, payload }: ToolPayload): ToolPayload {
  const { tasks } = payload as unknown as { readonly tasks: readonly ShownTask[] };
  const ended = tasks.map(
    (task): ShownTask =>
      task.state === 'running' || task.state === 'pending' ? { ...task, state: 'stopped' } : task,
  );
  return { type, payload: { tasks: ended.map((task) => ({ ...task })) } };
}
