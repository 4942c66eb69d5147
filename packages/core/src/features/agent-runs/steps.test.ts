import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import { STEPS } from './records.ts';
import { buildStep, createStepWriter, getSteps } from './steps.ts';

const RUN = { id: 'q', sessionId: 's' };
const THOUGHT = { type: 'thought', content: 'Hm.', iteration: 1 } as const;
const ACTION = { type: 'action', content: '{}', iteration: 2, toolName: 'look' } as const;

/** A run that the worker with the given fence writes; the first lease owns it. */
async function setUp({
  fence = 1,
  first,
  isAborted = false,
}: {
  fence?: number;
  first?: number;
  isAborted?: boolean;
} = {}) {
  const store = createMemoryStore();
  const quest = { ...RUN, status: 'running', jobId: 'job', fence: 1, updatedAt: 1 } as Partial<QuestRecord>;
  await store.collection(QUESTS).insert(quest as QuestRecord);
  const stop = new AbortController();
  const emitted: unknown[] = [];
  let saves = 0;
  const run = {
    ...{ quest, job: { id: 'job', fence } as LeasedJob, signal: stop.signal },
    live: { emit: (event: unknown) => void emitted.push(event) },
    writer: {
      async save() {
        await new Promise(setImmediate);
        saves += 1;
        if (isAborted) stop.abort(new Error('lost'));
      },
    },
  } as unknown as RunContext;
  const steps = createStepWriter({ store: delayed(store), now: () => 50 }, run, first);
  return { store, steps, emitted, countSaves: () => saves };
}

describe('steps of a run', () => {
  it('are stored in their order before readers see them', async () => {
    const { store, steps, emitted, countSaves } = await setUp();
    await steps.write(THOUGHT);
    await steps.write(ACTION);
    expect(steps.written()).toBe(2);
    expect(await getSteps(store, 'q')).toEqual([buildStep(RUN, 0, THOUGHT), buildStep(RUN, 1, ACTION)]);
    expect(emitted).toEqual([
      { type: 'step', iteration: 1, step: { type: 'thought', content: 'Hm.' } },
      { type: 'step', iteration: 2, step: { type: 'action', content: '{}', tool_name: 'look' } },
    ]);
    expect((await store.collection(QUESTS).get('q'))?.updatedAt).toBe(50);
    expect(countSaves()).toBe(0);
  });

  it('go on behind those of an earlier worker', async () => {
    const { store, steps } = await setUp({ first: 3 });
    expect(steps.written()).toBe(3);
    await steps.write(THOUGHT);
    expect(await getSteps(store, 'q')).toEqual([buildStep(RUN, 3, THOUGHT)]);
  });

  it('of a worker that has lost the run are neither stored nor shown, and its work stops', async () => {
    const { store, steps, emitted, countSaves } = await setUp({ fence: 0, isAborted: true });
    await expect(steps.write(THOUGHT)).rejects.toThrow('lost');
    expect([await getSteps(store, 'q'), emitted, countSaves()]).toEqual([[], [], 1]);
  });

  it('are read completely, and of one run only', async () => {
    const store = createMemoryStore();
    const collection = store.collection(STEPS);
    for (let number = 0; number < 1001; number += 1) await collection.insert(buildStep(RUN, number, THOUGHT));
    await collection.insert(buildStep({ ...RUN, id: 'other' }, 0, THOUGHT));
    const found = await getSteps(store, 'q');
    expect(found.map(({ number }) => number)).toEqual(Array.from({ length: 1001 }, (_, at) => at));
    expect(await getSteps(store, 'none')).toEqual([]);
  });
});
