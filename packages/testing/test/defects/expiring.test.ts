import type { ExpiringRecords } from '@questline/core';
import { createMemoryExpiringRecords } from '@questline/core/memory';
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
  defect('looks before it makes', ['of 50 that make one key at once, one does'], (sound) => ({
    async create(key, value, lifeMs) {
      if ((await sound.get(key)) !== undefined) return false;
      await gap();
      await sound.set(key, value, lifeMs);
      return true;
    },
  })),
  defect('reads before it removes', ['of 50 that take one record at once, one gets it'], (sound) => ({
    async take(key) {
      const value = await sound.get(key);
      await gap();
      await sound.remove(key);
      return value;
    },
  })),
  defect('never ends a record', ['a record whose time is over is like one that never was'], (sound) => ({
    create: (key, value) => sound.create(key, value, FOREVER),
  })),
  defect(
    'lets a refused maker prolong a record',
    ['a key in use does not live longer because somebody else wants it'],
    (sound) => ({
      async create(key, value, lifeMs) {
        const kept = await sound.get(key);
        await sound.set(key, kept ?? value, lifeMs);
        return kept === undefined;
      },
    }),
  ),
]);
