import type { Caller } from '../../contract/call.ts';
import { fromCredits, toCredits } from '../../credits/amounts.ts';
import { USERS } from '../../identity/records.ts';
import { actingFor } from '../../operations/audit.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import { forbidden, notFound } from '../../shared/errors.ts';
import { grantOrganizationCredits, grantUserCredits } from './credit-grants-contract.ts';
import { ORGANIZATIONS } from './records.ts';

export interface CreditGrantServices extends PipelineServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
}

interface Grant {
  readonly credits: number;
  readonly key: string;
  readonly reason?: string | undefined;
}

export function creditGrantRoutes(services: CreditGrantServices): Route[] {
  const users = services.store.collection(USERS);
  const organizations = services.store.collection(ORGANIZATIONS);
  return [
    defineRoute(grantUserCredits, services, async ({ params: { id }, body }, call) => {
      requireAdministrator(call.caller);
      if ((await users.get(id)) === undefined) throw notFound('User');
      return grant(actingFor(services, call).ledger, `user:${id}`, body);
    }),
    defineRoute(grantOrganizationCredits, services, async ({ params: { id }, body }, call) => {
      requireAdministrator(call.caller);
      if ((await organizations.get(id)) === undefined) throw notFound('Organization');
      return grant(actingFor(services, call).ledger, `organization:${id}`, body);
    }),
  ];
}

function requireAdministrator(caller: Caller): void {
  if (caller.kind !== 'token' || !caller.isAdmin) throw forbidden('Only administrators may do this');
}

async function grant(ledger: CreditLedger, account: string, { credits, key, reason }: Grant) {
  const granted = await ledger.grant({
    account,
    amount: fromCredits(credits),
    // A prefix of its own: a key of a client must not equal that of a welcome grant.
    key: `administrator:${key}`,
    reason: reason ?? 'Granted by an administrator',
  });
  const { available, held } = await ledger.balance(account);
  return { granted, balance: toCredits(available), reserved: toCredits(held) };
}
