import { USERS } from '@questline/core';
import { expect } from 'vitest';
import { addOrganization, asAdmin } from '../../support/people.ts';
import type { World } from '../../support/world.ts';
import { badPages, onePage, refused, type WireCase } from './case.ts';

const ID = expect.stringMatching(/^[0-9a-f]{24}$/);

const user = (username: string, change: object = {}): object => ({
  _id: ID,
  username,
  email: `${username}@example.com`,
  firstName: null,
  lastName: null,
  organizationId: null,
  isAdmin: false,
  preferences: {},
  ...change,
});
const { email: _, ...grace } = user('grace') as { email: string };

/** Ada and Grace are of one organization; Eve is of none. */
async function people(world: World): Promise<{ grace: string; eve: string; organization: string }> {
  const [one, other] = [await world.addUser('grace@example.com'), await world.addUser('eve@example.com')];
  const { id } = await addOrganization(world, { readerIds: [one.id] });
  await world.services.store
    .collection(USERS)
    .update(one.id, { organizationId: id, preferences: { theme: 'dark' } });
  return { grace: one.id, eve: other.id, organization: id };
}

const listed = (query = '') => ({
  ask: async (world: World) => {
    const { organization } = await people(world);
    return { path: `/api/users?sort=username&order=asc&${query.replace('ORGANIZATION', organization)}` };
  },
  status: 200,
});

export const listUsers: readonly WireCase[] = [
  {
    title: 'shows the caller alone at first',
    status: 200,
    body: { users: [user('ada')], pagination: onePage(1, 10) },
    everywhere: true,
  },
  {
    title: 'shows members of own organizations, without their addresses',
    ...listed(),
    body: { users: [user('ada'), { ...grace, organizationId: ID }], pagination: onePage(2, 10) },
  },
  {
    title: 'shows an administrator everybody',
    ask: async (world) => {
      await people(world);
      return asAdmin({ path: '/api/users?sort=username&order=asc' })(world);
    },
    status: 200,
    body: {
      users: [
        user('ada', { isAdmin: true }),
        user('eve'),
        user('grace', { organizationId: ID, preferences: { theme: 'dark' } }),
      ],
      pagination: onePage(3, 10),
    },
  },
  {
    title: 'searches names',
    ...listed('search=RAC'),
    body: { users: [{ ...grace, organizationId: ID }], pagination: onePage(1, 10) },
  },
  {
    title: 'finds nobody by an address that is not shown',
    ...listed('search=grace@'),
    body: { users: [], pagination: onePage(0, 10) },
  },
  {
    title: 'lists the members of an organization',
    ...listed('organizationId=ORGANIZATION&role=user'),
    body: { users: [user('ada'), { ...grace, organizationId: ID }], pagination: onePage(2, 10) },
  },
  {
    title: 'lists nobody of an organization that is unknown',
    ...listed(`organizationId=${'0'.repeat(24)}`),
    body: { users: [], pagination: onePage(0, 10) },
  },
  {
    title: "lists nobody of somebody else's organization",
    ask: async (world) => {
      const { eve } = await people(world);
      const { id } = await addOrganization(world, { ownerId: eve, readerIds: [] });
      return { path: `/api/users?organizationId=${id}` };
    },
    status: 200,
    body: { users: [], pagination: onePage(0, 10) },
  },
  {
    title: 'lists administrators',
    ...listed('role=admin'),
    body: { users: [], pagination: onePage(0, 10) },
  },
  {
    title: 'gives pages',
    ...listed('limit=1&page=2'),
    body: {
      users: [{ ...grace, organizationId: ID }],
      pagination: { page: 2, limit: 1, total: 2, pages: 2, totalPages: 2, hasNext: false, hasPrev: true },
    },
  },
  ...badPages('/api/users'),
];

const NOT_FOUND = refused('application', { status: 404, message: 'User not found' });

export const getUser: readonly WireCase[] = [
  {
    title: 'shows oneself',
    ask: (world) => ({ path: `/api/users/${world.user.id}` }),
    status: 200,
    body: user('ada'),
    everywhere: true,
  },
  {
    title: 'shows a member of an own organization',
    ask: async (world) => ({ path: `/api/users/${(await people(world)).grace}` }),
    status: 200,
    body: { ...grace, organizationId: ID },
  },
  {
    title: 'shows an administrator anybody',
    ask: async (world) => asAdmin({ path: `/api/users/${(await people(world)).eve}` })(world),
    status: 200,
    body: user('eve'),
  },
  {
    title: 'somebody else',
    ask: async (world) => ({ path: `/api/users/${(await people(world)).eve}` }),
    ...NOT_FOUND,
  },
  { title: 'an unknown one', ...NOT_FOUND },
];
