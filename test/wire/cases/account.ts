import { subscribe } from '@questline/core';
import type { SubscriptionInput } from '@questline/core/internal';
import { NOW, type TestApp } from '../../support/test-app.ts';
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
  (terms: Omit<SubscriptionInput, 'tier'>) =>
  async ({ services, user }: TestApp): Promise<object> => {
    await subscribe(services, { userId: user.id }, { tier: 'pro', ...terms });
    return {};
  };

export const getMe: readonly WireCase[] = [
  { title: 'returns the owner of a key', status: 200, body: ({ user }) => me(user.id), everywhere: true },
  { title: 'returns a signed-in user', caller: 'token', status: 200, body: ({ user }) => me(user.id) },
  {
    title: 'returns the subscriptions of the user',
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
    title: 'omits a cancelled subscription after its end',
    ask: subscribedTo({ status: 'cancelled', currentPeriodEnd: NOW, plan: PLAN }),
    status: 200,
    body: ({ user }) => ({ ...me(user.id), tier: 'pro' }),
  },
  {
    title: 'omits a subscription that the host no longer names',
    ask: async (app) => {
      await subscribedTo({ status: 'active', currentPeriodEnd: END, plan: PLAN })(app);
      return subscribedTo({ status: 'active', currentPeriodEnd: END })(app);
    },
    status: 200,
    body: ({ user }) => ({ ...me(user.id), tier: 'pro' }),
  },
];

export const getCreditBalance: readonly WireCase[] = [
  {
    title: 'returns the remaining credits',
    app: () => ({ credits: 12.345678 }),
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
    title: 'returns the limits, cap and spending of a key',
    app: () => ({
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
    title: 'returns the totals of a signed-in user',
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
