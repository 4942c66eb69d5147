import { FILES } from '../features/files/records.ts';
import { USERS } from '../identity/records.ts';
import type { AnyRecord } from '../operations/personal-data.ts';
import { type CollectionShape, suggestsSecret } from '../ports/store.ts';
import { findUserId, type UserReference } from './forget-user.ts';
import { findKeptRecords, findPersonalRecords, getPersonalData } from './personal-records.ts';
import type { Services } from './services.ts';

const PAGE = 200;

/**
 * Writes everything that a user owns as one archive in NDJSON: one JSON object per line, readable as a stream with any
 * tool, of any size. A line is `{ collection, record }`, `{ collection: 'ledger', record }`, or a part of a file's bytes
 * in order: `{ collection: 'bytes', record: { fileId, base64 } }`. Secrets and their hashes are left out: the fields that
 * a collection declares as secret, and undeclared texts whose name suggests a secret.
 * @returns undefined for an unknown user.
 * @example
 * const archive = await exportUser(services, { externalId: 'auth0|alice' });
 * if (archive !== undefined) await pipeline(archive, createWriteStream('alice.ndjson'));
 */
export async function exportUser(
  services: Services,
  user: UserReference,
): Promise<AsyncIterableIterator<string> | undefined> {
  const userId = await findUserId(services, user);
  return userId === undefined ? undefined : writeArchive(services, userId);
}

async function* writeArchive(services: Services, userId: string): AsyncGenerator<string> {
  const { store } = services;
  const account = await store.collection(USERS).get(userId);
  if (account !== undefined) yield toLine(USERS, { ...account });
  const personal = getPersonalData(services);
  for await (const { shape, record } of findKeptRecords(services, personal, userId)) {
    yield toLine(shape, record);
  }
  for await (const { shape, record } of findPersonalRecords(services, personal, userId)) {
    yield toLine(shape, record);
    if (shape === FILES && record.status === 'clean') yield* writeBytes(services, record);
  }
  yield* writeLedger(services, userId);
}

async function* writeBytes({ objects }: Services, { id, objectKey }: AnyRecord): AsyncGenerator<string> {
  const content = typeof objectKey === 'string' ? await objects.get(objectKey) : undefined;
  if (content === undefined) return;
  for await (const chunk of content.body) {
    const base64 = Buffer.from(chunk).toString('base64');
    yield toLine({ name: 'bytes' }, { fileId: id, base64 });
  }
}

async function* writeLedger({ ledger }: Services, userId: string): AsyncGenerator<string> {
  let before: string | undefined;
  for (;;) {
    const page = await ledger.entries(`user:${userId}`, { limit: PAGE, ...(before && { before }) });
    for (const entry of page) yield toLine({ name: 'ledger' }, { ...entry });
    before = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}

function toLine(
  { name, secretFields = {} }: Pick<CollectionShape, 'name' | 'secretFields'>,
  record: Readonly<Record<string, unknown>>,
): string {
  const shown = Object.entries(record).filter(
    ([field, value]) => !(secretFields[field] ?? (typeof value === 'string' && suggestsSecret(field))),
  );
  return `${JSON.stringify({ collection: name, record: Object.fromEntries(shown) })}\n`;
}
