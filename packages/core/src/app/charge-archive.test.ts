import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { ArchivedCharge, CreditLedger } from '../ports/ledger.ts';
import {
  archiveCharges,
  type ChargeBatch,
  countArchivable,
  createChargeArchiveTasks,
} from './charge-archive.ts';

const DAY_MS = 86_400_000;
const DAYS = 90;

/** A ledger with so many charges, one per millisecond, and an archive. */
function setUp(count: number) {
  const clock = createFakeClock();
  let left = Array.from(
    { length: count },
    (_, at) => ({ id: `c${at}`, createdAt: at + 1 }) as ArchivedCharge,
  );
  const pages: { readonly before: number; readonly limit: number }[] = [];
  const batches: (readonly [string, ChargeBatch])[] = [];
  const ledger = {
    async archiveCharges(page, archive) {
      pages.push(page);
      if (pages.length > 100) throw new Error('too many calls');
      const charges = left.slice(0, page.limit);
      await archive(charges);
      left = left.slice(charges.length);
      return charges.length;
    },
    countArchivable: async (before) => (before === clock.now() - DAYS * DAY_MS ? left.length : -1),
  } satisfies Partial<CreditLedger> as Partial<CreditLedger> as CreditLedger;
  const settings = {
    days: DAYS,
    archive: async (lines: string, batch: ChargeBatch) => void batches.push([lines, batch]),
  };
  return { services: { clock, ledger, chargeArchive: settings }, pages, batches, left: () => left.length };
}

describe('archive of charges', () => {
  it('gets one line per charge, with an id and times of its own', async () => {
    const { services, batches, pages } = setUp(3);
    expect(await archiveCharges(services, 2)).toBe(2);
    expect(await archiveCharges(services, 2)).toBe(1);
    expect(pages[0]).toEqual({ before: services.clock.now() - DAYS * DAY_MS, limit: 2 });
    expect(batches).toEqual([
      [
        '{"id":"c0","createdAt":1}\n{"id":"c1","createdAt":2}\n',
        { id: expect.stringMatching(/^c0-[0-9a-f]{16}$/), charges: 2, from: 1, to: 2 },
      ],
      [
        '{"id":"c2","createdAt":3}\n',
        { id: expect.stringMatching(/^c2-[0-9a-f]{16}$/), charges: 1, from: 3, to: 3 },
      ],
    ]);
  });

  it('gets the same charges with the same id, and others with another one', async () => {
    const ids = async (count: number) => {
      const { services, batches } = setUp(count);
      await archiveCharges(services, count);
      return batches[0]?.[1].id;
    };
    expect(await ids(2)).toBe(await ids(2));
    expect(await ids(2)).not.toBe(await ids(3));
  });

  it.each([
    [0, 1000, [200]],
    [199, 1000, [200]],
    [200, 1000, [200, 200]],
    [500, 1000, [200, 200, 200]],
    [500, 250, [200, 50]],
    [500, 400, [200, 200]],
    [500, 0, []],
  ])('of %i charges and at most %i is filled in calls of %j', async (count, max, limits) => {
    const { services, pages, left, batches } = setUp(count);
    const moved = Math.min(count, max);
    expect(await archiveCharges(services, max)).toBe(moved);
    expect([pages.map(({ limit }) => limit), left()]).toEqual([limits, count - moved]);
    expect(batches.reduce((sum, [, batch]) => sum + batch.charges, 0)).toBe(moved);
  });

  it('that fails leaves the charges where they are', async () => {
    const { services, left } = setUp(3);
    const chargeArchive = { days: DAYS, archive: () => Promise.reject(new Error('full')) };
    await expect(archiveCharges({ ...services, chargeArchive }, 10)).rejects.toThrow('full');
    expect(left()).toBe(3);
  });

  it('is filled every ten minutes, in bounded runs', async () => {
    const { services, left } = setUp(10_001);
    const [task, ...others] = createChargeArchiveTasks(services);
    expect([task?.name, task?.everyMs, others]).toEqual(['archive-charges', 600_000, []]);
    await task?.run();
    expect(left()).toBe(1);
  });

  it('counts what it would get', async () => {
    const { services } = setUp(3);
    expect(await countArchivable(services)).toBe(3);
  });

  it.each([
    ['a setting', { chargeArchive: undefined }],
    ['a ledger that can', { ledger: {} as CreditLedger }],
  ])('gets nothing without %s', async (_name, change) => {
    const services = { ...setUp(3).services, ...change };
    expect([await archiveCharges(services, 10), await countArchivable(services)]).toEqual([0, 0]);
  });

  it('has no task without a setting', () => {
    expect(createChargeArchiveTasks({ ...setUp(0).services, chargeArchive: undefined })).toEqual([]);
  });
});
