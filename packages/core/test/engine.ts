import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { createEngine, type EngineParts } from '../src/jobs/engine.ts';
import { createJobSlots } from '../src/jobs/job-slots.ts';
import { watchJobs } from '../src/jobs/job-watch.ts';
import { DEFAULT_WORKER_SETTINGS } from '../src/jobs/worker-settings.ts';
import type { Observer } from '../src/observability/observer.ts';
import { createAdmissionControl } from '../src/operations/admission-control.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Store } from '../src/ports/store.ts';
import type { Incident } from '../src/shared/incident.ts';

export const MINUTE = 60_000;

/** An engine on memory ports. */
export function openEngine(
  parts: Partial<EngineParts> = {},
  store: Store = createMemoryStore(),
  observer?: Observer,
) {
  const clock = createFakeClock();
  const delays: number[] = [];
  const watched: Clock = {
    now: clock.now,
    timer(delay, callback) {
      delays.push(delay);
      return clock.timer(delay, callback);
    },
  };
  const reported: Incident[] = [];
  const onError = (incident: Incident): void => void reported.push(incident);
  const inner = createMemoryQueue({ clock, ids: createFakeIds() });
  const { queue, jobWatch } = watchJobs(inner, { clock, onError });
  const admissionControl = createAdmissionControl();
  const jobSlots = createJobSlots();
  let drained = 0;
  const engine = createEngine(
    {
      ...{ store, queue, jobWatch, jobSlots, clock: watched, admissionControl, onError },
      ...{ worker: DEFAULT_WORKER_SETTINGS, ...(observer && { observer }) },
    },
    {
      ...{ handlers: [], periodicTasks: [], subscriptions: [], ...parts },
      onDrained: () => {
        drained += 1;
      },
    },
  );
  return { clock, queue, jobWatch, admissionControl, engine, reported, delays, countDrained: () => drained };
}

/** A promise and its end. */
export function open() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { ended, end };
}
