import type { AuditAction } from '../contract/audit.ts';
import type { Call, Caller } from '../contract/call.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { hashSecret } from '../shared/secrets.ts';
import { AUDIT_LOG, type AuditActor, type AuditChange, type AuditRecord } from './audit-records.ts';

/** The actor of changes that no call makes: periodic tasks, and calls of the host's code. */
export const SERVICE_ACTOR: AuditActor = { type: 'service' };

const ID_LENGTH = 24;
const MAX_ADDRESS = 100;

/** An administrative act to record. */
export interface NewAuditEntry {
  readonly action: AuditAction;
  readonly target: { readonly type: string; readonly id: string };
  readonly organizationId?: string | null | undefined;
  /** The user whom the target belongs to: `forgetUser` erases the texts of the entry with that user. */
  readonly targetOwner?: string | undefined;
  readonly changes?: readonly AuditChange[];
}

/** A store or ledger that records administrative acts. */
interface Audited<T> {
  /** Returns the same for changes of this actor. */
  readonly actAs: (actor: AuditActor) => T;
}

export type AuditedStore = Store & Audited<Store>;
export type AuditedLedger = CreditLedger & Audited<CreditLedger>;

/**
 * Writes an entry in the caller's transaction. Changes of collections with an audit source are recorded without it.
 * @param key identifies the act: the same key is recorded once. Default: every call is another act.
 * @example
 * await store.transaction(async (inner) => {
 *   await inner.collection(BUDGETS).insert(budget);
 *   const target = { type: 'budget', id: budget.id };
 *   await recordAudit(inner, getActor(call), { action: 'budget.created', target }, clock.now());
 * });
 */
export async function recordAudit(
  store: Store,
  actor: AuditActor,
  entry: NewAuditEntry,
  now: number,
  key?: string,
): Promise<void> {
  const { action, target, organizationId, targetOwner, changes = [] } = entry;
  const content = {
    action,
    actorType: actor.type,
    actorId: actor.userId,
    keyId: actor.keyId,
    targetType: target.type,
    targetId: target.id,
    organizationId: organizationId ?? undefined,
    targetOwner,
    changes,
    requestId: actor.requestId,
    address: actor.address,
    createdAt: now,
  };
  const mentions = [...new Set(JSON.stringify(content).match(/[0-9a-f]{24}/g))];
  const log = store.collection(AUDIT_LOG);
  if (key !== undefined) {
    await log.insert({ ...content, id: toId(`${action} ${key}`), mentions });
    return;
  }
  // Ids are derived: equal acts at the same time differ by their number.
  const base = `${actor.callId ?? ''} ${action} ${target.type} ${target.id} ${now}`;
  for (let number = 0; ; number += 1) {
    const record: AuditRecord = { ...content, id: toId(`${base} ${number}`), mentions };
    if (await log.insert(record)) return;
  }
}

function toId(text: string): string {
  return hashSecret(`audit ${text}`).slice(0, ID_LENGTH);
}

/** The actor of a call. */
export function getActor({ id, requestId, caller, request }: Call<Caller | undefined>): AuditActor {
  const address = request.remoteAddress?.slice(0, MAX_ADDRESS);
  const common = { callId: id, requestId, ...(address !== undefined && { address }) };
  if (caller === undefined) return { type: 'service', ...common };
  const { userId } = caller;
  if (caller.kind === 'key') return { type: 'key', userId, keyId: caller.keyId, ...common };
  return { type: caller.isFromHost === true ? 'host-user' : 'user', userId, ...common };
}

/** The services of a handler, whose changes the audit log attributes to the call. */
export function actingFor<S extends { readonly store: Store; readonly ledger?: CreditLedger }>(
  services: S,
  call: Call<Caller | undefined>,
): S {
  return actingAs(services, getActor(call));
}

/** The same for an actor without a call, such as the command line. */
export function actingAs<S extends { readonly store: Store; readonly ledger?: CreditLedger }>(
  services: S,
  actor: AuditActor,
): S {
  const { store, ledger } = services;
  return {
    ...services,
    store: bind(store, actor),
    ...(ledger !== undefined && { ledger: bind(ledger, actor) }),
  };
}

/** A store or ledger that records nothing is returned as it is: that of a test. */
function bind<T extends Store | CreditLedger>(part: T, actor: AuditActor): T {
  return isAudited(part) ? part.actAs(actor) : part;
}

function isAudited<T extends Store | CreditLedger>(part: T): part is T & Audited<T> {
  return 'actAs' in part;
}
