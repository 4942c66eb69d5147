import { expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { changeStored, openGeneration, POLL } from '../../../test/generations.ts';
import { StorageUnavailable } from '../../ports/store.ts';

it('notes a submission as soon as the store is back', async () => {
  let outages = 4;
  const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
    change: ({ store }) => ({
      store: {
        ...store,
        collection: (definition: never) => {
          const records = store.collection(definition) as ReturnType<typeof store.collection>;
          const update = async (...given: Parameters<typeof records.update>) => {
            if ((given[1] as { step?: string }).step === 'submitted' && outages > 0) {
              outages -= 1;
              throw new StorageUnavailable('away');
            }
            return records.update(...given);
          };
          return { ...records, update } as never;
        },
      },
    }),
  });
  const running = opened.run();
  for (const pause of [200, 1000, 5000, 15_000]) {
    await settle();
    await opened.clock.advance(pause - 1);
    expect((await opened.get()).step).toBe('submitting');
    await opened.clock.advance(1);
  }
  expect(await running).toEqual(POLL);
  expect(await opened.get()).toMatchObject({ step: 'submitted', providerJobId: 'job-1' });
});

it('does not repeat a write that another error ended', async () => {
  const { run, get } = await openGeneration({
    change: ({ store }) => ({
      store: changeStored(store, ({ update }) => ({
        async update(id, patch, ...more) {
          if (patch.step === 'submitted') throw new TypeError('broken');
          return update(id, patch, ...more);
        },
      })),
    }),
  });
  await expect(run()).rejects.toThrow('broken');
  expect((await get()).step).toBe('submitting');
});

it('notes a submission whose write succeeded in spite of an error', async () => {
  let isLost = true;
  const { clock, run, get } = await openGeneration({
    change: ({ store }) => ({
      store: {
        ...store,
        collection: (definition: never) => {
          const records = store.collection(definition) as ReturnType<typeof store.collection>;
          const update = async (...given: Parameters<typeof records.update>) => {
            const updated = await records.update(...given);
            if ((given[1] as { step?: string }).step !== 'submitted' || !isLost) return updated;
            isLost = false;
            throw new StorageUnavailable('lost');
          };
          return { ...records, update } as never;
        },
      },
    }),
  });
  const running = run();
  await settle();
  await clock.advance(200);
  expect(await running).toEqual(POLL);
  expect(await get()).toMatchObject({ step: 'submitted', providerJobId: 'job-1' });
});
