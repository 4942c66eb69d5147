import type { Plan, PlannedTask } from './plan.ts';

/** Maximum concurrent tasks. */
const MAX_AT_ONCE = 3;

export type TaskState = 'pending' | 'running' | 'done' | 'failed' | 'skipped';

/** The outcome of a task. */
export type TaskOutcome =
  | { readonly state: 'done'; readonly result: string }
  | { readonly state: 'failed'; readonly result: string }
  /** Nothing was done or charged: running tasks left no room. */
  | { readonly state: 'postponed'; readonly reason: unknown };

export interface ScheduleParts {
  /** Runs one task. A rejection ends the plan: running tasks are awaited, and no further task starts. */
  run(task: PlannedTask, results: ReadonlyMap<string, string>): Promise<TaskOutcome>;
  changed(task: PlannedTask, state: TaskState, result: string | undefined): void;
}

/**
 * Runs all tasks, each after its prerequisites, independent ones in parallel. Skips tasks with a failed prerequisite.
 * Retries a postponed task when another one has ended; rejects with its reason when it fails even alone.
 * @returns the results of the completed tasks.
 */
export async function runPlan(plan: Plan, parts: ScheduleParts): Promise<ReadonlyMap<string, string>> {
  const waiting = new Set(plan);
  const results = new Map<string, string>();
  const lost = new Set<string>();
  const running = new Map<PlannedTask, Promise<void>>();
  let atOnce = MAX_AT_ONCE;
  let failure: { readonly reason: unknown } | undefined;

  const skip = (): void => {
    for (const task of waiting) {
      if (!task.dependsOn.some((need) => lost.has(need))) continue;
      waiting.delete(task);
      lost.add(task.id);
      parts.changed(task, 'skipped', undefined);
    }
  };

  const settle = (task: PlannedTask, outcome: TaskOutcome): void => {
    running.delete(task);
    switch (outcome.state) {
      case 'done':
        results.set(task.id, outcome.result);
        parts.changed(task, 'done', outcome.result);
        break;
      case 'failed':
        lost.add(task.id);
        parts.changed(task, 'failed', outcome.result);
        skip();
        break;
      case 'postponed':
        parts.changed(task, 'pending', undefined);
        // The task was alone: more room is impossible.
        if (running.size === 0 && atOnce === 1) failure ??= { reason: outcome.reason };
        atOnce = Math.max(1, Math.min(atOnce, running.size));
        waiting.add(task);
        break;
    }
  };

  const begin = (task: PlannedTask): void => {
    waiting.delete(task);
    parts.changed(task, 'running', undefined);
    const work = parts.run(task, results).then(
      (outcome) => settle(task, outcome),
      (reason: unknown) => {
        running.delete(task);
        parts.changed(task, 'failed', undefined);
        failure ??= { reason };
      },
    );
    running.set(task, work);
  };

  for (;;) {
    for (const task of plan) {
      if (failure !== undefined || running.size >= atOnce) break;
      if (waiting.has(task) && task.dependsOn.every((need) => results.has(need))) begin(task);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (failure !== undefined) throw failure.reason;
  return results;
}
