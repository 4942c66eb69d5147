import { describe, expect, it } from 'vitest';
import { createAccounts } from './accounts.ts';
import { createChargeArchive } from './archive.ts';
import { createChargeLogs } from './charge-logs.ts';
import { createReservation, type Reservation } from './reservation.ts';

const details = { operation: 'chat' };

/** A settled charge with this number, created at this time. */
const toCharge = (number: number, createdAt: number): Reservation => ({
  ...createReservation(number, createdAt, {
    ...{ account: 'user:a', amount: 5, key: `k${number}`, expiresAt: 99, details },
  }),
  status: 'settled',
  charged: number,
});

function setUp(...charges: readonly Reservation[]) {
  const accounts = createAccounts(100, () => undefined);
  const logs = createChargeLogs(accounts, 100);
  for (const charge of charges) logs.push(charge);
  const archive = createChargeArchive({
    list: () => charges,
    eachLog: logs.each,
    hasEnded: ({ status }) => status !== 'reserved',
  });
  const passed: string[] = [];
  const move = (before: number, limit: number, during = async (): Promise<void> => undefined) =>
    archive.move(
      { before, limit },
      async (page) => {
        passed.push(...page.map(({ key, kind }) => `${kind} ${key}`));
        await during();
      },
      ({ number }) => number === 3,
    );
  const left = () => accounts.open('user:a').charges.list();
  return { accounts, logs, archive, passed, move, left };
}

describe('archive of charges', () => {
  it('moves those that have ended, oldest first, page by page', async () => {
    const held: Reservation = { ...toCharge(9, 1), status: 'reserved' };
    const { passed, move, left } = setUp(
      toCharge(1, 7),
      toCharge(4, 5),
      toCharge(3, 5),
      toCharge(2, 6),
      held,
    );
    expect(await move(7, 2)).toBe(2);
    expect(passed).toEqual(['record k3', 'hold k4']);
    expect(left().map(({ key }) => key)).toEqual(['k1', 'k2', 'k9']);
  });

  it('is not asked without any', async () => {
    const { passed, move } = setUp(toCharge(1, 7));
    expect([await move(7, 9), passed]).toEqual([0, []]);
  });

  it('leaves those that change meanwhile, and moves each once', async () => {
    const [first, second] = [toCharge(1, 1), toCharge(2, 2)];
    const { move, left } = setUp(first, second);
    const other = async () => {
      first.status = 'released';
      expect(await move(3, 9)).toBe(2);
    };
    expect(await move(3, 9, other)).toBe(0);
    expect(left()).toEqual([]);
  });

  it('gives back a charge that it has, once', async () => {
    const charge = toCharge(1, 1);
    const { archive, move, left } = setUp(charge);
    await move(3, 9);
    expect([charge.isArchived, left()]).toEqual([true, []]);
    archive.restore(charge);
    archive.restore(charge);
    expect([charge.isArchived, left()]).toEqual([false, [charge]]);
  });
});

describe('logs of charges', () => {
  it('are the smallest that have all charges of a filter', () => {
    const { accounts, logs } = setUp({ ...toCharge(1, 1), keyId: 'k', userId: 'u' });
    const other = accounts.open('user:b');
    const own = accounts.get('user:a');
    expect(logs.select({})).toEqual([own?.charges, other.charges]);
    expect(logs.select({ account: 'user:b' })).toEqual([other.charges]);
    for (const filter of [{ keyId: 'k' }, { userId: 'u' }]) {
      const [log, ...more] = logs.select(filter);
      expect([log?.list().map(({ key }) => key), more]).toEqual([['k1'], []]);
    }
    for (const filter of [{ account: 'user:c' }, { keyId: 'x' }, { userId: 'x' }])
      expect(logs.select(filter)).toEqual([]);
  });

  it('belong to accounts that are numbered from 1', () => {
    const accounts = createAccounts(100, () => undefined);
    const line = { kind: 'grant', amount: 1, key: 'k', reason: 'r', createdAt: 1, position: 1 } as const;
    const ids = ['a', 'b'].map((name) => {
      accounts.open(name).history.push(line);
      return accounts.open(name).history.page(1, undefined)[0]?.id.slice(0, 8);
    });
    expect(ids).toEqual(['00000001', '00000002']);
  });
});
