import * as z from 'zod';
import { text } from '../../contract/text.ts';
import { jsonIn } from '../conversation/json.ts';

const MAX_TASKS = 8;

const plan = z.object({
  tasks: z
    .array(
      z.object({
        id: z.coerce.string().min(1).max(40),
        title: text({ min: 1, max: 200 }),
        instructions: text({ min: 1, max: 4000 }),
        dependsOn: z.array(z.coerce.string()).max(MAX_TASKS).default([]),
      }),
    )
    .max(MAX_TASKS),
});

/** One part of a request. */
export interface PlannedTask {
  readonly id: string;
  readonly title: string;
  readonly instructions: string;
  /** Ids of its prerequisites: tasks whose results it needs. */
  readonly dependsOn: readonly string[];
}

/** Two or more tasks in an order in which each comes after its prerequisites. */
export type Plan = readonly PlannedTask[];

/**
 * Parses the plan in a model's text. @returns undefined for an unusable plan: invalid JSON, a single task, a task with an
 * unknown prerequisite, or a cycle.
 */
export function planIn(said: string): Plan | undefined {
  const found = plan.safeParse(jsonIn(said));
  if (!found.success || found.data.tasks.length < 2) return undefined;
  const { tasks } = found.data;
  if (new Set(tasks.map(({ id }) => id)).size < tasks.length) return undefined;
  const ordered: PlannedTask[] = [];
  const placed = new Set<string>();
  while (ordered.length < tasks.length) {
    const next = tasks.filter(
      ({ id, dependsOn }) => !placed.has(id) && dependsOn.every((need) => placed.has(need)),
    );
    if (next.length === 0) return undefined;
    for (const task of next) {
      ordered.push({ ...task, dependsOn: [...new Set(task.dependsOn)] });
      placed.add(task.id);
    }
  }
  return ordered;
}
