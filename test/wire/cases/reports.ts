import { expect } from 'vitest';
import { addOrganization, asAdmin } from '../../support/people.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';

const DAY_MS = 86_400_000;
const FROM = new Date(NOW - 30 * DAY_MS).toISOString();
const TO = new Date(NOW).toISOString();

const nothing = { requests: 0, credits: 0, usage: {} };
const empty = { from: FROM, to: TO, groups: [], total: nothing };

const NOT_ADMIN = refused('application', {
  status: 403,
  code: 'FORBIDDEN',
  message: 'Only administrators may do this',
});

/** A settled call of the app's user a second before now. */
async function pay({ services, user, keyId }: TestApp, account: string): Promise<void> {
  const { ledger, clock } = services;
  const details = { operation: 'createCompletion', model: 'scripted', userId: user.id, keyId };
  const request = { account, amount: 5_000_000, key: 'call', expiresAt: clock.now() + 60_000, details };
  const held = await ledger.hold(request);
  if (held.outcome !== 'held') throw new Error(held.outcome);
  await ledger.settle(held.hold, 1_500_001, { input: 10, output: 3 });
}

const sums = { requests: 1, credits: 1.500001, usage: { input_tokens: 10, output_tokens: 3 } };
/** Calls at this instant are part of reports that end later. */
const LATER = `to=${new Date(NOW + 1).toISOString()}`;
const later = (group: object) => ({
  from: expect.any(String),
  to: new Date(NOW + 1).toISOString(),
  groups: [{ group, ...sums }],
  total: sums,
});

export const getUsageReport: readonly WireCase[] = [
  {
    title: 'is empty without calls',
    status: 200,
    body: empty,
    everywhere: true,
    app: () => ({ key: { scopes: ['me:read'] } }),
  },
  {
    title: 'adds up calls by day and model',
    app: () => ({ key: { scopes: ['me:read'] } }),
    ask: async (app) => {
      await pay(app, app.account);
      return { path: `/api/v1/usage/report?group_by=day,model&${LATER}` };
    },
    status: 200,
    body: later({ day: '2026-11-21', model: 'scripted' }),
  },
  {
    title: 'takes a date as its begin in UTC',
    app: () => ({ key: { scopes: ['me:read'] } }),
    ask: { path: '/api/v1/usage/report?from=2026-11-01&to=2026-11-02' },
    status: 200,
    body: { ...empty, from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z' },
  },
  {
    title: 'says which times it takes',
    app: () => ({ key: { scopes: ['me:read'] } }),
    ask: { path: '/api/v1/usage/report?from=yesterday' },
    status: 422,
    body: expect.objectContaining({
      error: expect.stringContaining('from: expected a date or a time with Z or an offset, e.g. 2026-11-01'),
    }),
  },
  {
    title: 'rejects ten years',
    app: () => ({ key: { scopes: ['me:read'] } }),
    ask: { path: '/api/v1/usage/report?from=2016-11-21T00:00:00Z' },
    status: 422,
    body: expect.objectContaining({ error: expect.stringContaining('at most 366 days before') }),
  },
];

export const getWorkspaceUsageReport: readonly WireCase[] = [
  { title: 'is not for other users', ...NOT_ADMIN },
  {
    title: 'adds up the calls of all users',
    ask: async (app) => {
      await pay(app, app.account);
      return asAdmin({ path: `/api/usage-report?group_by=organization&${LATER}` })(app);
    },
    status: 200,
    body: later({ organization: null }),
  },
];

const ofOwn =
  (rest: string, role: 'ownerId' | 'readerIds' = 'ownerId') =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const owner = role === 'ownerId' ? app.user : await app.addUser('grace@example.com');
    const share = role === 'ownerId' ? {} : { [role]: [app.user.id] };
    const { id } = await addOrganization(app, { ownerId: owner.id, ...share });
    const account = `organization:${id}`;
    await app.services.ledger.grant({ account, amount: 9_000_000, key: 'start', reason: '=start' });
    await pay(app, account);
    return { path: `/api/organizations/${id}/${rest}` };
  };

const NOT_MINE = refused('application', {
  status: 403,
  code: 'FORBIDDEN',
  message: 'You do not administer this organization',
});

export const getOrganizationUsageReport: readonly WireCase[] = [
  {
    title: 'adds up what the organization paid for',
    ask: ofOwn(`usage-report?group_by=operation&${LATER}`),
    status: 200,
    body: later({ operation: 'createCompletion' }),
  },
  { title: 'is not for other members', ask: ofOwn('usage-report', 'readerIds'), ...NOT_MINE },
];

const exported = (format: string, type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'content-disposition': `attachment; filename="credits.${format}"`,
});
const NDJSON = exported('ndjson', 'application/x-ndjson');

export const exportCredits: readonly WireCase[] = [
  {
    title: 'writes one line per entry',
    status: 200,
    headers: NDJSON,
    body: expect.stringMatching(/^\{"cursor":"[\w-]+",.*"credits":1000,"micro_credits":1000000000,.*\}\n$/),
  },
  {
    title: 'rejects a cursor of another list',
    ask: { path: '/api/credits/export?cursor=abc' },
    status: 422,
    body: expect.objectContaining({ error: expect.objectContaining({ code: 'VALIDATION_ERROR' }) }),
  },
];

export const exportOrganizationCredits: readonly WireCase[] = [
  {
    title: 'writes CSV without formulas',
    ask: ofOwn('credits/export?format=csv'),
    status: 200,
    headers: exported('csv', 'text/csv'),
    body: expect.stringMatching(
      /^cursor,id,.*\r\n.*,grant,9,9000000,'=start,start,.*\r\n.*,charge,-1\.500001,-1500001,createCompletion,.*,10,3,.*\r\n$/,
    ),
  },
  { title: 'is not for other members', ask: ofOwn('credits/export', 'readerIds'), ...NOT_MINE },
];

export const exportWorkspaceCredits: readonly WireCase[] = [
  { title: 'is not for other users', ...NOT_ADMIN },
  {
    title: 'writes the entries of all accounts',
    ask: asAdmin(),
    status: 200,
    headers: NDJSON,
    body: expect.stringMatching(/"account":"user:/),
  },
];

export const getOrganizationCredits: readonly WireCase[] = [
  {
    title: 'answers what the organization can spend',
    ask: ofOwn('credits'),
    status: 200,
    body: { balance: 7.499999, reserved: 0 },
    everywhere: true,
  },
  { title: 'is not for other members', ask: ofOwn('credits', 'readerIds'), ...NOT_MINE },
  {
    title: 'does not confirm the organization to others',
    ask: async (app) => {
      const grace = await app.addUser('grace@example.com');
      const { id } = await addOrganization(app, { ownerId: grace.id });
      return { path: `/api/organizations/${id}/credits` };
    },
    ...refused('application', { status: 404, message: 'Organization not found' }),
  },
];
