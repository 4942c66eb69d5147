import { fromCredits, subscribe } from '@questline/core';
import { expect } from 'vitest';
import { addOrganization, asAdmin } from '../../support/people.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import { badPages, onePage, refused, type WireCase } from './case.ts';

const ID = expect.stringMatching(/^[0-9a-f]{24}$/);
const END = NOW + 30 * 86_400_000;

const pro = {
  _id: ID,
  status: 'active',
  tier: 'pro',
  currentPeriodEnd: new Date(END).toISOString(),
  creditsRemaining: 1000,
};
const trial = { _id: ID, status: 'trial', tier: 'free', currentPeriodEnd: null, creditsRemaining: 7 };

/** Ada has a subscription and is a member of an organization with a trial; Grace has one too. */
async function addSubscriptions(app: TestApp): Promise<void> {
  const { services, user } = app;
  const other = await app.addUser('grace@example.com');
  const terms = { tier: 'pro', status: 'active', currentPeriodEnd: END } as const;
  const { id: organizationId } = await addOrganization(app, { ownerId: other.id, writerIds: [user.id] });
  const account = `organization:${organizationId}`;
  await services.ledger.grant({ account, amount: fromCredits(7), key: 'start', reason: 'start' });
  await subscribe(services, { userId: user.id }, { ...terms, tier: 'basic' });
  await subscribe(services, { userId: user.id }, terms);
  await subscribe(services, { organizationId }, { tier: 'free', status: 'trial', currentPeriodEnd: null });
  await subscribe(services, { userId: other.id }, { ...terms, tier: 'other', status: 'past_due' });
}

export const listOwnSubscriptions: readonly WireCase[] = [
  { title: 'lists no subscriptions at first', status: 200, body: { subscriptions: [] }, everywhere: true },
  {
    title: 'lists the subscriptions of the caller and of their organizations',
    ask: async (app) => {
      await addSubscriptions(app);
      return {};
    },
    status: 200,
    body: { subscriptions: [pro, trial] },
  },
];

export const listSubscriptions: readonly WireCase[] = [
  {
    title: 'lists all subscriptions',
    ask: async (app) => {
      await addSubscriptions(app);
      return asAdmin({ path: '/api/subscriptions?order=asc' })(app);
    },
    status: 200,
    body: {
      subscriptions: [
        { ...pro, userId: ID, organizationId: null },
        { ...trial, userId: null, organizationId: ID },
        { ...pro, status: 'past_due', tier: 'other', creditsRemaining: 0, userId: ID, organizationId: null },
      ],
      pagination: onePage(3),
    },
  },
  ...['engines', 'GRACE@'].map(
    (search): WireCase => ({
      title: `finds ${search}`,
      ask: async (app) => {
        await addSubscriptions(app);
        return asAdmin({ path: `/api/subscriptions?search=${search}` })(app);
      },
      status: 200,
      body: { subscriptions: [expect.objectContaining({ _id: ID })], pagination: onePage(1) },
    }),
  ),
  {
    title: 'finds subscriptions of more users than one page of the store',
    ask: async (app) => {
      const terms = { tier: 'pro', status: 'active', currentPeriodEnd: END } as const;
      for (let count = 0; count < 1001; count += 1) {
        const { id } = await app.addUser(`many-${count}@example.com`);
        await subscribe(app.services, { userId: id }, terms);
      }
      return asAdmin({ path: '/api/subscriptions?search=many-&limit=1' })(app);
    },
    status: 200,
    body: {
      subscriptions: [expect.objectContaining({ _id: ID })],
      pagination: { ...onePage(1001), limit: 1, pages: 1001, totalPages: 1001, hasNext: true },
    },
  },
  {
    title: 'rejects a user who is not an administrator',
    ...refused('application', { status: 403, message: 'Administrators only' }),
  },
  ...badPages('/api/subscriptions'),
];
