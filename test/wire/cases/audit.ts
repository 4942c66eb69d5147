import { expect } from 'vitest';
import { makeOrganization } from '../../support/owned-resources.ts';
import { addOrganization, asAdmin } from '../../support/people.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';

const ID = expect.stringMatching(/^[0-9a-f]{24}$/);
const AT = new Date(NOW).toISOString();

const created = (change: object = {}): object => ({
  id: ID,
  createdAt: AT,
  action: 'organization.created',
  actor: { type: 'service', userId: null, keyId: null },
  target: { type: 'organization', id: ID },
  organizationId: ID,
  changes: [
    { field: 'name', before: null, after: 'Analytical Engines' },
    { field: 'subscriptionTier', before: null, after: 'free' },
    { field: 'subscriptionStatus', before: null, after: 'trial' },
  ],
  requestId: null,
  address: null,
  ...change,
});

const NOT_ADMIN = refused('application', {
  status: 403,
  code: 'FORBIDDEN',
  message: 'Only administrators may do this',
});
const EXPORT = {
  'content-type': 'application/x-ndjson; charset=utf-8',
  'content-disposition': 'attachment; filename="audit.ndjson"',
};
const line = expect.stringMatching(/^\{"id":"[0-9a-f]{24}",.*"action":"organization\.created".*\}\n$/);

const all = (path: string) => async (app: TestApp) => {
  await makeOrganization(app, app.user);
  return asAdmin({ path: `${path}?action=organization.created` })(app);
};

export const listAuditEntries: readonly WireCase[] = [
  { title: 'is not for other users', ...NOT_ADMIN },
  {
    title: 'lists acts, newest first',
    ask: all('/api/audit'),
    status: 200,
    body: { data: [created()], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'filters by time',
    ask: asAdmin({ path: `/api/audit?to=${AT}` }),
    status: 200,
    body: { data: [], next_cursor: null },
  },
  {
    title: 'rejects an unknown action',
    ask: asAdmin({ path: '/api/audit?action=key.guessed' }),
    status: 422,
    body: expect.objectContaining({ error: expect.objectContaining({ code: 'VALIDATION_ERROR' }) }),
  },
];

export const exportAuditEntries: readonly WireCase[] = [
  { title: 'is not for other users', ...NOT_ADMIN },
  {
    title: 'streams acts, oldest first',
    ask: all('/api/audit/export'),
    status: 200,
    headers: EXPORT,
    body: line,
  },
];

const ofOwn =
  (rest: string, role: 'ownerId' | 'writerIds' | 'readerIds' | 'none' = 'ownerId') =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const owner = role === 'ownerId' ? app.user : await app.addUser('grace@example.com');
    const share = role === 'ownerId' || role === 'none' ? {} : { [role]: [app.user.id] };
    const { id } = await addOrganization(app, { ownerId: owner.id, ...share });
    return { path: `/api/organizations/${id}/audit${rest}` };
  };

const protect = (rest: string): readonly WireCase[] => [
  {
    title: 'is not for members without administration',
    ask: ofOwn(rest, 'readerIds'),
    ...refused('application', {
      status: 403,
      code: 'FORBIDDEN',
      message: 'You do not administer this organization',
    }),
  },
  {
    title: 'answers 404 to others',
    ask: ofOwn(rest, 'none'),
    ...refused('application', { status: 404, message: 'Organization not found' }),
  },
];

export const listOrganizationAuditEntries: readonly WireCase[] = [
  {
    title: 'lists acts for the owner',
    ask: ofOwn(''),
    status: 200,
    body: { data: [created()], next_cursor: null },
  },
  {
    title: 'lists acts for an administrator of the organization',
    ask: ofOwn('', 'writerIds'),
    status: 200,
    body: { data: [created()], next_cursor: null },
  },
  ...protect(''),
];

export const exportOrganizationAuditEntries: readonly WireCase[] = [
  {
    title: 'streams acts for the owner',
    ask: ofOwn('/export'),
    status: 200,
    headers: EXPORT,
    body: line,
  },
  ...protect('/export'),
];
