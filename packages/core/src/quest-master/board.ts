import type { Journal } from '../quests/journal.ts';
import { PLAN_PAYLOAD, type ToolPayload } from '../quests/records.ts';
import type { Plan, PlannedTask } from './plan.ts';
import type { TaskState } from './schedule.ts';

/** How a task stands. */
interface ShownTask {
  readonly id: string;
  readonly title: string;
  readonly dependsOn: readonly string[];
  readonly state: TaskState | 'stopped';
  /** What came out so far, or why nothing did. */
  readonly result?: string;
}

/** The plan as the client sees it, while it is worked on and afterwards. */
interface Board {
  changed(task: PlannedTask, state: TaskState, result?: string): void;
}

export function createBoard(journal: Journal, plan: Plan): Board {
  const shown = new Map<string, ShownTask>(
    plan.map(({ id, title, dependsOn }) => [id, { id, title, dependsOn, state: 'pending' }]),
  );
  const payload = (): ToolPayload => ({
    type: PLAN_PAYLOAD,
    payload: { tasks: [...shown.values()].map((task) => ({ ...task })) },
  });
  const show = journal.show(payload());
  return {
    changed({ id, title, dependsOn }, state, result = shown.get(id)?.result) {
      shown.set(id, { id, title, dependsOn, state, ...(result !== undefined && { result }) });
      show(payload());
    },
  };
}

/** The plan of a quest that has ended, however it did: what was not done by then never will be. */
export function endedPlan({ type, payload }: ToolPayload): ToolPayload {
  const { tasks } = payload as unknown as { readonly tasks: readonly ShownTask[] };
  const ended = tasks.map(
    (task): ShownTask =>
      task.state === 'running' || task.state === 'pending' ? { ...task, state: 'stopped' } : task,
  );
  return { type, payload: { tasks: ended.map((task) => ({ ...task })) } };
}
