import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Collection } from '../../ports/store.ts';
import { TRANSFERS, type TransferRecord, withTransfer } from './transfers.ts';

const MINUTE_MS = 60_000;

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const ids = createFakeIds();
  const transfers = store.collection(TRANSFERS);
  let change: Partial<Collection<TransferRecord>> = {};
  const records: Pick<Collection<TransferRecord>, 'insert' | 'update' | 'take'> = {
    insert: transfers.insert,
    update: (...given) => (change.update ?? transfers.update)(...given),
    take: (...given) => (change.take ?? transfers.take)(...given),
  };
  const changed = { ...store, collection: () => records as never };
  /** Begins a transfer that ends when it is let go. */
  const begin = (signal = new AbortController().signal, key = 'uploads/1') => {
    let end = (): void => undefined;
    let live: AbortSignal | undefined;
    const done = withTransfer({ store: changed, clock, ids }, key, signal, (own) => {
      live = own;
      return new Promise<string>((resolve) => {
        end = () => resolve('stored');
      });
    });
    done.catch(() => undefined);
    const isLost = () => live?.aborted;
    return { done, isLost, end: () => end() };
  };
  const changing = (next: typeof change) => {
    change = next;
  };
  return { clock, transfers, begin, changing };
}

const CONFLICT = { status: 409, applicationCode: 'CONFLICT' };
const away = () => Promise.reject(new Error('away'));

it('lets one transfer at a time to an address, and then the next', async () => {
  const { clock, transfers, begin } = setUp();
  const first = begin();
  await clock.advance(0);
  await expect(begin().done).rejects.toMatchObject(CONFLICT);
  const elsewhere = begin(undefined, 'uploads/2');
  await clock.advance(0);
  expect(await transfers.count({})).toBe(2);
  first.end();
  elsewhere.end();
  expect(await Promise.all([first.done, elsewhere.done])).toEqual(['stored', 'stored']);
  expect([await transfers.count({}), clock.pending]).toEqual([0, 0]);
  const second = begin();
  await clock.advance(0);
  second.end();
  expect(await second.done).toBe('stored');
});

it('keeps the address as long as it takes', async () => {
  const { clock, transfers, begin } = setUp();
  const first = begin();
  await clock.advance(0);
  await clock.advance(20_000);
  expect((await transfers.find({}))[0]?.until).toBe(clock.now() + MINUTE_MS);
  for (let minute = 0; minute < 3; minute += 1) await clock.advance(MINUTE_MS);
  await expect(begin().done).rejects.toMatchObject(CONFLICT);
  expect(first.isLost()).toBe(false);
});

it('takes over an address a minute after the last sign of its process', async () => {
  const { clock, transfers, begin } = setUp();
  const first = begin();
  await clock.advance(0);
  const [left] = await transfers.find({});
  await transfers.update(left?.id ?? '', { holder: 'ended' });
  const { until = 0 } = left ?? {};
  expect(until).toBe(clock.now() + MINUTE_MS);
  await clock.advance(MINUTE_MS - 1);
  await expect(begin().done).rejects.toMatchObject(CONFLICT);
  await clock.advance(1);
  const next = begin();
  await clock.advance(0);
  expect(first.isLost()).toBe(true);
  first.end();
  await first.done;
  expect(await transfers.count({})).toBe(1);
  next.end();
  expect(await next.done).toBe('stored');
});

it('takes an address whose transfer ends while it looks', async () => {
  const { clock, transfers, begin, changing } = setUp();
  const first = begin();
  await clock.advance(0);
  changing({
    async update() {
      first.end();
      await first.done;
      return undefined;
    },
  });
  const second = begin();
  await clock.advance(0);
  changing({});
  expect(await transfers.find({})).toMatchObject([{ until: clock.now() + MINUTE_MS }]);
  second.end();
  expect(await second.done).toBe('stored');
});

it('ends with its signal', async () => {
  const { clock, begin } = setUp();
  const stop = new AbortController();
  const first = begin(stop.signal);
  await clock.advance(0);
  expect(first.isLost()).toBe(false);
  stop.abort();
  expect(first.isLost()).toBe(true);
});

it('ends when it could not renew its hold of the address for a minute', async () => {
  const { clock, begin, changing } = setUp();
  const first = begin();
  await clock.advance(0);
  await clock.advance(30_000);
  changing({ update: away });
  await clock.advance(49_999);
  expect(first.isLost()).toBe(false);
  await clock.advance(1);
  expect(first.isLost()).toBe(true);
});

it('ends with its result while the store is away', async () => {
  const { clock, transfers, begin, changing } = setUp();
  const first = begin();
  await clock.advance(0);
  changing({ take: away });
  first.end();
  expect(await first.done).toBe('stored');
  const other = begin(undefined, 'uploads/2');
  await clock.advance(0);
  changing({
    async take(...given) {
      await settle();
      return transfers.take(...given);
    },
  });
  other.end();
  await other.done;
  expect(await transfers.count({})).toBe(1);
});
