import { accountOf, type Caller, type KeyCaller, payerOf, spendCapOf } from '../call.ts';
import { toCredits } from '../credits/amounts.ts';
import { ApiError } from '../errors.ts';
import { dayWindow, minuteWindow } from '../identity/rates.ts';
import { API_KEYS, USERS, type UserRecord } from '../identity/records.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Charge, CreditLedger, Usage } from '../ports/ledger.ts';
import type { WindowState } from '../ports/limiter.ts';
import type { Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { SUBSCRIPTIONS, type SubscriptionRecord } from '../subscriptions/records.ts';
import {
  getCreditBalance,
  getMe,
  getUsage,
  type WireMe,
  type WireRecentCall,
  type WireUsage,
} from './contract.ts';

const DAY = 24 * 3_600_000;
const RECENT = 50;

export interface AccountServices extends PipelineServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
}

/** `GET /api/v1/me` */
export function createMeHandler(services: AccountServices): Route {
  const users = services.store.collection(USERS);
  const subscriptions = services.store.collection(SUBSCRIPTIONS);
  return defineRoute(getMe, services, async (_input, { caller }) => {
    const { userId } = caller;
    const [user, [subscription], balance] = await Promise.all([
      users.get(userId),
      subscriptions.find({ userId }, { limit: 1 }),
      balanceOf(services, caller),
    ]);
    if (user === undefined) throw new ApiError(401, 'Invalid or expired token');
    return {
      id: user.id,
      name: nameOf(user),
      tier: user.tier,
      ...subscribed(subscription, services.clock.now()),
      credits: { balance },
    };
  });
}

/** Nothing while the host has not said what was subscribed to, and once a cancelled subscription has run out. */
function subscribed(
  subscription: SubscriptionRecord | undefined,
  now: number,
): Pick<WireMe, 'subscription' | 'entitlements'> {
  const { plan, status, currentPeriodEnd: end = null } = subscription ?? {};
  if (plan === undefined || end === null || (status === 'cancelled' && end <= now)) {
    return { subscription: null, entitlements: [] };
  }
  return {
    subscription: {
      plan_name: plan.name,
      price_id: plan.priceId,
      interval: plan.interval,
      current_period_ends_at: new Date(end).toISOString(),
    },
    entitlements: [...(plan.entitlements ?? [])],
  };
}

/** `GET /api/v1/credits` */
export function createCreditsHandler(services: AccountServices): Route {
  return defineRoute(getCreditBalance, services, async (_input, { caller }) => ({
    balance: await balanceOf(services, caller),
  }));
}

/** `GET /api/v1/usage` */
export function createUsageHandler(services: AccountServices): Route {
  const keys = services.store.collection(API_KEYS);
  return defineRoute(getUsage, services, async (_input, { caller }) => {
    const { clock, ledger } = services;
    const now = clock.now();
    const filter = caller.kind === 'key' ? { keyId: caller.keyId } : { account: accountOf(caller) };
    const [key, balance, lastDay, lastMonth, recent] = await Promise.all([
      caller.kind === 'key' ? keys.get(caller.keyId, { userId: caller.userId }) : undefined,
      ledger.balance(accountOf(caller)),
      ledger.spent(filter, now - DAY),
      ledger.spent(filter, now - 30 * DAY),
      ledger.charges(filter, RECENT),
    ]);
    return {
      key: key === undefined ? null : { id: key.id, name: key.name, key_prefix: key.keyPrefix },
      rate_limit: caller.kind === 'key' ? await ceilingsOf(services, caller, now) : null,
      credits: { balance: toCredits(balance.available), reserved: toCredits(balance.held) },
      spend: {
        last_24h: toCredits(lastDay),
        last_30d: toCredits(lastMonth),
        cap: await capOf(services, caller, now),
      },
      recent: recent.map(toRecentCall),
    };
  });
}

async function balanceOf(services: AccountServices, caller: Caller): Promise<number> {
  const { available } = await services.ledger.balance(accountOf(caller));
  return toCredits(available);
}

async function ceilingsOf(
  services: AccountServices,
  caller: KeyCaller,
  now: number,
): Promise<WireUsage['rate_limit']> {
  const windows = [minuteWindow(caller), dayWindow(caller)];
  const [minute, day] = await services.limiter.peek(`key:${caller.keyId}`, windows, now);
  return minute === undefined || day === undefined ? null : { minute: toWindow(minute), day: toWindow(day) };
}

function toWindow({ limit, remaining, resetAt }: WindowState): {
  limit: number;
  remaining: number;
  reset: number;
} {
  return { limit, remaining, reset: Math.ceil(resetAt / 1000) };
}

async function capOf(
  services: AccountServices,
  caller: Caller,
  now: number,
): Promise<WireUsage['spend']['cap']> {
  const cap = spendCapOf(payerOf(caller), now);
  if (cap === undefined || caller.kind !== 'key' || caller.spendCap === undefined) return null;
  const used = await services.ledger.capUsed(cap.id);
  return { credits: toCredits(cap.limit), period: caller.spendCap.period, used: toCredits(used) };
}

function toRecentCall(charge: Charge): WireRecentCall {
  return {
    id: charge.id,
    created_at: new Date(charge.createdAt).toISOString(),
    operation: charge.operation,
    model: charge.model ?? null,
    status: charge.status,
    credits: toCredits(charge.amount),
    usage: charge.usage === undefined ? null : toUnits(charge.usage),
    request_id: charge.requestId ?? '',
  };
}

const TOKEN_CLASSES = {
  input: 'input_tokens',
  output: 'output_tokens',
  cachedInput: 'cached_input_tokens',
  cacheWrite: 'cache_write_tokens',
  reasoning: 'reasoning_tokens',
} as const;

function toUnits(usage: Usage): Record<string, number> {
  const units: Record<string, number> = {};
  for (const [name, count] of Object.entries(usage)) {
    units[name in TOKEN_CLASSES ? TOKEN_CLASSES[name as keyof typeof TOKEN_CLASSES] : name] = count;
  }
  return units;
}

function nameOf(user: UserRecord): string {
  const full = [user.firstName, user.lastName].filter((part) => part !== null).join(' ');
  return full === '' ? user.username : full;
}
