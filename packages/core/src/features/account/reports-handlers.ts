import type { Caller } from '../../contract/call.ts';
import { toCredits } from '../../credits/amounts.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { ChargeFilter, CreditLedger, Usage, UsageSum } from '../../ports/ledger.ts';
import { forbidden, invalid, notFound } from '../../shared/errors.ts';
import type { AccountServices } from './handlers.ts';
import {
  getOrganizationUsageReport,
  getUsageReport,
  getWorkspaceUsageReport,
  MAX_GROUPS,
  MAX_REPORT_DAYS,
  type ReportQuery,
  type WireReport,
} from './reports-contract.ts';
import { toUnits } from './units.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

export interface ReportServices extends AccountServices {
  readonly administers: (userId: string, organizationId: string) => Promise<boolean>;
  readonly isMember: (userId: string, organizationId: string) => Promise<boolean>;
}

/** Without the optional call of the ledger, reports are not part of the API. */
export function reportRoutes(services: ReportServices): Route[] {
  const { ledger, clock } = services;
  const sumCharges = ledger.sumCharges?.bind(ledger);
  if (sumCharges === undefined) return [];
  const report = (filter: ChargeFilter, query: ReportQuery, signal: AbortSignal) =>
    createReport(sumCharges, filter, query, clock.now(), signal);
  return [
    defineRoute(getUsageReport, services, async ({ query }, { caller, signal }) =>
      report(
        caller.kind === 'key' ? { keyId: caller.keyId, userId: caller.userId } : { userId: caller.userId },
        query,
        signal,
      ),
    ),
    defineRoute(
      getOrganizationUsageReport,
      services,
      async ({ params: { id }, query }, { caller, signal }) => {
        await requireOrganization(services, caller, id);
        return report({ account: `organization:${id}` }, query, signal);
      },
    ),
    defineRoute(getWorkspaceUsageReport, services, async ({ query }, { caller, signal }) => {
      requireAdministrator(caller);
      return report({}, query, signal);
    }),
  ];
}

export function requireAdministrator(caller: Caller): void {
  if (caller.kind !== 'token' || !caller.isAdmin) throw forbidden('Only administrators may do this');
}

/** @throws ApiError 404 for an organization of others, 403 for a member without administration. */
export async function requireOrganization(
  { administers, isMember }: Pick<ReportServices, 'administers' | 'isMember'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const isAdministrator = caller.kind === 'token' && caller.isAdmin;
  if (isAdministrator || (await administers(caller.userId, id))) return;
  if (!(await isMember(caller.userId, id))) throw notFound('Organization');
  throw forbidden('You do not administer this organization');
}

async function createReport(
  sumCharges: NonNullable<CreditLedger['sumCharges']>,
  filter: ChargeFilter,
  { from: start, to: end, group_by: groupBy = [] }: ReportQuery,
  now: number,
  signal: AbortSignal,
): Promise<WireReport> {
  const to = end === undefined ? now : Date.parse(end);
  const from = start === undefined ? to - DEFAULT_DAYS * DAY_MS : Date.parse(start);
  if (from >= to) throw invalid('from', 'expected a time before `to`');
  if (to - from > MAX_REPORT_DAYS * DAY_MS) {
    throw invalid('from', `expected at most ${MAX_REPORT_DAYS} days before \`to\``);
  }
  const groups = await sumCharges({ filter, from, to, groupBy, limit: MAX_GROUPS + 1 }, { signal });
  if (groups.length > MAX_GROUPS) {
    throw invalid('group_by', `more than ${MAX_GROUPS} groups; shorten the time or group by less`);
  }
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    groups: groups.map((sum) => ({ group: toGroup(sum), ...toSums(sum) })),
    total: toSums(add(groups)),
  };
}

function toGroup({ group }: UsageSum): WireReport['groups'][number]['group'] {
  const { day, ...others } = group;
  return {
    ...(day !== undefined && { day: new Date(Number(day)).toISOString().slice(0, 10) }),
    ...(others as Readonly<Record<string, string | null>>),
  };
}

/** Amounts are whole micro-credits: adding them is exact. */
function add(groups: readonly UsageSum[]): Omit<UsageSum, 'group'> {
  const usage: Record<string, number> = {};
  for (const sum of groups) {
    for (const [unit, count] of Object.entries(sum.usage)) usage[unit] = (usage[unit] ?? 0) + Number(count);
  }
  return {
    requests: groups.reduce((total, { requests }) => total + requests, 0),
    amount: groups.reduce((total, { amount }) => total + amount, 0),
    usage: usage as Usage,
  };
}

function toSums({ requests, amount, usage }: Omit<UsageSum, 'group'>): WireReport['total'] {
  return { requests, credits: toCredits(amount), usage: toUnits(usage) };
}
