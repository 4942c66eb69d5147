import { fromCredits, subscribe } from '@questline/core';
import { expect } from 'vitest';
import { addOrganization, asAdmin } from '../../support/people.ts';
import { NOW, type World } from '../../support/world.ts';
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

/** Ada has one of her own, and belongs to an organization with a trial; Grace has one too. */
async function some(world: World): Promise<void> {
  const { services, user } = world;
  const other = await world.addUser('grace@example.com');
  const terms = { tier: 'pro', status: 'active', currentPeriodEnd: END } as const;
  const { id: organizationId } = await addOrganization(world, { ownerId: other.id, writerIds: [user.id] });
  const account = `organization:${organizationId}`;
  await services.ledger.grant({ account, amount: fromCredits(7), key: 'start', reason: 'start' });
  await subscribe(services, { userId: user.id }, { ...terms, tier: 'basic' });
  await subscribe(services, { userId: user.id }, terms);
  await subscribe(services, { organizationId }, { tier: 'free', status: 'trial', currentPeriodEnd: null });
  await subscribe(services, { userId: other.id }, { ...terms, tier: 'other', status: 'past_due' });
}

export const listOwnSubscriptions: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { subscriptions: [] }, everywhere: true },
  {
    title: "shows the caller's, and those of the caller's organizations",
    ask: async (world) => {
      await some(world);
      return {};
    },
    status: 200,
    body: { subscriptions: [pro, trial] },
  },
];

export const listSubscriptions: readonly WireCase[] = [
  {
    title: 'shows every one',
    ask: async (world) => {
      await some(world);
      return asAdmin({ path: '/api/subscriptions?order=asc' })(world);
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
      ask: async (world) => {
        await some(world);
        return asAdmin({ path: `/api/subscriptions?search=${search}` })(world);
      },
      status: 200,
      body: { subscriptions: [expect.objectContaining({ _id: ID })], pagination: onePage(1) },
    }),
  ),
  {
    title: 'finds the ones of more people than a store shows at once',
    ask: async (world) => {
      const terms = { tier: 'pro', status: 'active', currentPeriodEnd: END } as const;
      for (let count = 0; count < 1001; count += 1) {
        const { id } = await world.addUser(`many-${count}@example.com`);
        await subscribe(world.services, { userId: id }, terms);
      }
      return asAdmin({ path: '/api/subscriptions?search=many-&limit=1' })(world);
    },
    status: 200,
    body: {
      subscriptions: [expect.objectContaining({ _id: ID })],
      pagination: { ...onePage(1001), limit: 1, pages: 1001, totalPages: 1001, hasNext: true },
    },
  },
  { title: 'somebody else', ...refused('application', { status: 403, message: 'Administrators only' }) },
  ...badPages('/api/subscriptions'),
];
