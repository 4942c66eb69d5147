import { describe, expect, it } from 'vitest';
import { createHistory } from './history.ts';
import { createReservation } from './reservation.ts';

const RETAIN = 3;

/** A history with lines of these amounts, at the positions 1, 2 and so on of the ledger. */
function setUp(...amounts: number[]) {
  const history = createHistory('user:a', 7, RETAIN);
  const push = (amount: number, position: number) =>
    history.push({
      ...{ kind: amount < 0 ? 'charge' : 'grant', amount, key: `k${position}`, reason: 'r' },
      ...{ createdAt: position * 10, position },
    });
  for (const [at, amount] of amounts.entries()) push(amount, at + 1);
  return { history, push };
}

describe('history of an account', () => {
  it('pages from the newest entry to the oldest', () => {
    const { history } = setUp(1, 2, 3);
    const first = history.page(2, undefined);
    expect(first).toEqual([
      {
        ...{ id: '000000070000000000000003', account: 'user:a', kind: 'grant', amount: 3, key: 'k3' },
        ...{ reason: 'r', createdAt: 30 },
      },
      expect.objectContaining({ id: '000000070000000000000002', key: 'k2' }),
    ]);
    expect(history.page(2, first.at(-1)?.id).map(({ key }) => key)).toEqual(['k1']);
    expect(history.page(0, undefined)).toEqual([]);
  });

  it('has no entries before the first one, an id of another account, or no id', () => {
    const { history } = setUp(1, 2, 3);
    for (const before of ['000000070000000000000001', '000000080000000000000003', '00000007zz', ''])
      expect(history.page(9, before)).toEqual([]);
    expect(history.page(9, '0000000700000000000000ff').map(({ key }) => key)).toEqual(['k3', 'k2', 'k1']);
  });

  it('has ids with the hexadecimal number of the account', () => {
    const history = createHistory('user:b', 300, RETAIN);
    history.push({ kind: 'grant', amount: 1, key: 'k', reason: 'r', createdAt: 1, position: 1 });
    expect(history.page(1, undefined)[0]?.id).toBe('0000012c0000000000000001');
  });

  it('merges the oldest entries into one, with their sum', () => {
    const { history, push } = setUp(10, -2, -3, 4, 5, 6);
    expect(history.page(99, undefined)).toHaveLength(6);
    push(7, 7);
    const entries = history.page(99, undefined);
    expect(entries.map(({ key, amount }) => [key, amount])).toEqual([
      ...[
        ['k7', 7],
        ['k6', 6],
        ['k5', 5],
        ['opening', 9],
      ],
    ]);
    expect(entries.at(-1)).toMatchObject({ kind: 'grant', reason: 'opening balance', createdAt: 40 });
    // Entries keep their ids.
    expect(entries[0]?.id).toBe('000000070000000000000007');
    expect(history.page(9, '000000070000000000000006').map(({ key }) => key)).toEqual(['k5', 'opening']);
    for (const position of [8, 9, 10]) push(1, position);
    expect(history.page(99, undefined).map(({ key }) => key)).toEqual(['k10', 'k9', 'k8', 'opening']);
    expect(history.page(1, undefined)[0]?.id).toBe('00000007000000000000000a');
  });

  it('opens with a charge where the sum of the merged entries is negative', () => {
    const { history } = setUp(-10, 0, 0, 0, 1, 1, 1);
    expect(history.page(99, undefined).at(-1)).toMatchObject({ kind: 'charge', amount: -10 });
    expect(setUp(0, 0, 0, 0, 1, 1, 1).history.page(99, undefined).at(-1)).toMatchObject({ kind: 'grant' });
  });

  it('exports those after a position, oldest first', () => {
    const { history, push } = setUp(1, 2, 3, 4, 5, 6);
    expect(history.since(2, 2).map(({ key, position }) => [key, position])).toEqual([
      ['k3', 3],
      ['k4', 4],
    ]);
    expect([history.since(6, 9), history.since(0, 1).map(({ key }) => key)]).toEqual([[], ['k1']]);
    push(7, 7);
    expect(history.since(0, 9).map(({ key, position }) => [key, position])).toEqual([
      ...[
        ['opening', 4],
        ['k5', 5],
        ['k6', 6],
        ['k7', 7],
      ],
    ]);
    expect(history.since(4, 1)[0]?.id).toBe('000000070000000000000005');
  });

  it('exports the details and the usage of a charge only', () => {
    const { history } = setUp(5);
    const details = { operation: 'chat', model: 'm' };
    const charge = createReservation(1, 0, { account: 'user:a', amount: 5, key: 'c', expiresAt: 1, details });
    const line = { kind: 'charge', amount: -5, key: 'c', reason: 'r', createdAt: 20 } as const;
    history.push({ ...line, position: 2, charge });
    charge.usage = { input: 3 };
    const [grant, found] = history.since(0, 9);
    expect(Object.keys(grant ?? {})).not.toContain('details');
    expect(found).toMatchObject({ ...line, position: 2, details, usage: { input: 3 } });
    expect(found).not.toHaveProperty('charge');
    charge.usage = undefined;
    expect(Object.keys(history.since(1, 1)[0] ?? {})).not.toContain('usage');
    expect(history.page(1, undefined)[0]).toEqual({
      id: '000000070000000000000002',
      account: 'user:a',
      ...line,
    });
  });
});
