import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { JobInterrupted } from '../jobs/interruption.ts';
import type { QuestRecord } from './records.ts';
import { createRunningQuests, untilInterrupted } from './running.ts';

const ID = 'q1';
const HOLDER = { id: 'job', fence: 1 };
const quest = (more: Partial<QuestRecord> = {}) =>
  ({ id: ID, status: 'running', jobId: 'job', fence: 1, ...more }) as QuestRecord;
const signal = () => new AbortController().signal;

describe('runs of a process', () => {
  it('are interrupted with the reason of their job, or because the quest was stopped', () => {
    for (const reason of ['lease-lost', 'stopping'] as const) {
      const control = new AbortController();
      const run = createRunningQuests().enter(ID, control.signal);
      expect([run.signal.aborted, run.interruption()]).toEqual([false, undefined]);
      control.abort(new JobInterrupted(reason));
      expect([run.signal.reason, run.interruption()]).toEqual([new JobInterrupted(reason), reason]);
    }
    const run = createRunningQuests().enter(ID, signal());
    run.stop();
    expect([run.signal.aborted, run.interruption()]).toEqual([true, 'stopped']);
  });

  it('are interrupted from the beginning where their job is', () => {
    const aborted = AbortSignal.abort(new JobInterrupted('stopping'));
    expect(createRunningQuests().enter(ID, aborted).interruption()).toBe('stopping');
  });

  it('are stopped by the id of their quest, all of them, until they are removed', () => {
    const quests = createRunningQuests();
    const [first, second, other] = [ID, ID, 'q2'].map((id) => quests.enter(id, signal()));
    quests.stop('q3');
    second?.remove();
    quests.stop(ID);
    expect([first, second, other].map((run) => run?.interruption())).toEqual([
      'stopped',
      undefined,
      undefined,
    ]);
    first?.remove();
    const third = quests.enter(ID, signal());
    first?.remove();
    quests.stop(ID);
    expect(third.interruption()).toBe('stopped');
    const fourth = quests.enter(ID, signal());
    quests.stop(ID);
    expect(fourth.interruption()).toBe('stopped');
  });

  it('leave nothing at the signal of their job', () => {
    const control = new AbortController();
    const run = createRunningQuests().enter(ID, control.signal);
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(1);
    run.remove();
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(0);
  });

  it('show their progress while their worker may write', () => {
    const quests = createRunningQuests();
    expect(quests.read(quest())).toBeUndefined();
    const silent = quests.enter(ID, signal());
    const late = quests.enter(ID, signal());
    late.show({ ...HOLDER, fence: 9 }, () => ({ text: 'late' }));
    const run = quests.enter(ID, signal());
    run.show(HOLDER, () => ({ text: 'mine' }));
    expect(quests.read(quest())).toEqual({ text: 'mine' });
    expect(quests.read(quest({ fence: 9 }))).toEqual({ text: 'late' });
    expect(quests.read(quest({ status: 'done' }))).toBeUndefined();
    expect(quests.read(quest({ id: 'q2' }))).toBeUndefined();
    silent.remove();
    run.remove();
    expect(quests.read(quest())).toBeUndefined();
  });
});

describe('signal until the worker must stop', () => {
  it('ends with an interruption of the job, not with a stop of the quest', () => {
    const interruption = new JobInterrupted('stopping');
    for (const [reason, isAborted] of [
      [interruption, true],
      [new Error('stopped'), false],
    ] as const) {
      const control = new AbortController();
      const before = untilInterrupted(control.signal);
      expect(before.aborted).toBe(false);
      control.abort(reason);
      const after = untilInterrupted(control.signal);
      expect([before.aborted, after.aborted]).toEqual([isAborted, isAborted]);
      if (isAborted) expect([before.reason, after.reason]).toEqual([interruption, interruption]);
    }
  });
});
