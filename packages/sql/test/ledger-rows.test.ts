import type { HoldRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { entrySequence, toCharge, toEntry, toHold } from '../src/ledger/rows.ts';
import { holdValues, toErrorResponse, toText } from '../src/ledger/writes.ts';

const CHARGE = {
  ...{ id: 'a', account: 'user:a', operation: 'chat', reserved: '50', charged: '0', created_at: '7' },
  ...{ model: null, key_id: null, user_id: null, request_id: null, usage_text: null },
  ...{ settled_at: null, open_until: null },
};

describe('the row of a charge', () => {
  const plain = { id: 'a', account: 'user:a', operation: 'chat', createdAt: 7 };

  it('is an open hold until the moment in which it expires', () => {
    const row = { ...CHARGE, open_until: '100' };
    expect(toCharge(row, 99)).toEqual({ ...plain, status: 'reserved', amount: 50 });
    expect(toCharge(row, 100)).toEqual({ ...plain, status: 'released', amount: 0 });
    expect(toCharge(CHARGE, 0)).toEqual({ ...plain, status: 'released', amount: 0 });
  });

  it('is settled, with its details', () => {
    const details = { model: 'm', key_id: 'k', user_id: 'u', request_id: 'r', usage_text: '{"input":1}' };
    expect(toCharge({ ...CHARGE, ...details, charged: '30', settled_at: '9' }, 10)).toEqual({
      ...{ ...plain, status: 'settled', amount: 30 },
      ...{ model: 'm', keyId: 'k', userId: 'u', requestId: 'r', usage: { input: 1 } },
    });
  });
});

describe('the row of an entry', () => {
  const row = {
    ...{ sequence: '31', account: 'user:a', kind: 'grant', amount: '-5' },
    ...{ key: 'k', reason: 'why', created_at: '8' },
  };

  it('has its sequence number as its id', () => {
    const entry = toEntry(row);
    expect(entry).toEqual({
      ...{ id: '00000000000000000000001f', account: 'user:a', kind: 'grant', amount: -5 },
      ...{ key: 'k', reason: 'why', createdAt: 8 },
    });
    expect(toEntry({ ...row, kind: 'charge' }).kind).toBe('charge');
    expect(entrySequence(entry.id)).toBe(31);
    expect(entrySequence('f'.repeat(24))).toBe(Number.MAX_SAFE_INTEGER);
    for (const id of ['', 'g', '-1', '1'.repeat(25)]) expect(entrySequence(id)).toBe(0);
  });
});

it('reads a hold', () => {
  const row = { id: 'a', account: 'user:a', reserved: '50', expires_at: '9' };
  expect(toHold(row)).toEqual({ id: 'a', account: 'user:a', amount: 50, expiresAt: 9 });
});

describe('the refusal of a hold', () => {
  const refuse = (more: Partial<HoldRequest>, standing: Parameters<typeof toErrorResponse>[1]) =>
    toErrorResponse({ amount: 50, ...more } as HoldRequest, standing);
  const enough = { available: 50, used: undefined };

  it('names missing credit', () => {
    expect(refuse({}, enough)).toBeUndefined();
    const refusal = { outcome: 'insufficient_credits', available: 49, required: 50 };
    expect(refuse({}, { ...enough, available: 49 })).toEqual(refusal);
    expect(refuse({}, { ...enough, available: undefined })).toEqual({ ...refusal, available: 0 });
    expect(refuse({ ignoresBalance: true }, { ...enough, available: 49 })).toBeUndefined();
  });

  it('names a spend cap', () => {
    const cap = { id: 'c', limit: 100 };
    expect(refuse({ cap }, { ...enough, used: 50 })).toBeUndefined();
    expect(refuse({ cap: { ...cap, limit: 50 } }, enough)).toBeUndefined();
    expect(refuse({ cap }, { ...enough, used: 51 })).toEqual({
      ...{ outcome: 'spend_cap_exceeded', used: 51, limit: 100, required: 50 },
    });
  });

  it('names the first further cap that is exceeded', () => {
    const cap = (id: string, amount: number) => ({ id, unit: 'tokens', amount, limit: 100 }) as const;
    const caps = new Map([['b', { spent: 60, reserved: 30 }]]);
    expect(refuse({ caps: [cap('a', 100), cap('b', 10)] }, { ...enough, caps })).toBeUndefined();
    expect(refuse({ caps: [cap('a', 100), cap('b', 11), cap('a', 101)] }, { ...enough, caps })).toEqual({
      ...{ outcome: 'cap_exceeded', capId: 'b', spent: 60, reserved: 30, limit: 100, required: 11 },
    });
    expect(refuse({ caps: [cap('a', 101)] }, enough)).toEqual({
      ...{ outcome: 'cap_exceeded', capId: 'a', spent: 0, reserved: 0, limit: 100, required: 101 },
    });
  });
});

it('writes the values of a hold', () => {
  const details = { operation: 'chat', model: 'm', keyId: 'k', userId: 'u', requestId: 'r' };
  const request = { id: 'a', key: 'b', account: 'user:a', amount: 5, expiresAt: 9, details, now: 1 };
  const values = { id: 'a', key: 'b', account: 'user:a', amount: 5, expiresAt: 9, now: 1, ...details };
  expect(holdValues(request)).toEqual({ ...values, capId: undefined, capLimit: undefined });
  expect(holdValues({ ...request, cap: { id: 'c', limit: 7 } })).toEqual({
    ...values,
    capId: 'c',
    capLimit: 7,
  });
  expect([toText(undefined), toText({ input: 1 })]).toEqual([null, '{"input":1}']);
});
