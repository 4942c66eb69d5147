import { expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { createModelLists } from './model-lists.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';

it('finds the lists of one organization and of several: its own and that of its plan', async () => {
  const store = createMemoryStore();
  const base = {
    ownerId: 'o',
    description: null,
    subscriptionStatus: 'active',
    createdAt: 0,
  } as const;
  const records: readonly Pick<OrganizationRecord, 'id' | 'models' | 'subscriptionTier'>[] = [
    { id: 'none', models: null, subscriptionTier: 'free' },
    { id: 'own', models: ['m'], subscriptionTier: 'free' },
    { id: 'both', models: ['m'], subscriptionTier: 'pro' },
  ];
  for (const record of records) {
    await store.collection(ORGANIZATIONS).insert({ ...base, ...record, name: record.id, slug: record.id });
  }
  const lists = createModelLists(store, { pro: ['p'] });
  const own = { source: 'organization', models: ['m'] };
  const expected = { none: [], own: [own], both: [own, { source: 'plan', models: ['p'] }] };
  const ids = ['none', 'own', 'both', 'unknown'];
  expect(Object.fromEntries(await lists.ofOrganizations(ids))).toEqual(expected);
  for (const id of ids)
    expect(await lists.ofOrganization(id)).toEqual(
      Object.entries(expected).find(([name]) => name === id)?.[1] ?? [],
    );
});
