import { type SubscriptionTerms, subscribe } from '@questline/core';
import { NOW, type World } from '../../support/world.ts';
import type { WireCase } from './case.ts';

const me = (userId: string) => ({
  id: userId,
  name: 'ada',
  tier: 'free',
  subscription: null,
  credits: { balance: 1000 },
  entitlements: [],
});

const END = NOW + 30 * 86_400_000;
const PLAN = { name: 'Pro', priceId: 'price_1', interval: 'yearly', entitlements: ['video'] } as const;

const subscribedTo =
  (terms: Omit<SubscriptionTerms, 'tier'>) =>
  async ({ services, user }: World): Promise<object> => {
    await subscribe(services, { userId: user.id }, { tier: 'pro', ...terms });
    return {};
  };

export const getMe: readonly WireCase[] = [
  { title: 'tells a key whose it is', status: 200, body: ({ user }) => me(user.id), everywhere: true },
  { title: 'tells a signed-in user', caller: 'token', status: 200, body: ({ user }) => me(user.id) },
  {
    title: 'tells what the user has subscribed to',
    ask: subscribedTo({ status: 'active', currentPeriodEnd: END, plan: PLAN }),
    status: 200,
    body: ({ user }) => ({
      ...me(user.id),
      tier: 'pro',
      subscription: {
        plan_name: 'Pro',
        price_id: 'price_1',
        interval: 'yearly',
        current_period_ends_at: new Date(END).toISOString(),
      },
      entitlements: ['video'],
    }),
  },
  {
    title: 'tells nothing of a subscription that was cancelled and has run out',
    ask: subscribedTo({ status: 'cancelled', currentPeriodEnd: NOW, plan: PLAN }),
    status: 200,
    body: ({ user }) => ({ ...me(user.id), tier: 'pro' }),
  },
  {
    title: 'tells nothing of one that the host has no name for any more',
    ask: async (world) => {
      await subscribedTo({ status: 'active', currentPeriodEnd: END, plan: PLAN })(world);
      return subscribedTo({ status: 'active', currentPeriodEnd: END })(world);
    },
    status: 200,
    body: ({ user }) => ({ ...me(user.id), tier: 'pro' }),
  },
];

export const getCreditBalance: readonly WireCase[] = [
  {
    title: 'tells what is left',
    world: () => ({ credits: 12.345678 }),
    status: 200,
    body: { balance: 12.345678 },
  },
];

const window = (limit: number, remaining: number, seconds: number) => ({
  limit,
  remaining,
  reset: NOW / 1000 + seconds,
});

export const getUsage: readonly WireCase[] = [
  {
    title: 'tells a key its ceilings, its cap and what it has spent',
    world: () => ({
      key: { name: 'ci', scopes: ['me:read'], spendCap: { amount: 5_000_000, period: 'month' } },
    }),
    status: 200,
    body: ({ key, keyId }) => ({
      key: { id: keyId, name: 'ci', key_prefix: key.slice(0, 16) },
      rate_limit: { minute: window(60, 59, 60), day: window(1000, 1000, 86_400) },
      credits: { balance: 1000, reserved: 0 },
      spend: { last_24h: 0, last_30d: 0, cap: { credits: 5, period: 'month', used: 0 } },
      recent: [],
    }),
    everywhere: true,
  },
  {
    title: 'tells a signed-in user the totals',
    caller: 'token',
    status: 200,
    body: {
      key: null,
      rate_limit: null,
      credits: { balance: 1000, reserved: 0 },
      spend: { last_24h: 0, last_30d: 0, cap: null },
      recent: [],
    },
  },
];
