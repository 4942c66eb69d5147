import { createMemoryEventLog, createMemoryPublisher } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../ports/models.ts';
import { ApiError } from '../shared/errors.ts';
import type { Incident } from '../shared/incident.ts';
import { correctEvents } from './correct-events.ts';
import { toOutcome } from './outcomes.ts';
import type { QuestRecord } from './records.ts';
import { createStopwatch } from './stopwatch.ts';

describe('outcome of a failure', () => {
  const provider = new ProviderError('overloaded', 'secret', { status: 529, code: 'busy' } as never);

  it('is a message for clients, with what the provider said in its own fields', () => {
    const { providerError, ...rest } = toOutcome(provider);
    expect(rest).toEqual({ type: 'error', explanation: expect.not.stringContaining('secret') });
    const caused = toOutcome(new ApiError(502, 'Busy.', { code: 'model_unavailable', cause: provider }));
    expect(caused).toEqual({
      ...{ type: 'error', explanation: 'Busy.', errorCode: 'model_unavailable' },
      ...(providerError && { providerError }),
    });
    expect(toOutcome(new ApiError(422, 'No.'))).toStrictEqual({ type: 'error', explanation: 'No.' });
    expect(toOutcome(new Error('secret'))).toStrictEqual({
      type: 'error',
      explanation: expect.stringMatching(/^Something went wrong/),
    });
  });
});

describe('phases of a run', () => {
  it('are reported with their time, on top of that of earlier runs', async () => {
    const clock = createFakeClock();
    const watch = createStopwatch(clock, ['load', 'model', 'store'], { model: 5, other: 1 });
    await clock.advance(100);
    watch.phase('load');
    await clock.advance(10);
    watch.phase('model');
    await clock.advance(20);
    watch.phase('new');
    await clock.advance(3);
    watch.phase('load');
    await clock.advance(1);
    expect(watch.read()).toEqual({ load: 11, model: 25, store: 0, other: 1, new: 3 });
    await clock.advance(1);
    expect(watch.read()).toMatchObject({ load: 12 });
    expect(createStopwatch(clock, ['load']).read()).toEqual({ load: 0 });
  });
});

describe('events of a crashed worker', () => {
  const setUp = async () => {
    const clock = createFakeClock();
    const eventLog = createMemoryEventLog({ clock });
    const incidents: Incident[] = [];
    const onError = (incident: Incident): void => void incidents.push(incident);
    const services = { clock, eventLog, publisher: createMemoryPublisher(), onError };
    const append = (attempt: number, after: number) =>
      eventLog.append('q1', { attempt, after, events: [{ type: 'text', text: 'more' }], keepMs: 1000 });
    await append(2, 0);
    const correct = (fence: number, isLive?: boolean | 'parts', own = services) =>
      correctEvents(
        own,
        { kind: 'chat', ...(isLive !== undefined && { isLive }) },
        {
          id: 'q1',
          text: 'saved',
        } as QuestRecord,
        { id: 'job', fence },
      );
    return { clock, eventLog, services, incidents, append, correct };
  };
  const reset = { sequence: 2, event: { type: 'reset-step', text: 'saved' } };

  it('end with what it saved, and its late events are refused', async () => {
    const { eventLog, correct, append } = await setUp();
    await correct(3, true);
    expect(await eventLog.read('q1', 1)).toEqual([reset]);
    expect(await append(2, 2)).toMatchObject({ isAppended: false, attempt: 3 });
  });

  it('are corrected also where the queue has lost its fences', async () => {
    const { eventLog, correct, append } = await setUp();
    await correct(1, 'parts');
    expect(await eventLog.read('q1', 1)).toEqual([reset]);
    expect(await append(2, 2)).toMatchObject({ isAppended: false });
  });

  it('are what it saved where the log has lost the others', async () => {
    const { clock, eventLog, correct } = await setUp();
    await clock.advance(1000);
    await eventLog.expire();
    await correct(3, true);
    expect(await eventLog.read('q1', 0)).toEqual([{ ...reset, sequence: 1 }]);
  });

  it('are left alone for work without readers', async () => {
    const { eventLog, correct } = await setUp();
    await correct(3);
    await correct(3, false);
    expect(await eventLog.read('q1', 1)).toEqual([]);
  });

  it('that cannot be corrected are reported', async () => {
    const { services, incidents, correct } = await setUp();
    const error = new Error('away');
    const eventLog = { ...services.eventLog, append: () => Promise.reject(error) };
    await correct(3, true, { ...services, eventLog });
    expect(incidents).toEqual([{ operation: 'job:chat', requestId: '', error }]);
  });
});
