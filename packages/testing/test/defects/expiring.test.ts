import { createMemoryExpiringRecords } from '@questline/core/memory';
import type { ExpiringRecords } from '@questline/core/ports';
import { createFakeClock, type ExpiringSubject, expiringCases, fakeTime } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

const FOREVER = Number.MAX_SAFE_INTEGER / 2;

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: ExpiringRecords) => Partial<ExpiringRecords>,
): Defect<ExpiringSubject> {
  return {
    name,
    red,
    create: async () => {
      const clock = createFakeClock();
      const sound = createMemoryExpiringRecords({ clock });
      return { records: { ...sound, ...spoil(sound) }, time: fakeTime(clock) };
    },
  };
}

defectTests('store of short-lived records', expiringCases, [
  defect(
    'checks before it creates without a lock',
    ['creates one record in 50 parallel creations of one key'],
    (sound) => ({
      async create(key, value, lifeMs) {
        if ((await sound.get(key)) !== undefined) return false;
        await gap();
        await sound.set(key, value, lifeMs);
        return true;
      },
    }),
  ),
  defect(
    'reads before it removes without a lock',
    ['gives a record to one of 50 parallel takes'],
    (sound) => ({
      async take(key) {
        const value = await sound.get(key);
        await gap();
        await sound.remove(key);
        return value;
      },
    }),
  ),
  defect('never expires a record', ['treats an expired record as absent'], (sound) => ({
    create: (key, value) => sound.create(key, value, FOREVER),
  })),
  defect(
    'extends a record on a rejected creation',
    ['does not extend a record when creation under its key is rejected'],
    (sound) => ({
      async create(key, value, lifeMs) {
        const kept = await sound.get(key);
        await sound.set(key, kept ?? value, lifeMs);
        return kept === undefined;
      },
    }),
  ),
]);
