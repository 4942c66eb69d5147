import type { Store } from '../ports/store.ts';
import type { Desk } from '../quests/desk.ts';
import { QUESTS } from '../quests/records.ts';
import { saveProgress } from '../quests/transitions.ts';
import { STEPS, type StepRecord } from './records.ts';

const BATCH = 1000;

export type NewStep = Pick<StepRecord, 'type' | 'content' | 'iteration' | 'toolName'>;

/** All steps of a run, in order. */
export async function stepsOf(store: Store, executionId: string): Promise<readonly StepRecord[]> {
  const steps = store.collection(STEPS);
  const all: StepRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const batch = await steps.find(
      { executionId },
      {
        order: { field: 'number', direction: 'asc' },
        limit: BATCH,
        ...(last !== undefined && { after: { value: last.number, id: last.id } }),
      },
    );
    all.push(...batch);
    if (batch.length < BATCH) return all;
  }
}

/** Writes steps down as they happen, under the worker's fence: one that has lost the run adds nothing to it. */
export function createStepWriter(
  services: { readonly store: Store; readonly now: () => number },
  { quest, job, journal, signal }: Desk,
): (step: NewStep) => Promise<void> {
  let written = 0;
  return async (step) => {
    const number = written;
    written += 1;
    const isHeld = await services.store.transaction(async (store) => {
      const held = await saveProgress(store.collection(QUESTS), quest.id, job, {}, services.now());
      if (held === undefined) return false;
      await insertStep(store, quest, number, step);
      return true;
    });
    if (isHeld) return;
    // The journal finds that out too, and breaks the work off.
    await journal.save();
    signal.throwIfAborted();
  };
}

/** @param quest the run. */
export async function insertStep(
  store: Store,
  quest: { readonly id: string; readonly sessionId: string },
  number: number,
  step: NewStep,
): Promise<void> {
  const { id: executionId, sessionId } = quest;
  await store
    .collection(STEPS)
    .insert({ id: `${executionId}:${number}`, executionId, sessionId, number, ...step });
}
