import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { FILES, type FileRecord } from '../features/files/records.ts';
import { SESSIONS, type SessionRecord } from '../features/sessions/records.ts';
import { EXTERNAL_IDS } from '../features/sign-in/external-ids.ts';
import { USERS, type UserRecord } from '../identity/records.ts';
import { createMemoryPorts } from '../memory/ports.ts';
import { hashSecret } from '../shared/secrets.ts';
import { createServices } from './create-services.ts';
import { exportUser } from './export-user.ts';

const ADA = 'a'.repeat(24);
const ACCOUNT = `user:${ADA}`;

async function setUp() {
  const clock = createFakeClock();
  const ports = { ...createMemoryPorts({ clock }), models: [] };
  const services = createServices(ports, { jwtSecret: 'a'.repeat(64), onError: () => undefined });
  const { store } = ports;
  const user = { id: ADA, email: 'ada@example.com', tokenVersion: 7, resetCode: 'hidden', codeLength: 6 };
  await store.collection(USERS).insert(user as unknown as UserRecord);
  const link = { externalId: 'host|ada', userId: ADA, isWelcomed: true, createdAt: 1 };
  await store.collection(EXTERNAL_IDS).insert({ id: hashSecret('host|ada'), ...link });
  const read = async () => {
    const lines: { collection: string; record: Record<string, unknown> }[] = [];
    for await (const line of (await exportUser(services, { userId: ADA })) ?? [])
      lines.push(JSON.parse(line));
    return lines;
  };
  return { services, store, ledger: ports.ledger, read };
}

describe('archive of a user', () => {
  it('begins with the account, without secrets, and what outlives it', async () => {
    const { read, services } = await setUp();
    const [account, ...others] = await read();
    expect(account).toEqual({
      collection: 'users',
      record: { id: ADA, email: 'ada@example.com', codeLength: 6 },
    });
    expect(others).toMatchObject([{ collection: 'external_ids', record: { externalId: 'host|ada' } }]);
    expect(await exportUser(services, { userId: 'none' })).toBeUndefined();
  });

  it('has one line per record', async () => {
    const { store, services } = await setUp();
    const session = { id: 's', ownerId: ADA, name: 'a\nb' } as Partial<SessionRecord> as SessionRecord;
    await store.collection(SESSIONS).insert(session);
    const lines: string[] = [];
    for await (const line of (await exportUser(services, { externalId: 'host|ada' })) ?? []) lines.push(line);
    expect(lines).toContain(`${JSON.stringify({ collection: 'sessions', record: session })}\n`);
    expect(lines.every((line) => line.split('\n').length === 2)).toBe(true);
  });

  it('has the bytes of clean files in order, behind their record', async () => {
    const { store, services, read } = await setUp();
    const add = (id: string, more: Partial<FileRecord>) =>
      store.collection(FILES).insert({
        ...{ id, ownerId: ADA, name: id, mimeType: 'text/plain', size: 1, source: 'upload', createdAt: 1 },
        ...more,
      } as FileRecord);
    const bytes = new Uint8Array(100_000).map((_, at) => at % 251);
    await services.objects.put('clean', bytes, { contentType: 'text/plain' });
    await services.objects.put('blocked', bytes, { contentType: 'text/plain' });
    await add('f1', { status: 'clean', objectKey: 'clean' });
    await add('f2', { status: 'blocked', objectKey: 'blocked' });
    await add('f3', { status: 'clean', objectKey: 'gone' });
    await add('f4', { status: 'clean' });
    const lines = (await read()).filter(({ collection }) => collection === 'files' || collection === 'bytes');
    expect(lines.map(({ collection, record }) => record.fileId ?? `${collection} ${record.id}`)).toEqual([
      ...['files f1', 'f1', 'f1', 'files f2', 'files f3', 'files f4'],
    ]);
    const parts = lines.flatMap(({ record: { base64 } }) => (base64 === undefined ? [] : [String(base64)]));
    expect(Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))).equals(bytes)).toBe(true);
  });

  it.each([0, 1, 199, 200, 201, 400, 401])('has all of %i entries of the ledger once', async (count) => {
    const { ledger, read } = await setUp();
    for (let at = 0; at < count; at += 1)
      await ledger.grant({ account: ACCOUNT, amount: 1, key: `k${at}`, reason: 'test' });
    await ledger.grant({ account: 'user:other', amount: 1, key: 'other', reason: 'test' });
    const entries = (await read()).filter(({ collection }) => collection === 'ledger');
    const keys = entries.map(({ record }) => record.key);
    expect([keys.length, new Set(keys).size, keys.includes('other')]).toEqual([count, count, false]);
  });
});
