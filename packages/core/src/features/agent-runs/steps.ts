import type { Store } from '../../ports/store.ts';
import { QUESTS } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import { saveProgress } from '../../runs/transitions.ts';
import { STEPS, type StepRecord } from './records.ts';

const BATCH = 1000;

export type NewStep = Pick<StepRecord, 'type' | 'content' | 'iteration' | 'toolName'>;

/** Returns all steps of a run, in order. */
export async function getSteps(store: Store, executionId: string): Promise<readonly StepRecord[]> {
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

export interface StepWriter {
  write(step: NewStep): Promise<void>;
  /** The number of the next step. */
  written(): number;
}

/**
 * Writes steps as they happen, under the worker's fence: a worker that has lost the run adds no steps.
 * @param first the number of the next step.
 */
export function createStepWriter(
  services: { readonly store: Store; readonly now: () => number },
  { quest, job, writer, live, signal }: RunContext,
  first = 0,
): StepWriter {
  let written = first;
  const write = async (step: NewStep): Promise<void> => {
    const number = written;
    written += 1;
    const isHeld = await services.store.transaction(async (store) => {
      const held = await saveProgress(store.collection(QUESTS), quest.id, job, {}, services.now());
      if (held === undefined) return false;
      await insertStep(store, quest, number, step);
      return true;
    });
    if (isHeld) {
      const { type, content, iteration, toolName } = step;
      const shown = { type, content, ...(toolName !== undefined && { tool_name: toolName }) };
      live.emit({ type: 'step', iteration, step: shown });
      return;
    }
    // The progress writer detects the lost fence too, and aborts the work.
    await writer.save();
    signal.throwIfAborted();
  };
  return {
    write,
    written: () => written,
  };
}

/** @param quest the run. */
async function insertStep(
  store: Store,
  quest: { readonly id: string; readonly sessionId: string },
  number: number,
  step: NewStep,
): Promise<void> {
  await store.collection(STEPS).insert(buildStep(quest, number, step));
}

export function buildStep(
  { id: executionId, sessionId }: { readonly id: string; readonly sessionId: string },
  number: number,
  step: NewStep,
): StepRecord {
  return { id: `${executionId}:${number}`, executionId, sessionId, number, ...step };
}
