import { USERS } from '@questline/core';
import { expect } from 'vitest';
import { addOrganization, asAdmin } from '../../support/people.ts';
import type { TestApp } from '../../support/test-app.ts';
import { badPages, onePage, refused, type WireCase } from './case.ts';

const ID = expect.stringMatching(/^[0-9a-f]{24}$/);

/** The theme and language of users without a choice. */
const DEFAULTS = { theme: 'system', language: 'en' };

const user = (username: string, change: object = {}): object => ({
  _id: ID,
  username,
  email: `${username}@example.com`,
  firstName: null,
  lastName: null,
  organizationId: null,
  isAdmin: false,
  preferences: DEFAULTS,
  ...change,
});
const { email: _, ...grace } = user('grace', { preferences: {} }) as { email: string };

/** Ada and Grace are members of one organization; Eve is not. */
async function people(app: TestApp): Promise<{ grace: string; eve: string; organization: string }> {
  const [one, other] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
  const { id } = await addOrganization(app, { readerIds: [one.id] });
  await app.services.store
    .collection(USERS)
    .update(one.id, { organizationId: id, preferences: { theme: 'dark' } });
  return { grace: one.id, eve: other.id, organization: id };
}

const listed = (query = '') => ({
  ask: async (app: TestApp) => {
    const { organization } = await people(app);
    return { path: `/api/users?sort=username&order=asc&${query.replace('ORGANIZATION', organization)}` };
  },
  status: 200,
});

export const listUsers: readonly WireCase[] = [
  {
    title: 'lists only the caller at first',
    status: 200,
    body: { users: [user('ada')], pagination: onePage(1, 10) },
    everywhere: true,
  },
  {
    title: 'lists members of own organizations without addresses',
    ...listed(),
    body: { users: [user('ada'), { ...grace, organizationId: ID }], pagination: onePage(2, 10) },
  },
  {
    title: 'lists all users for an administrator',
    ask: async (app) => {
      await people(app);
      return asAdmin({ path: '/api/users?sort=username&order=asc' })(app);
    },
    status: 200,
    body: {
      users: [
        user('ada', { isAdmin: true }),
        user('eve'),
        user('grace', { organizationId: ID, preferences: { theme: 'dark', language: 'en' } }),
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
    title: 'finds no user by a hidden address',
    ...listed('search=grace@'),
    body: { users: [], pagination: onePage(0, 10) },
  },
  {
    title: 'lists the members of an organization',
    ...listed('organizationId=ORGANIZATION&role=user'),
    body: { users: [user('ada'), { ...grace, organizationId: ID }], pagination: onePage(2, 10) },
  },
  {
    title: 'lists no users of an unknown organization',
    ...listed(`organizationId=${'0'.repeat(24)}`),
    body: { users: [], pagination: onePage(0, 10) },
  },
  {
    title: 'lists no users of another organization',
    ask: async (app) => {
      const { eve } = await people(app);
      const { id } = await addOrganization(app, { ownerId: eve, readerIds: [] });
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
    title: 'returns pages',
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
    title: 'returns the caller',
    ask: (app) => ({ path: `/api/users/${app.user.id}` }),
    status: 200,
    body: user('ada'),
    everywhere: true,
  },
  {
    title: 'returns a member of an own organization',
    ask: async (app) => ({ path: `/api/users/${(await people(app)).grace}` }),
    status: 200,
    body: { ...grace, organizationId: ID },
  },
  {
    title: 'returns any user to an administrator',
    ask: async (app) => asAdmin({ path: `/api/users/${(await people(app)).eve}` })(app),
    status: 200,
    body: user('eve'),
  },
  {
    title: 'answers 404 for another user',
    ask: async (app) => ({ path: `/api/users/${(await people(app)).eve}` }),
    ...NOT_FOUND,
  },
  { title: 'answers 404 for an unknown user', ...NOT_FOUND },
];

export const updateUser: readonly WireCase[] = [
  {
    title: 'changes the names of the caller and ignores fields set by the server',
    ask: (app) => ({
      path: `/api/users/${app.user.id}`,
      body: { firstName: ' Ada ', lastName: 'Lovelace', isAdmin: true, email: 'x@example.com', tier: 'pro' },
    }),
    status: 200,
    body: user('ada', { firstName: 'Ada', lastName: 'Lovelace' }),
    everywhere: true,
  },
  {
    title: 'removes a name',
    ask: async (app) => {
      await app.services.store.collection(USERS).update(app.user.id, { firstName: 'Ada' });
      return { path: `/api/users/${app.user.id}`, body: { firstName: null, username: 'countess' } };
    },
    status: 200,
    body: user('ada', { username: 'countess' }),
  },
  {
    title: 'rejects an empty name',
    ask: (app) => ({ path: `/api/users/${app.user.id}`, body: { lastName: ' ' } }),
    ...refused('application', {
      status: 422,
      message: 'lastName: expected at least 1 character, got 1 characters of text',
      details: [{ path: 'lastName', message: 'expected at least 1 character, got 1 characters of text' }],
    }),
  },
  {
    title: 'rejects a change of another member',
    ask: async (app) => ({ path: `/api/users/${(await people(app)).grace}`, body: { firstName: 'G' } }),
    ...refused('application', { status: 403, message: 'You may change only your own user' }),
  },
  {
    title: 'changes any user for an administrator',
    ask: async (app) =>
      asAdmin({ path: `/api/users/${(await people(app)).eve}`, body: { firstName: 'Eve' } })(app),
    status: 200,
    body: user('eve', { firstName: 'Eve' }),
  },
  {
    title: 'answers 404 for another user',
    ask: async (app) => ({ path: `/api/users/${(await people(app)).eve}`, body: {} }),
    ...NOT_FOUND,
  },
];

const ACCESS = { isAdmin: true };

/** A request of an administrator that changes the access of Grace, or of the user with `id`. */
const changed = (body: object, id?: string) => ({
  ask: async (app: TestApp) => {
    const made = await people(app);
    return asAdmin({ path: `/api/users/${id ?? made.grace}/access`, body })(app);
  },
});

export const changeUserAccess: readonly WireCase[] = [
  {
    title: 'rejects a user who is not an administrator',
    ask: async (app) => ({ path: `/api/users/${(await people(app)).grace}/access`, body: ACCESS }),
    ...refused('application', {
      status: 403,
      code: 'FORBIDDEN',
      message: 'Only administrators may do this',
    }),
  },
  {
    title: 'promotes a user',
    ...changed(ACCESS),
    status: 200,
    body: user('grace', {
      isAdmin: true,
      organizationId: ID,
      preferences: { theme: 'dark', language: 'en' },
    }),
  },
  {
    title: 'disables a user and shows it to administrators',
    ...changed({ disabled: true }),
    status: 200,
    body: user('grace', {
      disabled: true,
      organizationId: ID,
      preferences: { theme: 'dark', language: 'en' },
    }),
  },
  {
    title: "rejects a change of the administrator's own access",
    ask: async (app) => asAdmin({ path: `/api/users/${app.user.id}/access`, body: { isAdmin: false } })(app),
    ...refused('application', {
      status: 409,
      code: 'CONFLICT',
      message: 'You cannot change the access of your own account',
    }),
  },
  {
    title: 'reports an unknown user',
    ...changed(ACCESS, '0'.repeat(24)),
    ...refused('application', { status: 404, code: 'NOT_FOUND', message: 'User not found' }),
  },
];
