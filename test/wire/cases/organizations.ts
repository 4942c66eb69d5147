import { expect } from 'vitest';
import { addOrganization, asAdmin } from '../../support/people.ts';
import type { World } from '../../support/world.ts';
import { badPages, faulted, onePage, type WireCase } from './case.ts';

const organization = (change: object = {}): object => ({
  _id: expect.stringMatching(/^[0-9a-f]{24}$/),
  name: 'Analytical Engines',
  slug: expect.stringMatching(/^engines-[0-9a-f]{24}$/),
  subscriptionTier: 'free',
  subscriptionStatus: 'trial',
  memberCount: 1,
  description: null,
  ...change,
});

/** Ada owns one, belongs to another, and has nothing to do with a third. */
async function some(world: World): Promise<void> {
  const other = await world.addUser('grace@example.com');
  await addOrganization(world, { name: 'A' });
  await addOrganization(world, { name: 'B', ownerId: other.id, readerIds: [world.user.id] });
  await addOrganization(world, { name: 'C', ownerId: other.id });
}

const listed = (query: string) => ({
  ask: async (world: World) => {
    await some(world);
    return { path: `/api/organizations?${query}` };
  },
  status: 200,
});

export const listOrganizations: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { organizations: [], pagination: onePage(0) } },
  {
    title: "shows the caller's",
    ...listed('sort=name&order=asc'),
    body: {
      organizations: [organization({ name: 'A' }), organization({ name: 'B', memberCount: 2 })],
      pagination: onePage(2),
    },
    everywhere: true,
  },
  {
    title: 'searches names',
    ...listed('search=b'),
    body: { organizations: [organization({ name: 'B', memberCount: 2 })], pagination: onePage(1) },
  },
  {
    title: 'gives pages',
    ...listed('sort=name&limit=1'),
    body: {
      organizations: [organization({ name: 'B', memberCount: 2 })],
      pagination: { page: 1, limit: 1, total: 2, pages: 2, totalPages: 2, hasNext: true, hasPrev: false },
    },
  },
  {
    title: 'shows an administrator all',
    ask: async (world) => {
      await some(world);
      return asAdmin({ path: '/api/organizations?sort=name&search=C' })(world);
    },
    status: 200,
    body: { organizations: [organization({ name: 'C' })], pagination: onePage(1) },
  },
  ...badPages('/api/organizations'),
];

export const createOrganization: readonly WireCase[] = [
  {
    title: 'makes one, and takes nothing a server decides',
    ask: {
      body: {
        name: ' Größe & Söhne ',
        description: 'We count.',
        ownerId: 'f'.repeat(24),
        _id: 'f'.repeat(24),
        slug: 'x',
        readerIds: ['f'.repeat(24)],
        writerIds: ['f'.repeat(24)],
        subscriptionTier: 'pro',
        subscriptionStatus: 'active',
        memberCount: 9,
        credits: 5,
      },
    },
    status: 201,
    body: organization({
      name: 'Größe & Söhne',
      slug: 'grosse-sohne',
      description: 'We count.',
    }),
    everywhere: true,
  },
  {
    title: 'gives a second one of a name another slug',
    ask: async (world) => {
      await addOrganization(world, { slug: 'engines' });
      return { body: { name: 'Engines' } };
    },
    status: 201,
    body: organization({ name: 'Engines', slug: expect.stringMatching(/^engines-[0-9a-z]{6}$/) }),
  },
  {
    title: 'one without a name',
    ask: { body: { name: '   ' } },
    ...faulted('name', 'expected at least 1 character, got 3 characters of text'),
  },
];
