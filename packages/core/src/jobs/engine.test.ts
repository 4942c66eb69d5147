import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createAdmissionControl } from '../operations/admission-control.ts';
import { createEngine } from './engine.ts';
import { createJobSlots } from './job-slots.ts';
import { watchJobs } from './job-watch.ts';
import { DEFAULT_WORKER_SETTINGS } from './worker-settings.ts';

/** An engine with a periodic task that ends when the test says so. */
async function setUp() {
  const clock = createFakeClock();
  const onError = () => undefined;
  const { queue, jobWatch } = watchJobs(createMemoryQueue({ clock, ids: createFakeIds() }), {
    clock,
    onError,
  });
  let end = (): void => undefined;
  const engine = createEngine(
    {
      store: createMemoryStore(),
      admissionControl: createAdmissionControl(),
      worker: DEFAULT_WORKER_SETTINGS,
      ...{ queue, jobWatch, jobSlots: createJobSlots(), clock, onError },
    },
    {
      handlers: [],
      subscriptions: [],
      onDrained: () => undefined,
      periodicTasks: [
        {
          name: 'slow',
          everyMs: 60_000,
          atStart: true,
          run: () =>
            new Promise<void>((resolve) => {
              end = resolve;
            }),
        },
      ],
    },
  );
  await engine.start();
  let isDrained = false;
  const draining = engine.drain(0).then(() => {
    isDrained = true;
  });
  await clock.advance(999);
  return { clock, draining, end: () => end(), isDrained: () => isDrained };
}

it('waits for running periodic tasks before it is drained, so that the host can close its ports', async () => {
  const { draining, end, isDrained } = await setUp();
  expect(isDrained()).toBe(false);
  end();
  await draining;
});

it('waits for a periodic task that hangs one second', async () => {
  const { clock, draining, isDrained } = await setUp();
  expect(isDrained()).toBe(false);
  await clock.advance(1000);
  await draining;
});
