import { EVENT_OUTBOX, LOW_CREDITS } from '../events/records.ts';
import { EXTERNAL_IDS } from '../features/sign-in/external-ids.ts';
import { USERS } from '../identity/records.ts';
import { IDEMPOTENCY } from '../operations/idempotency-records.ts';
import {
  type AnyRecord,
  findAll,
  findAny,
  openCollection,
  type PersonalData,
} from '../operations/personal-data.ts';
import type { Clock } from '../ports/clock.ts';
import { removeAll } from '../ports/remove-where.ts';
import type { CollectionShape } from '../ports/store.ts';
import { keepProcessAlive } from '../shared/keep-alive.ts';
import { hashSecret } from '../shared/secrets.ts';
import { COLLECTIONS } from './collections.ts';
import { findPersonalRecords, getPersonalData } from './personal-records.ts';
import type { Services } from './services.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

/** A user by the id in the host, or by the id in Questline. */
export type UserReference = { readonly externalId: string } | { readonly userId: string };

export interface ForgetUserOptions {
  /** How long to wait for work of the user that was asked to stop, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
}

/** Returns the id in Questline. @returns undefined for an unknown user. */
export async function findUserId(
  { store }: Pick<Services, 'store'>,
  user: UserReference,
): Promise<string | undefined> {
  if ('userId' in user) return (await store.collection(USERS).get(user.userId))?.id;
  return (await store.collection(EXTERNAL_IDS).get(hashSecret(user.externalId)))?.userId;
}

/**
 * Erases a user: stops the user's work, then deletes the account, everything that it owns, and its traces in what others
 * own. Credentials end at once. Call it again after a failure: it continues. Charges and grants stay in the ledger under
 * the id of the account, which no longer refers to a person, and so do charge events until they are delivered.
 * Entries of the audit log stay under a pseudonym, without texts. Clean-up jobs that are queued already run at their time, at most two hours later. Organizations with other members
 * pass to one of them.
 * @returns false for an unknown user.
 * @throws Error if work of the user has not ended in time; the account is then disabled. Call again.
 * @example
 * await forgetUser(services, { externalId: 'auth0|alice' });
 */
export async function forgetUser(
  services: Services,
  user: UserReference,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: ForgetUserOptions = {},
): Promise<boolean> {
  const userId = await findUserId(services, user);
  if (userId === undefined) return false;
  const { store } = services;
  const personal = getPersonalData(services);
  await store.collection(USERS).update(userId, { disabled: true });
  services.authenticator.forgetUser(userId);
  await keepProcessAlive(() => stopWork(services.clock, personal, userId, timeoutMs));
  const erased = new Set([userId]);
  for await (const { shape, record } of findPersonalRecords(services, personal, userId)) {
    erased.add(record.id);
    await erase(services, personal, shape, record, userId);
  }
  await eraseSharing(services, userId);
  for (const { eraseTraces } of personal) await eraseTraces?.(userId, erased);
  await eraseOwnTraces(services, userId, erased);
  await services.auditLog.forget(userId, async (inner) => {
    await removeAll(inner.collection(EXTERNAL_IDS), { userId });
    await inner.collection(USERS).take(userId);
  });
  services.authenticator.forgetUser(userId);
  return true;
}

/** Waits until the work has ended. @throws Error after the timeout. */
async function stopWork(
  clock: Clock,
  personal: readonly PersonalData[],
  userId: string,
  timeoutMs: number,
): Promise<void> {
  const until = clock.now() + timeoutMs;
  for (;;) {
    let running = 0;
    for (const { stop } of personal) running += (await stop?.(userId)) ?? 0;
    if (running === 0) return;
    if (clock.now() >= until) {
      throw new Error(
        `forgetUser: work of the user is still running after ${timeoutMs} ms; call again when it has ended`,
      );
    }
    await new Promise<void>((resolve) => void clock.timer(POLL_MS, resolve));
  }
}

/** Deletes one record, with what belongs to it. */
async function erase(
  { store }: Services,
  personal: readonly PersonalData[],
  shape: CollectionShape,
  record: AnyRecord,
  userId: string,
): Promise<void> {
  const own = personal.flatMap((one) => one.erase ?? []).find((one) => one.shape === shape);
  if (own === undefined) await openCollection(store, shape).take(record.id);
  else await own.erase(record, userId);
  for (const { erased } of personal) await erased?.(shape, record.id);
}

/** Removes the user from the access control lists of what others own. */
async function eraseSharing({ store }: Services, userId: string): Promise<void> {
  const withoutUser = (list: unknown) =>
    (list as readonly string[] | undefined)?.filter((one) => one !== userId);
  for (const shape of COLLECTIONS.filter(({ columns }) => 'readerIds' in columns)) {
    for (const field of ['readerIds', 'writerIds']) {
      for await (const { id } of findAny(store, shape, { [field]: { has: userId } })) {
        await store.transaction(async (inner) => {
          const collection = openCollection(inner, shape);
          const record = await collection.get(id);
          if (record === undefined) return;
          const { readerIds, writerIds } = record;
          await collection.update(id, {
            readerIds: withoutUser(readerIds),
            writerIds: withoutUser(writerIds),
          });
        });
      }
    }
  }
}

/** No columns name the user in these collections; none of them is large. */
async function eraseOwnTraces(
  { store }: Services,
  userId: string,
  erased: ReadonlySet<string>,
): Promise<void> {
  for await (const { id, account } of findAll(store, LOW_CREDITS, {})) {
    if (account === `user:${userId}`) await store.collection(LOW_CREDITS).take(id);
  }
  for await (const { id, userId: callerId, answer } of findAll(store, IDEMPOTENCY, {})) {
    const named = callerId === undefined ? (String(answer).match(/[0-9a-f]{24}/g) ?? []) : [callerId];
    if (named.some((one) => erased.has(one))) await store.collection(IDEMPOTENCY).take(id);
  }
  // The host bills from charges: they are delivered, unless they were given up.
  for await (const { id, event, failedAt } of findAll(store, EVENT_OUTBOX, {})) {
    if (event?.data.userId !== userId) continue;
    if (event.type !== 'charge.settled' || failedAt !== undefined) {
      await store.collection(EVENT_OUTBOX).take(id);
    }
  }
}
