import { existsSync, readFileSync } from 'node:fs';
import { COLLECTIONS } from '@questline/core';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from '@questline/core/internal';
import { defineCollection } from '@questline/core/ports';
import { createSqlStore, migrate } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import {
  type Engine,
  type OpenEngine,
  POSTGRES,
  POSTGRES_URL,
  SQLITE_FILE,
} from '../../packages/sql/test/engines.ts';
import { createScriptedProvider } from '../support/model.ts';
import { adminToken, codeFor, post } from '../support/sign-in.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

/*
 * A copy of the database contains no usable credentials and does not allow registration.
 */

const JWT_SECRET = 'a1'.repeat(32);
const ENCRYPTION_KEY = 'b2'.repeat(32);
const PROVIDER_KEYS = ['sk-proj-marked-0123456789', 'AIza-marked-9876543210'];

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];

/** The complete content of the database, from its files or tables. */
async function getDump({ database, address }: OpenEngine): Promise<string> {
  if (address.dialect === 'sqlite') {
    return [address.path, `${address.path}-wal`]
      .filter((path) => existsSync(path))
      .map((path) => readFileSync(path).toString('latin1'))
      .join('\n');
  }
  const tables = await database.run({
    sql: `select tablename from pg_tables where schemaname = '${address.schema}'`,
    parameters: [],
  });
  const parts: string[] = [];
  for (const { tablename } of tables) {
    const sql = `select row_to_json(t)::text as row from ${address.schema}."${String(tablename)}" t`;
    const rows = await database.run({ sql, parameters: [] });
    parts.push(...rows.map(({ row }) => String(row)));
  }
  return parts.join('\n');
}

interface Secret {
  readonly what: string;
  readonly value: string;
}

/** Uses each feature of a workspace. @returns every secret that was issued or received. */
async function fillAllFeatures(app: TestApp): Promise<readonly Secret[]> {
  const secrets: Secret[] = [
    { what: 'the secret of tokens', value: JWT_SECRET },
    { what: 'the encryption key', value: ENCRYPTION_KEY },
    { what: "the first user's API key", value: app.key },
  ];
  const keep = (what: string, value: string | undefined): string => {
    if (value === undefined || value === '') throw new Error(`${what} was not returned`);
    secrets.push({ what, value });
    return value;
  };

  const invites = await app.ask('POST', '/api/reg-invites/create', {
    credential: await adminToken(app),
    body: { multiple: 2 },
  });
  for (const { code } of ((await invites.json()) as { invites: { code: string }[] }).invites) {
    keep('the code of an invite', code);
  }
  const unused = await codeFor(app, 'late@example.com');
  keep('an unused code', unused.code);
  keep('a pending token', unused.pendingToken);
  const asked = await codeFor(app, 'grace@example.com', '203.0.113.7');
  keep('a code', asked.code);
  keep('a pending token', asked.pendingToken);
  const { body } = await post(app, '/api/otc/verify', { ...asked, username: 'grace' });
  const credential = keep('an access token', body.accessToken);
  const refreshToken = keep('a refresh token', body.refreshToken);
  const again = await post(app, '/api/auth/refreshToken', { refreshToken });
  keep('a second access token', again.body.accessToken);
  keep('a second refresh token', again.body.refreshToken);

  const call = async (method: string, path: string, input?: object): Promise<Record<string, string>> => {
    const answer = await app.ask(method, path, { credential, ...(input !== undefined && { body: input }) });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}`);
    return (await answer.json()) as Record<string, string>;
  };
  const made = await call('POST', '/api/user-api-keys', { name: 'CI', preset: 'full' });
  keep('an API key', made.key);
  const rotated = keep('a rotated API key', (await call('POST', `/api/user-api-keys/${made.id}/rotate`)).key);
  for (const [at, service] of (['openai', 'gemini'] as const).entries()) {
    const key = keep(`a key of ${service}`, PROVIDER_KEYS[at]);
    const { _id } = await call('POST', '/api/api-keys/create', { name: 'Mine', service, key });
    await call('POST', `/api/api-keys/${_id}/set-active`);
  }
  const session = await call('POST', '/api/v1/sessions', { name: 'Notes' });
  await call('POST', `/api/session/${session.id}/invites`, { email: 'late@example.com' });
  const spoken = await app.ask('POST', '/api/ai/v1/completions', {
    credential: rotated,
    body: { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] },
    headers: { 'Idempotency-Key': 'one' },
  });
  expect(spoken.status).toBe(200);
  await spoken.text();
  const chat = { message: 'Hi', model: 'scripted', newConversation: true, wait: false };
  await app.ask('POST', '/api/chat', { credential: rotated, body: chat });
  await call('GET', '/api/identify').then(({ accessToken }) => keep('a third access token', accessToken));
  await call('GET', '/api/logout');
  return secrets;
}

describe.each(ENGINES.map((engine) => [engine.name, engine] as const))('copy of %s', (_name, engine) => {
  it('contains no key, code, token or provider key in plain text', async () => {
    const open = await engine.open();
    try {
      await migrate(open.database, { collections: COLLECTIONS });
      const app = await createTestApp({
        store: () => createSqlStore(open.database),
        models: [createScriptedProvider((call) => call.end())],
        settings: {
          jwtSecret: JWT_SECRET,
          secretEncryptionKey: ENCRYPTION_KEY,
          admin: { allowOpenRegistration: true, enforceCredits: false },
        },
      });
      const secrets = await fillAllFeatures(app);
      await app.settle();
      const dump = await getDump(open);
      await app.api.close();
      // Checks that the dump contains the expected plain data.
      for (const known of ['grace@example.com', 'late@example.com', 'Notes', 'v1.', 'svc_live_']) {
        expect(dump).toContain(known);
      }
      const found = secrets.filter(({ value }) =>
        // Six digits may be part of any number, so the code must be a whole word.
        /^\d{6}$/.test(value) ? new RegExp(`\\b${value}\\b`).test(dump) : dump.includes(value),
      );
      expect(found).toEqual([]);
      expect(secrets.length).toBeGreaterThan(17);
    } finally {
      await open.close();
    }
  });

  it('from an earlier version contains invite codes in plain text until the service starts', async () => {
    const open = await engine.open();
    try {
      const before = defineCollection<RegistrationInviteRecord>({
        name: REGISTRATION_INVITES.name,
        secretFields: { codeHash: true, sealedCode: true, code: true },
        columns: { code: 'text', usesLeft: 'integer', createdAt: 'integer' },
        unique: [['code']],
        indexes: [['createdAt']],
      });
      await migrate(open.database, { collections: [before] });
      await createSqlStore(open.database)
        .collection(before)
        .insert({
          id: 'c'.repeat(24),
          code: 'the-earlier-code',
          usesLeft: 2,
          startingCredits: 0,
          createdBy: 'earlier',
          createdAt: 1,
        });
      await migrate(open.database, { collections: COLLECTIONS });
      const app = await createTestApp({
        store: () => createSqlStore(open.database),
        settings: { secretEncryptionKey: ENCRYPTION_KEY },
      });
      const invites = app.services.store.collection(REGISTRATION_INVITES);
      const register = async (email: string) =>
        post(app, '/api/otc/verify', {
          ...(await codeFor(app, email)),
          username: 'x',
          inviteCode: 'the-earlier-code',
        });
      expect((await register('grace@example.com')).status).toBe(200);
      await app.api.start();
      await expect.poll(async () => (await invites.find({})).map(({ code }) => code)).toEqual([undefined]);
      expect(JSON.stringify(await invites.find({}))).not.toContain('the-earlier-code');
      expect((await register('late@example.com')).status).toBe(200);
      expect((await register('third@example.com')).status).toBe(403);
      await app.api.close();
    } finally {
      await open.close();
    }
  });
});
