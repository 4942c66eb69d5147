import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { FILE_USAGE } from './records.ts';
import { giveRoomBack, takeRoom } from './usage.ts';

function setUp() {
  const store = createMemoryStore();
  const usage = store.collection(FILE_USAGE);
  const read = async () => (await usage.get('ada'))?.bytes;
  return { store, usage, read };
}

it('takes room up to the quota, and gives it back', async () => {
  const { store, read } = setUp();
  expect(await takeRoom(store, 'ada', 11, 10)).toBe(false);
  expect(await read()).toBeUndefined();
  expect(await takeRoom(store, 'ada', 10, 10)).toBe(true);
  expect(await takeRoom(store, 'ada', 1, 10)).toBe(false);
  await giveRoomBack(delayed(store), 'ada', 4);
  expect(await takeRoom(store, 'ada', 5, 10)).toBe(false);
  expect(await takeRoom(store, 'ada', 4, 10)).toBe(true);
  expect(await read()).toBe(10);
});

it.each([
  [4, true, 10],
  [5, false, 6],
])('adds %i bytes to those of a first file of the same moment: %s', async (bytes, isTaken, sum) => {
  const { store, usage, read } = setUp();
  let isFirst = true;
  const meanwhile: typeof usage = {
    ...usage,
    async add(...given) {
      if (!isFirst) return usage.add(...given);
      isFirst = false;
      await usage.insert({ id: 'ada', bytes: 6 });
      return undefined;
    },
  };
  const racing: Store = { ...store, collection: () => meanwhile as never };
  expect(await takeRoom(racing, 'ada', bytes, 10)).toBe(isTaken);
  expect(await read()).toBe(sum);
});
