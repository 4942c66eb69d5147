import { expect, it } from 'vitest';
import type { ProviderKeyRecord } from '../../models/provider-keys-records.ts';
import { providerKeyAudit } from './audit.ts';

const KEY = { id: 'k', userId: 'u', name: 'Mine', service: 'openai', isActive: false } as ProviderKeyRecord;
const ABOUT = { target: { type: 'provider_key', id: 'k' }, targetOwner: 'u' };
const ACTIVE = { ...KEY, isActive: true };

const toEntries = (before: ProviderKeyRecord | undefined, after: ProviderKeyRecord | undefined) =>
  providerKeyAudit.toEntries({ ...(before && { before }), ...(after && { after }) } as never, {} as never);

it.each([
  [
    'created',
    undefined,
    ACTIVE,
    [
      { field: 'name', after: 'Mine' },
      { field: 'service', after: 'openai' },
      { field: 'isActive', after: true },
    ],
  ],
  [
    'deleted',
    KEY,
    undefined,
    [
      { field: 'name', before: 'Mine' },
      { field: 'service', before: 'openai' },
      { field: 'isActive', before: false },
    ],
  ],
  ['activated', KEY, ACTIVE, [{ field: 'isActive', before: false, after: true }]],
] as const)('records a provider key that is %s', (act, before, after, changes) => {
  expect(toEntries(before, after)).toEqual([{ ...ABOUT, action: `provider_key.${act}`, changes }]);
});

it('records no act for the key that another one replaces, nor for other changes', () => {
  expect(toEntries(ACTIVE, KEY)).toEqual([]);
  expect(toEntries(ACTIVE, ACTIVE)).toEqual([]);
  expect(toEntries(KEY, KEY)).toEqual([]);
});
