import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import { removeWhere } from '../ports/remove-where.ts';
import type { Json, Store } from '../ports/store.ts';
import { recordAudit, SERVICE_ACTOR } from './audit.ts';
import { AUDIT_LOG, type AuditChange, type AuditRecord } from './audit-records.ts';

const BATCH = 500;
const ERASED = '[erased]';
const PSEUDONYM_LENGTH = 12;

/** The changes of the audit log that are allowed: by age, and for a user who is forgotten. */
export interface AuditLog {
  /** Deletes a batch of the entries before a time. @returns their number. */
  deleteBefore(time: number): Promise<number>;
  /** Replaces an organization that ends with its last member by a pseudonym. */
  forgetOrganization(id: string): Promise<void>;
  /**
   * Replaces a user in all entries by a pseudonym, and erases the texts of what the user did and owned. Then deletes the
   * user with `work` and records that, in one transaction.
   */
  forget(userId: string, work: (inner: Store) => Promise<void>): Promise<void>;
}

/** @param store without the protection of the log. */
export function createAuditLog({
  store,
  clock,
  ids,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}): AuditLog {
  const eraseBatch = async (where: Store, userId: string, pseudonym: string): Promise<number> => {
    const log = where.collection(AUDIT_LOG);
    const found = await log.find({ mentions: { has: userId } }, { limit: BATCH });
    for (const { id, ...entry } of found) await log.update(id, erase(entry, userId, pseudonym));
    return found.length;
  };

  const createPseudonym = (): string => `erased-${ids.secret(PSEUDONYM_LENGTH)}`;

  const eraseAll = async (where: Store, id: string, pseudonym: string): Promise<void> => {
    while ((await eraseBatch(where, id, pseudonym)) > 0);
  };

  return {
    deleteBefore: (time) =>
      removeWhere(store.collection(AUDIT_LOG), { createdAt: { lt: time } }, { limit: BATCH }),

    forgetOrganization: (id) => eraseAll(store, id, createPseudonym()),

    async forget(userId, work) {
      const pseudonym = createPseudonym();
      await eraseAll(store, userId, pseudonym);
      await store.transaction(async (inner) => {
        await work(inner);
        // Entries that were written meanwhile.
        await eraseAll(inner, userId, pseudonym);
        const target = { type: 'user', id: pseudonym };
        await recordAudit(inner, SERVICE_ACTOR, { action: 'user.deleted', target }, clock.now());
      });
    },
  };
}

type Content = Omit<AuditRecord, 'id'>;

function erase(entry: Content, userId: string, pseudonym: string): Content {
  const isActor = entry.actorId === userId;
  const isPersonal =
    entry.action !== 'setting.changed' &&
    (isActor || entry.targetOwner === userId || entry.targetId === userId);
  const changes = isPersonal ? entry.changes.map(eraseTexts) : entry.changes;
  const named = JSON.parse(JSON.stringify({ ...entry, changes }).replaceAll(userId, pseudonym)) as Content;
  // Undefined removes the fields.
  return isActor ? { ...named, address: undefined, requestId: undefined } : named;
}

function eraseTexts({ field, before, after }: AuditChange): AuditChange {
  return {
    field,
    ...(before !== undefined && { before: eraseText(before) }),
    ...(after !== undefined && { after: eraseText(after) }),
  };
}

/** Ids, numbers and flags stay. */
function eraseText(value: Json): Json {
  if (typeof value === 'string') return /^[0-9a-f]{24}$/.test(value) ? value : ERASED;
  if (Array.isArray(value)) return value.map((one: Json) => eraseText(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, one === undefined ? undefined : eraseText(one)]),
  );
}
