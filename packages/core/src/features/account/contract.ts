import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

const balance = z.number().meta({ description: 'Credits that can be spent now, without open reservations.' });

const me = z.object({
  id: z.string().describe('The id of the user.'),
  name: z.string().describe('The name of the user.'),
  tier: z.enum(['free', 'basic', 'pro', 'other']).describe('The plan of the user.'),
  subscription: z
    .object({
      plan_name: z.string().describe('The name of the plan.'),
      price_id: z.string().describe('The id of the price.'),
      interval: z.enum(['monthly', 'yearly']).describe('How often the subscription renews.'),
      current_period_ends_at: z.iso.datetime().describe('The end of the paid period.'),
    })
    .nullable()
    .describe('The subscription; null without a subscription.'),
  credits: z.object({ balance }).describe('The credits of the caller.'),
  entitlements: z.array(z.string()).describe('Names of additional abilities of the plan.'),
});

export type WireMe = z.input<typeof me>;

export const getMe = defineOperation({
  id: 'getMe',
  method: 'GET',
  path: '/api/v1/me',
  tag: 'Account',
  summary: 'Get the calling user, plan and credit',
  description: 'Returns the user behind the credential, the plan and the balance of the account that pays.',
  auth: 'key-or-token',
  scopes: ['me:read'],
  rate: { key: 'day-exempt', user: 'standard' },
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
  summary: 'Get the credit balance',
  description: 'Returns the balance of the account that pays for calls with this credential.',
  auth: 'key-or-token',
  scopes: ['me:read', 'ai:chat', 'ai:generate', 'ai:decide'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller',
  family: 'public',
  input: {},
  output: { 200: { description: 'The balance.', schema: z.object({ balance }) } },
});

const window = z.object({
  limit: z.number().int().describe('The maximum number of requests in the window.'),
  remaining: z.number().int().describe('The number of requests that remain in the window.'),
  reset: z.number().int().meta({ description: 'Epoch seconds.' }),
});

const recentCall = z.object({
  id: z.string().describe('The id of the call.'),
  created_at: z.iso.datetime().describe('The time of the call.'),
  operation: z.string().describe('The id of the operation.'),
  model: z.string().nullable().describe('The id of the model; null for calls without a model.'),
  status: z
    .enum(['reserved', 'settled', 'released'])
    .describe('Whether the credits are held, charged or returned.'),
  credits: z.number().describe('The credits that are held or charged.'),
  usage: z
    .record(z.string(), z.number())
    .nullable()
    .meta({ description: 'Units by class, e.g. `input_tokens`.' }),
  cache_hit_rate: z.number().nullable().meta({
    description: "0 to 1: the share of input tokens that the provider's prompt cache served.",
  }),
  request_id: z.string().describe('The `X-Request-ID` of the call.'),
});

const usage = z.object({
  key: z
    .object({
      id: z.string().describe('The id of the API key.'),
      name: z.string().describe('The name of the API key.'),
      key_prefix: z.string().describe('The first characters of the API key.'),
    })
    .nullable()
    .describe('The API key of the request; null for a signed-in user.'),
  rate_limit: z
    .object({
      minute: window.describe('The limit of the current minute.'),
      day: window.describe('The limit of the current day.'),
    })
    .nullable()
    .describe('The limits of the key; null for a signed-in user.'),
  credits: z
    .object({ balance, reserved: z.number().describe('The credits that are held for running calls.') })
    .describe('The credits of the account that pays.'),
  spend: z
    .object({
      last_24h: z.number().describe('The credits of the last 24 hours.'),
      last_30d: z.number().describe('The credits of the last 30 days.'),
      cap: z
        .object({
          credits: z.number().describe('The maximum, in credits.'),
          period: z
            .enum(['day', 'month', 'total'])
            .describe('The calendar period (UTC) after which counting starts again.'),
          used: z.number().describe('The credits that are spent in the period.'),
        })
        .nullable()
        .describe('The spending limit of the key; null without a limit.'),
    })
    .describe('What the caller has spent, in credits.'),
  recent: z.array(recentCall).meta({ description: 'The newest 50.' }),
});

export type WireUsage = z.input<typeof usage>;
export type WireRecentCall = z.input<typeof recentCall>;

export const getUsage = defineOperation({
  id: 'getUsage',
  method: 'GET',
  path: '/api/v1/usage',
  tag: 'Account',
  summary: 'Get usage, recent calls and the remainder of every limit',
  description:
    'Returns the remaining requests, the spending of the last day and month, and the latest calls.',
  auth: 'key-or-token',
  scopes: ['me:read', 'ai:chat', 'ai:generate', 'ai:decide'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller',
  family: 'public',
  input: {},
  output: { 200: { description: "The key's usage, or the user's.", schema: usage } },
});
