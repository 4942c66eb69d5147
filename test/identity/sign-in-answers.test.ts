import { USERS } from '@questline/core';
import { SIGN_IN_GUARDS, TOKEN_FAMILIES } from '@questline/core/internal';
import type { CreditLedger, Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { codeFor, post } from '../support/sign-in.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const VERIFY = '/api/otc/verify';
const ADA = 'ada@example.com';
const NEW = 'new@example.com';
const HOME = '192.0.2.1';
const TOKENS = { accessToken: expect.any(String), refreshToken: expect.any(String) };
const OPEN = { settings: { admin: { allowOpenRegistration: true } } };
const fail = () => Promise.reject(new Error('down'));

async function ask(app: TestApp, path: string, body: object) {
  const answer = await app.ask('POST', path, { credential: null, body, from: HOME });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as unknown };
}

const signIn = async (app: TestApp, email = ADA, more: object = {}) =>
  ask(app, VERIFY, { ...(await codeFor(app, email, HOME)), ...more });

const getClients = async (app: TestApp): Promise<number> =>
  (await app.services.store.collection(SIGN_IN_GUARDS).find({})).flatMap(({ clients }) => clients).length;

/** Locks all accounts for an hour, as too many wrong codes do. */
async function lock(app: TestApp): Promise<void> {
  const guards = app.services.store.collection(SIGN_IN_GUARDS);
  for (const { id } of await guards.find({})) {
    await guards.update(id, { restUntil: app.clock.now() + 3_600_000 });
  }
}

/** A method of one collection fails. */
const failing =
  (name: string, method: 'insert' | 'update') =>
  (store: Store): Store => ({
    ...store,
    collection: (definition) => ({
      ...store.collection(definition),
      ...(definition.name === name && { [method]: fail }),
    }),
  });

describe('request for a code', () => {
  it('is unavailable while no mail can be sent', async () => {
    const app = await createTestApp({ mailer: () => ({ send: fail }) });
    const { status, headers, body } = await ask(app, '/api/otc/send', { email: ADA });
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('30');
    expect(body).toMatchObject({
      error: { code: 'INTERNAL_ERROR', message: 'The mail could not be sent. Try again shortly.' },
    });
    expect(app.incidents.map(({ error }) => (error as Error).message)).toContain('down');
  });
});

describe('answer to a right code', () => {
  it('contains the user and tokens, and is not stored by browsers', async () => {
    const app = await createTestApp();
    const { status, headers, body } = await signIn(app);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ ...TOKENS, _id: app.user.id, email: ADA, username: 'ada', isAdmin: false });
    expect(await getClients(app)).toBe(1);
    expect(await app.services.store.collection(TOKEN_FAMILIES).count({})).toBe(1);
  });

  it('asks for a name of a new user, whose client is known from then on', async () => {
    const app = await createTestApp();
    const { body } = await signIn(app, NEW);
    expect(body).toEqual({ registrationRequired: true, email: NEW, pendingToken: expect.any(String) });
    expect(await getClients(app)).toBe(1);
  });

  it('contains a new user and tokens', async () => {
    const app = await createTestApp(OPEN);
    const { status, body } = await signIn(app, NEW, { username: 'Eve' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...TOKENS, user: { email: NEW, username: 'Eve', isAdmin: false } });
  });

  it('is that of a wrong code if another request has registered the address', async () => {
    const app = await createTestApp(OPEN);
    const codes = [await codeFor(app, NEW, HOME), await codeFor(app, NEW, '192.0.2.2')];
    const answers = await Promise.all(codes.map((code) => post(app, VERIFY, { ...code, username: 'Eve' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused?.body.error).toMatchObject({ code: 'INVALID_CODE' });
    expect(refused?.body.error).not.toHaveProperty('details');
    expect(await app.services.store.collection(USERS).count({ email: NEW })).toBe(1);
  });

  it('refuses a disabled account without tokens, and remembers its client', async () => {
    const app = await createTestApp();
    await app.services.store.collection(USERS).update(app.user.id, { disabled: true });
    const { status, body } = await signIn(app);
    expect(status).toBe(403);
    expect(body).toMatchObject({ error: { message: 'This account is disabled' } });
    expect(await getClients(app)).toBe(1);
    expect(await app.services.store.collection(TOKEN_FAMILIES).count({})).toBe(0);
  });

  it('is that of the own user from a known client while the account is locked', async () => {
    const app = await createTestApp();
    const grace = await app.addUser('grace@example.com');
    await signIn(app, grace.email);
    await lock(app);
    await app.clock.advance(60_000);
    const { status, body } = await signIn(app, grace.email);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...TOKENS, _id: grace.id, email: grace.email });
  });

  it('is an error without tokens while its client cannot be remembered', async () => {
    const app = await createTestApp({ store: failing('sign_in_guards', 'insert') });
    const families = app.services.store.collection(TOKEN_FAMILIES);
    await signIn(app);
    await lock(app);
    await app.clock.advance(60_000);
    expect([(await signIn(app)).status, await families.count({})]).toEqual([500, 1]);
    await app.services.store.collection(USERS).update(app.user.id, { disabled: true });
    await app.clock.advance(60_000);
    expect([(await signIn(app)).status, await families.count({})]).toEqual([500, 1]);
  });

  it('comes after the initial credits, which are granted once', async () => {
    const app = await createTestApp({ credits: 0 });
    await app.services.store.collection(USERS).update(app.user.id, { startingCredits: 5_000_000 });
    for (let time = 0; time < 2; time += 1) {
      expect((await signIn(app)).status).toBe(200);
      expect((await app.ledger.balance(app.account)).available).toBe(5_000_000);
      await app.clock.advance(60_000);
    }
  });

  it('is an error while the initial credits cannot be granted', async () => {
    let grants = 0;
    const ledger = (memory: CreditLedger): CreditLedger => ({
      ...memory,
      grant(grant) {
        grants += 1;
        return grants === 1 ? memory.grant(grant) : fail();
      },
    });
    const app = await createTestApp({ ledger });
    await app.services.store.collection(USERS).update(app.user.id, { startingCredits: 1 });
    expect((await signIn(app)).status).toBe(500);
    expect(await app.services.store.collection(TOKEN_FAMILIES).count({})).toBe(0);
  });
});

describe('answer to a wrong code', () => {
  it('says how many attempts are left', async () => {
    const app = await createTestApp();
    const { status, body } = await signIn(app, ADA, { code: 'wrong' });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      error: {
        code: 'INVALID_CODE',
        message: 'The code is wrong or has expired',
        details: { attemptsLeft: 4 },
      },
      pendingToken: expect.any(String),
    });
  });

  it('is an error while wrong codes cannot be counted', async () => {
    const app = await createTestApp({ store: failing('sign_in_guards', 'insert') });
    expect((await signIn(app, ADA, { code: 'wrong' })).status).toBe(500);
    expect((await signIn(app, NEW)).status).toBe(500);
  });
});

describe('refresh token in a request', () => {
  const REFRESH = '/api/auth/refreshToken';

  it.each(['refreshToken', 'refresh_token', 'token'])('is read from the field %s', async (field) => {
    const app = await createTestApp();
    const { refreshToken } = (await signIn(app)).body as { refreshToken: string };
    const { status, headers, body } = await ask(app, REFRESH, { [field]: refreshToken });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ ...TOKENS, user: { _id: app.user.id, email: ADA } });
  });

  it('is required', async () => {
    const app = await createTestApp();
    const { status, body } = await ask(app, REFRESH, {});
    expect(status).toBe(401);
    expect(body).toMatchObject({ error: { message: 'Invalid or expired token' } });
  });

  it('is exchanged up to the limit of the user', async () => {
    const app = await createTestApp({ settings: { signInLimits: { refresh: { limit: 1, seconds: 60 } } } });
    const { refreshToken } = (await signIn(app)).body as { refreshToken: string };
    expect((await ask(app, REFRESH, { refreshToken })).status).toBe(200);
    expect((await ask(app, REFRESH, { refreshToken })).status).toBe(429);
  });

  it('is void for a disabled user', async () => {
    const app = await createTestApp();
    const { refreshToken } = (await signIn(app)).body as { refreshToken: string };
    await app.services.store.collection(USERS).update(app.user.id, { disabled: true });
    expect((await ask(app, REFRESH, { refreshToken })).status).toBe(401);
  });
});

describe('signed-in user', () => {
  it('is identified with credits, permissions and a new token of the same sign-in', async () => {
    const app = await createTestApp({ credits: 3 });
    const signed = (await signIn(app)).body as { accessToken: string };
    const claims = await app.services.tokens.verify(signed.accessToken, 'access');
    await app.clock.advance(1000);
    const answer = await app.ask('GET', '/api/identify', { credential: signed.accessToken });
    const body = (await answer.json()) as { accessToken: string };
    expect(body).toMatchObject({
      user: { _id: app.user.id, email: ADA, currentCredits: 3 },
      permissions: expect.arrayContaining([
        { action: 'update', subject: 'User', conditions: { _id: app.user.id } },
      ]),
    });
    expect(body).not.toMatchObject({
      permissions: expect.arrayContaining([{ action: 'manage', subject: 'AdminSetting' }]),
    });
    expect(await app.services.tokens.verify(body.accessToken, 'access')).toMatchObject({
      ...{ id: app.user.id, tokenVersion: 0, family: claims?.family },
      ...{ renewableUntil: claims?.renewableUntil, expiresAt: (claims?.expiresAt ?? 0) + 1000 },
    });
  });

  it('is identified as an administrator', async () => {
    const app = await createTestApp();
    await app.services.store.collection(USERS).update(app.user.id, { isAdmin: true });
    const answer = await app.ask('GET', '/api/identify', { credential: await app.token() });
    expect(await answer.json()).toMatchObject({
      permissions: expect.arrayContaining([{ action: 'manage', subject: 'AdminSetting' }]),
    });
  });

  it('gets no token for a session of the host', async () => {
    const app = await createTestApp({ identity: { identify: async () => ({ externalId: 'x' }) } });
    expect((await app.ask('GET', '/api/v1/me', { credential: null })).status).toBe(200);
    const answer = await app.ask('GET', '/api/identify', { credential: null });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { message: 'Invalid or expired token' } });
  });

  it('is signed out with a confirmation', async () => {
    const app = await createTestApp();
    const answer = await app.ask('GET', '/api/logout', { credential: await app.token() });
    expect(await answer.json()).toEqual({ message: 'Signed out' });
  });
});
