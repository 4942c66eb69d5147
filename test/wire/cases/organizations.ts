import { expect } from 'vitest';
import { addOrganization, asAdmin } from '../../support/people.ts';
import type { TestApp } from '../../support/test-app.ts';
import { badPages, faulted, onePage, refused, type WireCase } from './case.ts';

const organization = (change: object = {}): object => ({
  ownerId: expect.stringMatching(/^[0-9a-f]{24}$/),
  _id: expect.stringMatching(/^[0-9a-f]{24}$/),
  name: 'Analytical Engines',
  slug: expect.stringMatching(/^engines-[0-9a-f]{24}$/),
  subscriptionTier: 'free',
  subscriptionStatus: 'trial',
  memberCount: 1,
  description: null,
  models: null,
  ...change,
});

/** Ada owns one organization, is a member of another, and not of a third. */
async function addOrganizations(app: TestApp): Promise<void> {
  const other = await app.addUser('grace@example.com');
  await addOrganization(app, { name: 'A' });
  await addOrganization(app, { name: 'B', ownerId: other.id, readerIds: [app.user.id] });
  await addOrganization(app, { name: 'C', ownerId: other.id });
}

const listed = (query: string) => ({
  ask: async (app: TestApp) => {
    await addOrganizations(app);
    return { path: `/api/organizations?${query}` };
  },
  status: 200,
});

export const listOrganizations: readonly WireCase[] = [
  {
    title: 'lists no organizations at first',
    status: 200,
    body: { organizations: [], pagination: onePage(0) },
  },
  {
    title: 'lists the organizations of the caller',
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
    title: 'returns pages',
    ...listed('sort=name&limit=1'),
    body: {
      organizations: [organization({ name: 'B', memberCount: 2 })],
      pagination: { page: 1, limit: 1, total: 2, pages: 2, totalPages: 2, hasNext: true, hasPrev: false },
    },
  },
  {
    title: 'lists all organizations for an administrator',
    ask: async (app) => {
      await addOrganizations(app);
      return asAdmin({ path: '/api/organizations?sort=name&search=C' })(app);
    },
    status: 200,
    body: { organizations: [organization({ name: 'C' })], pagination: onePage(1) },
  },
  ...badPages('/api/organizations'),
];

export const createOrganization: readonly WireCase[] = [
  {
    title: 'creates an organization and ignores fields set by the server',
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
    title: 'creates a second organization of one name under another slug',
    ask: async (app) => {
      await addOrganization(app, { slug: 'engines' });
      return { body: { name: 'Engines' } };
    },
    status: 201,
    body: organization({ name: 'Engines', slug: expect.stringMatching(/^engines-[0-9a-z]{6}$/) }),
  },
  {
    title: 'rejects an organization without a name',
    ask: { body: { name: '   ' } },
    ...faulted('name', 'expected at least 1 character, got 3 characters of text'),
  },
];

const NOT_FOUND = refused('application', { status: 404, message: 'Organization not found' });

/** An organization of the caller, or one of which the caller is a member. */
const ofOrganization =
  (
    body?: object,
    role?: 'readerIds' | 'writerIds',
    before?: (app: TestApp, id: string) => Promise<unknown>,
  ) =>
  async (app: TestApp) => {
    const owner = role === undefined ? app.user : await app.addUser('grace@example.com');
    const change = { ownerId: owner.id, ...(role !== undefined && { [role]: [app.user.id] }) };
    const { id } = await addOrganization(app, change);
    await before?.(app, id);
    return { path: `/api/organizations/${id}`, ...(body !== undefined && { body }) };
  };

export const updateOrganization: readonly WireCase[] = [
  {
    title: 'changes the named fields and ignores fields set by the server',
    ask: ofOrganization({ name: ' Engines ', slug: 'x', subscriptionTier: 'pro', ownerId: 'f'.repeat(24) }),
    status: 200,
    body: organization({ name: 'Engines' }),
    everywhere: true,
  },
  {
    title: 'accepts an administrator of the organization',
    ask: ofOrganization({ description: 'We count.' }, 'writerIds'),
    status: 200,
    body: organization({ description: 'We count.', memberCount: 2 }),
  },
  {
    title: 'rejects a member',
    ask: ofOrganization({ name: 'Mine' }, 'readerIds'),
    ...refused('application', { status: 403, message: 'You do not administer this organization' }),
  },
  {
    title: 'rejects an empty name',
    ask: ofOrganization({ name: ' ' }),
    ...faulted('name', 'expected at least 1 character, got 1 characters of text'),
  },
  { title: 'answers 404 for an unknown organization', ask: { body: {} }, ...NOT_FOUND },
];

const CREDIT =
  'The organization has 7 credits. Spend them, or ask the operator to move them, then delete it.';

export const deleteOrganization: readonly WireCase[] = [
  { title: 'deletes an empty organization', ask: ofOrganization(), status: 204, body: '', everywhere: true },
  {
    title: 'rejects an administrator who is not the owner',
    ask: ofOrganization(undefined, 'writerIds'),
    ...refused('application', { status: 403, message: 'Only the owner may do this' }),
  },
  {
    title: 'rejects while it has credit',
    ask: ofOrganization(undefined, undefined, (app, id) =>
      app.ledger.grant({ account: `organization:${id}`, amount: 7_000_000, key: 'k', reason: 'start' }),
    ),
    ...refused('application', { status: 409, message: CREDIT }),
  },
  { title: 'answers 404 for an unknown organization', ...NOT_FOUND },
];

/** Ada's organization with Grace as a member; Eve is not a member. */
const transfer = (to: 'grace' | 'eve' | 'ada') => ({
  ask: async (app: TestApp) => {
    const ids = {
      ada: app.user.id,
      grace: (await app.addUser('grace@example.com')).id,
      eve: (await app.addUser('eve@example.com')).id,
    };
    const { id } = await addOrganization(app, { readerIds: [ids.grace] });
    return { path: `/api/organizations/${id}/transfer`, body: { userId: ids[to] } };
  },
});

export const transferOrganization: readonly WireCase[] = [
  {
    title: 'makes a member the owner',
    ...transfer('grace'),
    status: 200,
    body: organization({ memberCount: 2 }),
    everywhere: true,
  },
  {
    title: 'changes nothing when the user is already the owner',
    ...transfer('ada'),
    status: 200,
    body: organization({ memberCount: 2 }),
  },
  {
    title: 'rejects a user who is not a member',
    ...transfer('eve'),
    ...refused('application', { status: 409, code: 'CONFLICT', message: 'This user is not a member' }),
  },
  {
    title: 'rejects a caller who is not the owner',
    ask: async (app) => {
      const grace = await app.addUser('grace@example.com');
      const { id } = await addOrganization(app, { ownerId: grace.id, writerIds: [app.user.id] });
      return { path: `/api/organizations/${id}/transfer`, body: { userId: app.user.id } };
    },
    ...refused('application', { status: 403, code: 'FORBIDDEN', message: 'Only the owner may do this' }),
  },
  { title: 'answers 404 for an unknown organization', ask: { body: { userId: 'x' } }, ...NOT_FOUND },
];
