import { type Caller, getAccount, getPayer } from '../../contract/call.ts';
import { toCredits } from '../../credits/amounts.ts';
import { getSpendCap } from '../../credits/spend-caps.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Charge, ChargeFilter, CreditLedger, Usage } from '../../ports/ledger.ts';
import type { WindowState } from '../../ports/limiter.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';
import { SUBSCRIPTIONS, type SubscriptionRecord } from '../organizations/subscriptions-records.ts';
import {
  getCreditBalance,
  getMe,
  getUsage,
  type WireMe,
  type WireRecentCall,
  type WireUsage,
} from './contract.ts';
import { toUnits } from './units.ts';

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
      getBalance(services, caller),
    ]);
    if (user === undefined) throw new ApiError(401, 'Invalid or expired token');
    return {
      id: user.id,
      name: getName(user),
      tier: user.tier,
      ...subscribed(subscription, services.clock.now()),
      credits: { balance },
    };
  });
}

/** Null without a subscription, and after a cancelled subscription has expired. */
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
    balance: await getBalance(services, caller),
  }));
}

/** `GET /api/v1/usage` */
export function createUsageHandler(services: AccountServices): Route {
  return defineRoute(getUsage, services, async (_input, { caller, windows }) => {
    const { clock, ledger } = services;
    const now = clock.now();
    const filter = getOwnCharges(caller);
    const [balance, lastDay, lastMonth, recent] = await Promise.all([
      ledger.balance(getAccount(caller)),
      ledger.spent(filter, now - DAY),
      ledger.spent(filter, now - 30 * DAY),
      ledger.charges(filter, RECENT),
    ]);
    const isKey = caller.kind === 'key';
    return {
      key: isKey ? { id: caller.keyId, name: caller.name, key_prefix: caller.keyPrefix } : null,
      rate_limit: isKey ? toCeilings(windows) : null,
      credits: { balance: toCredits(balance.available), reserved: toCredits(balance.held) },
      spend: {
        last_24h: toCredits(lastDay),
        last_30d: toCredits(lastMonth),
        cap: await computeCap(services, caller, now),
      },
      recent: recent.map(toRecentCall),
    };
  });
}

/** The charges that a caller sees: of an organization that the host names as payer, only the user's own. */
function getOwnCharges(caller: Caller): ChargeFilter {
  if (caller.kind === 'key') return { keyId: caller.keyId };
  const account = getAccount(caller);
  return caller.organizationId === undefined ? { account } : { account, userId: caller.userId };
}

async function getBalance(services: AccountServices, caller: Caller): Promise<number> {
  const { available } = await services.ledger.balance(getAccount(caller));
  return toCredits(available);
}

function toCeilings([minute, day]: readonly WindowState[] = []): WireUsage['rate_limit'] {
  return minute === undefined || day === undefined ? null : { minute: toWindow(minute), day: toWindow(day) };
}

function toWindow({ limit, remaining, resetAt }: WindowState): {
  limit: number;
  remaining: number;
  reset: number;
} {
  return { limit, remaining, reset: Math.ceil(resetAt / 1000) };
}

async function computeCap(
  services: AccountServices,
  caller: Caller,
  now: number,
): Promise<WireUsage['spend']['cap']> {
  const cap = getSpendCap(getPayer(caller), now);
  if (cap === undefined || caller.spendCap === undefined) return null;
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
    cache_hit_rate: charge.usage === undefined ? null : hitRate(charge.usage),
    request_id: charge.requestId ?? '',
  };
}

function hitRate({ input = 0, cachedInput = 0, cacheWrite = 0 }: Usage): number | null {
  const read = input + cachedInput + cacheWrite;
  return read === 0 ? null : Math.round((cachedInput / read) * 1000) / 1000;
}

function getName(user: UserRecord): string {
  const full = [user.firstName, user.lastName].filter((part) => part !== null).join(' ');
  return full === '' ? user.username : full;
}
