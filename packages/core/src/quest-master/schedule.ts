import type { Plan, PlannedTask } from './plan.ts';

/** How many tasks are worked on at a time. */
const MOST_AT_ONCE = 3;

export type TaskState = 'pending' | 'running' | 'done' | 'failed' | 'skipped';

/** What a task has come to. */
export type TaskOutcome =
  | { readonly state: 'done'; readonly result: string }
  | { readonly state: 'failed'; readonly result: string }
  /** Nothing was done and nothing spent: there was no room while others were running. */
  | { readonly state: 'postponed'; readonly reason: unknown };

export interface ScheduleParts {
  /** Works on one task. Rejects to end everything: the others are waited for, and nothing more is begun. */
  run(task: PlannedTask, results: ReadonlyMap<string, string>): Promise<TaskOutcome>;
  changed(task: PlannedTask, state: TaskState, result: string | undefined): void;
}

/**
 * Works on all tasks, each once those it needs are done, independent ones side by side. A task whose needs have failed is
 * skipped. A postponed one is tried again when another has ended; when it cannot be done even alone, its reason rejects.
 * @returns the results of the tasks that are done.
 */
export async function runPlan(plan: Plan, parts: ScheduleParts): Promise<ReadonlyMap<string, string>> {
  const waiting = new Set(plan);
  const results = new Map<string, string>();
  const lost = new Set<string>();
  const running = new Map<PlannedTask, Promise<void>>();
  let atOnce = MOST_AT_ONCE;
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
        // Alone it would have had all the room there is.
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
