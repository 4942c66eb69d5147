import type { Caller } from '../../contract/call.ts';
import { Reply } from '../../contract/reply.ts';
import { AUDIT_LOG, type AuditRecord } from '../../operations/audit-records.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { forbidden, notFound } from '../../shared/errors.ts';
import {
  type AuditQuery,
  exportAuditEntries,
  exportOrganizationAuditEntries,
  listAuditEntries,
  listOrganizationAuditEntries,
  type WireAuditEntry,
} from './contract.ts';

const PAGE = 500;

export interface AuditServices extends PipelineServices {
  readonly store: Store;
  readonly administers: (userId: string, organizationId: string) => Promise<boolean>;
  readonly isMember: (userId: string, organizationId: string) => Promise<boolean>;
}

export function auditRoutes(services: AuditServices): Route[] {
  const log = services.store.collection(AUDIT_LOG);
  const list = (
    name: string,
    { userId }: Caller,
    filter: Filter<AuditRecord>,
    query: { readonly limit: number; readonly cursor?: string | undefined },
  ) =>
    findPage(
      log,
      filter,
      { list: name, owner: userId, query, order: { field: 'createdAt', direction: 'desc' } },
      toWire,
    );
  const stream = (filter: Filter<AuditRecord>): Reply =>
    new Reply(200, NDJSON, writeLines(services.store, filter));
  return [
    defineRoute(listAuditEntries, services, async ({ query }, { caller }) => {
      requireAdministrator(caller);
      return list(listAuditEntries.id, caller, toFilter(query), query);
    }),
    defineRoute(exportAuditEntries, services, async ({ query }, { caller }) => {
      requireAdministrator(caller);
      return stream(toFilter(query, services.clock.now()));
    }),
    defineRoute(listOrganizationAuditEntries, services, async ({ params: { id }, query }, { caller }) => {
      await requireOrganization(services, caller, id);
      const name = `${listOrganizationAuditEntries.id} ${id}`;
      return list(name, caller, { ...toFilter(query), organizationId: id }, query);
    }),
    defineRoute(exportOrganizationAuditEntries, services, async ({ params: { id }, query }, { caller }) => {
      await requireOrganization(services, caller, id);
      return stream({ ...toFilter(query, services.clock.now()), organizationId: id });
    }),
  ];
}

const NDJSON = {
  'Content-Type': 'application/x-ndjson; charset=utf-8',
  'Content-Disposition': 'attachment; filename="audit.ndjson"',
};

function isAdministrator(caller: Caller): boolean {
  return caller.kind === 'token' && caller.isAdmin;
}

function requireAdministrator(caller: Caller): void {
  if (!isAdministrator(caller)) throw forbidden('Only administrators may do this');
}

/** @throws ApiError 404 for an organization of others, 403 for a member without administration. */
async function requireOrganization(
  { administers, isMember }: AuditServices,
  caller: Caller,
  id: string,
): Promise<void> {
  if (isAdministrator(caller) || (await administers(caller.userId, id))) return;
  if (!(await isMember(caller.userId, id))) throw notFound('Organization');
  throw forbidden('You do not administer this organization');
}

/** @param until of the export: later entries are for the next one. */
function toFilter({ actor, target, action, from, to }: AuditQuery, until?: number): Filter<AuditRecord> {
  const end = to === undefined ? undefined : Date.parse(to);
  const createdAt = {
    ...(from !== undefined && { gte: Date.parse(from) }),
    ...(end !== undefined && { lt: end }),
    ...(until !== undefined && { lte: until }),
  };
  return {
    ...(actor !== undefined && { actorId: actor }),
    ...(target !== undefined && { targetId: target }),
    ...(action !== undefined && { action }),
    ...(Object.keys(createdAt).length > 0 && { createdAt }),
  };
}

/** One page at a time, so that the memory does not depend on the size of the log. */
async function* writeLines(store: Store, filter: Filter<AuditRecord>): AsyncGenerator<string> {
  const log = store.collection(AUDIT_LOG);
  let after: { readonly value: number; readonly id: string } | undefined;
  for (;;) {
    const page = await log.find(filter, {
      order: { field: 'createdAt', direction: 'asc' },
      limit: PAGE,
      ...(after && { after }),
    });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map((record) => `${JSON.stringify(toWire(record))}\n`).join('');
    if (page.length < PAGE) return;
    after = { value: last.createdAt, id: last.id };
  }
}

function toWire(record: AuditRecord): WireAuditEntry {
  return {
    id: record.id,
    createdAt: new Date(record.createdAt).toISOString(),
    action: record.action,
    actor: { type: record.actorType, userId: record.actorId ?? null, keyId: record.keyId ?? null },
    target: { type: record.targetType, id: record.targetId },
    organizationId: record.organizationId ?? null,
    changes: record.changes.map(({ field, before, after }) => ({
      field,
      before: (before ?? null) as WireAuditEntry['changes'][number]['before'],
      after: (after ?? null) as WireAuditEntry['changes'][number]['after'],
    })),
    requestId: record.requestId ?? null,
    address: record.address ?? null,
  };
}
