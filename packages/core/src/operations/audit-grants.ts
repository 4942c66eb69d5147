import { passReports } from '../observability/ledger-reports.ts';
import type { Clock } from '../ports/clock.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { hashSecret } from '../shared/secrets.ts';
import { type AuditedLedger, recordAudit, SERVICE_ACTOR } from './audit.ts';
import { type AuditActor, GRANT_INTENTS, type GrantIntentRecord } from './audit-records.ts';

/** Initial credits of an account, which are part of its creation. */
const REGISTRATION = 'registration';
/** A grant that takes longer has ended with an error. */
const RECOVER_AFTER_MS = 600_000;
const CLOCK_SKEW_MS = 60_000;
const PAGE = 200;
const BATCH = 200;
const MICRO_CREDITS = 1_000_000;

interface GrantServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly clock: Clock;
}

/**
 * A ledger whose grants are part of the audit log. Ledger and store share no transaction: the intent is stored first, then
 * the credit is granted, then the entry replaces the intent. `recoverGrants` does that after a crash.
 */
export function auditGrants(services: GrantServices): AuditedLedger {
  const { store, ledger, clock } = services;

  const grantAs =
    (actor: AuditActor): CreditLedger['grant'] =>
    async (grant, options) => {
      if (grant.key === REGISTRATION) return ledger.grant(grant, options);
      const now = clock.now();
      const { account, amount, key, reason } = grant;
      const intent = {
        id: hashSecret(`grant ${account} ${key}`),
        ...{ account, amount, key, reason, actor },
        checkAt: now + RECOVER_AFTER_MS,
        createdAt: now,
      };
      const intents = store.collection(GRANT_INTENTS);
      const isFirst = await intents.insert(intent);
      let granted: boolean;
      try {
        granted = await ledger.grant(grant, options);
      } catch (error) {
        // Refused: nothing was granted. After any other error that is unknown.
        if (isFirst && error instanceof RangeError) await intents.take(intent.id);
        throw error;
      }
      if (granted) await conclude(store, intent, now);
      else if (isFirst) await intents.take(intent.id);
      return granted;
    };

  const actAs = (actor: AuditActor): AuditedLedger => ({
    ...passLedger(ledger),
    grant: grantAs(actor),
    actAs,
  });
  return actAs(SERVICE_ACTOR);
}

/** Writes the entries of grants whose process crashed before it could. */
export async function recoverGrants({ store, ledger, clock }: GrantServices): Promise<void> {
  const intents = store.collection(GRANT_INTENTS);
  const due = await intents.find(
    { checkAt: { lte: clock.now() } },
    { order: { field: 'checkAt', direction: 'asc' }, limit: BATCH },
  );
  for (const intent of due) {
    const grantedAt = await findGrant(ledger, intent);
    if (grantedAt === undefined) await intents.take(intent.id);
    else await conclude(store, intent, grantedAt);
  }
}

/** @returns the time of the grant; undefined if it was never made. */
async function findGrant(ledger: CreditLedger, intent: GrantIntentRecord): Promise<number | undefined> {
  let before: string | undefined;
  for (;;) {
    const page = await ledger.entries(intent.account, { limit: PAGE, ...(before && { before }) });
    const found = page.find(({ kind, key }) => kind === 'grant' && key === intent.key);
    if (found !== undefined) return found.createdAt;
    const last = page.at(-1);
    if (last === undefined || last.createdAt < intent.createdAt - CLOCK_SKEW_MS) return undefined;
    before = last.id;
  }
}

async function conclude(store: Store, intent: GrantIntentRecord, now: number): Promise<void> {
  const { id, account, amount, key, reason, actor } = intent;
  const owner = account.slice(account.indexOf(':') + 1);
  const entry = {
    action: 'credits.granted',
    target: { type: 'account', id: account },
    ...(account.startsWith('organization:') ? { organizationId: owner } : { targetOwner: owner }),
    changes: [
      { field: 'credits', after: amount / MICRO_CREDITS },
      { field: 'reason', after: reason },
      { field: 'key', after: key },
    ],
  } as const;
  await store.transaction(async (inner) => {
    await recordAudit(inner, actor, entry, now, id);
    await inner.collection(GRANT_INTENTS).take(id);
  });
}

/** Every other call, and the optional ones only where the ledger has them. */
function passLedger(ledger: CreditLedger): Omit<CreditLedger, 'grant'> {
  return {
    balance: ledger.balance.bind(ledger),
    hold: ledger.hold.bind(ledger),
    renew: ledger.renew.bind(ledger),
    settle: ledger.settle.bind(ledger),
    toSettlement: (...args) => ledger.toSettlement?.(...args),
    release: ledger.release.bind(ledger),
    record: ledger.record.bind(ledger),
    entries: ledger.entries.bind(ledger),
    charges: ledger.charges.bind(ledger),
    spent: ledger.spent.bind(ledger),
    capUsed: ledger.capUsed.bind(ledger),
    sweep: ledger.sweep.bind(ledger),
    ...passReports(ledger),
  };
}
