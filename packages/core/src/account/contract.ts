import * as z from 'zod';
import { defineOperation } from '../operation.ts';

const balance = z
  .number()
  .meta({ description: 'Credits that can be spent now: open reservations are taken off.' });

const me = z.object({
  id: z.string(),
  name: z.string(),
  tier: z.enum(['free', 'basic', 'pro', 'other']),
  subscription: z
    .object({
      plan_name: z.string(),
      price_id: z.string(),
      interval: z.enum(['monthly', 'yearly']),
      current_period_ends_at: z.iso.datetime(),
    })
    .nullable(),
  credits: z.object({ balance }),
  entitlements: z.array(z.string()),
});

export type WireMe = z.input<typeof me>;

export const getMe = defineOperation({
  id: 'getMe',
  method: 'GET',
  path: '/api/v1/me',
  tag: 'Account',
  summary: 'Who is calling, on which plan, with how much credit',
  auth: 'key-or-token',
  scopes: ['me:read'],
  rate: { key: 'day-exempt', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  input: {},
  output: { 200: { description: 'The account.', schema: me } },
});

export const getCreditBalance = defineOperation({
  id: 'getCreditBalance',
  method: 'GET',
  path: '/api/v1/credits',
  tag: 'Account',
  summary: 'How much credit is left',
  auth: 'key-or-token',
  scopes: ['me:read', 'ai:chat', 'ai:generate', 'ai:decide'],
  rate: { key: 'day-exempt', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  input: {},
  output: { 200: { description: 'The balance.', schema: z.object({ balance }) } },
});

const window = z.object({
  limit: z.number().int(),
  remaining: z.number().int(),
  reset: z.number().int().meta({ description: 'Epoch seconds.' }),
});

const recentCall = z.object({
  id: z.string(),
  created_at: z.iso.datetime(),
  operation: z.string(),
  model: z.string().nullable(),
  status: z.enum(['reserved', 'settled', 'released']),
  credits: z.number(),
  usage: z
    .record(z.string(), z.number())
    .nullable()
    .meta({ description: 'Units by class, e.g. `input_tokens`.' }),
  request_id: z.string(),
});

const usage = z.object({
  key: z.object({ id: z.string(), name: z.string(), key_prefix: z.string() }).nullable(),
  rate_limit: z.object({ minute: window, day: window }).nullable(),
  credits: z.object({ balance, reserved: z.number() }),
  spend: z.object({
    last_24h: z.number(),
    last_30d: z.number(),
    cap: z
      .object({ credits: z.number(), period: z.enum(['day', 'month', 'total']), used: z.number() })
      .nullable(),
  }),
  recent: z.array(recentCall).meta({ description: 'The newest 50.' }),
});

export type WireUsage = z.input<typeof usage>;
export type WireRecentCall = z.input<typeof recentCall>;

export const getUsage = defineOperation({
  id: 'getUsage',
  method: 'GET',
  path: '/api/v1/usage',
  tag: 'Account',
  summary: 'What was spent, on what, and what is left of every ceiling',
  auth: 'key-or-token',
  scopes: ['me:read', 'ai:chat', 'ai:generate', 'ai:decide'],
  rate: { key: 'day-exempt', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  input: {},
  output: { 200: { description: "The key's usage, or the user's.", schema: usage } },
});
