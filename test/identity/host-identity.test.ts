import { fromCredits, USERS } from '@questline/core';
import type { CreditLedger } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createHost, createHostApp, type HostApp } from '../support/host.ts';
import { createLostCalls } from '../support/lost-calls.ts';
import { createScriptedProvider } from '../support/model.ts';
import { addOrganization } from '../support/people.ts';

const ALICE = { externalId: 'auth0|alice', email: 'alice@example.com', name: 'Alice' };
const BOB = { externalId: 'auth0|bob', email: 'bob@example.com', name: 'Bob' };
const CROSS_SITE = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };

const getUsers = ({ app }: HostApp) => app.services.store.collection(USERS).find({});
const getMe = (host: HostApp, headers: Readonly<Record<string, string>>) =>
  host.ask(headers, 'GET', '/api/v1/me');

describe('user of the host', () => {
  it('gets an account at the first request and uses the same one later', async () => {
    const host = await createHostApp({ settings: { admin: { defaultFreeCredits: 5 } } });
    const first = await getMe(host, host.signIn(ALICE));
    expect(first.body).toMatchObject({ name: 'Alice', credits: { balance: 5 } });
    // Another session with other profile data.
    const second = await getMe(host, host.signIn({ ...ALICE, name: 'Alice B.', email: 'a@b.example' }));
    expect(second.body).toEqual(first.body);
    expect(await getUsers(host)).toHaveLength(2);
    const record = await host.app.services.store.collection(USERS).get(`${first.body.id}`);
    expect(record).toMatchObject({ email: ALICE.email, username: 'Alice' });
  });

  it('is created with one welcome grant when any call of storage is lost', async () => {
    const lost = createLostCalls();
    for (let place = 0; ; place += 1) {
      Object.assign(lost, { place: -1, calls: 0 });
      const settings = { admin: { defaultFreeCredits: 5 } };
      const host = await createHostApp({ settings, store: lost.lose, ledger: lost.lose });
      Object.assign(lost, { place, calls: 0 });
      const { status } = await getMe(host, host.signIn(ALICE));
      if (lost.calls <= place) {
        expect(status).toBe(200);
        expect(place).toBeGreaterThan(5);
        break;
      }
      expect([200, 503]).toContain(status);
      const { body } = await getMe(host, host.signIn(ALICE));
      expect({ place, body }).toMatchObject({ place, body: { name: 'Alice', credits: { balance: 5 } } });
      expect(await getUsers(host)).toHaveLength(2);
      expect(await host.app.ledger.entries(`user:${body.id}`, { limit: 10 })).toHaveLength(1);
    }
  });

  it('needs no grant at later requests', async () => {
    let grants = 0;
    const ledger = (memory: CreditLedger): CreditLedger => ({
      ...memory,
      grant: (grant) => {
        grants += 1;
        return memory.grant(grant);
      },
    });
    const host = await createHostApp({ ledger, settings: { admin: { defaultFreeCredits: 5 } } });
    await getMe(host, host.signIn(ALICE));
    const first = grants;
    await getMe(host, host.signIn(ALICE));
    expect(grants).toBe(first);
  });

  it('is created with one welcome grant by 50 parallel first requests', async () => {
    const host = await createHostApp({ settings: { admin: { defaultFreeCredits: 5 } } });
    // Separate sessions, so that no cached answer is shared.
    const sessions = Array.from({ length: 50 }, () => host.signIn(ALICE));
    const answers = await Promise.all(sessions.map((headers) => getMe(host, headers)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const account = `user:${answers[0]?.body.id}`;
    expect(await host.app.ledger.entries(account, { limit: 10 })).toMatchObject([{ amount: fromCredits(5) }]);
    expect((await host.app.ledger.balance(account)).available).toBe(fromCredits(5));
    expect(await getUsers(host)).toHaveLength(2);
  });

  it.each([
    ['a colon', 'oidc:https://issuer.example/:42'],
    ['slashes and dots', '../../etc/passwd'],
    ['emoji', '👩‍👩‍👧'.repeat(10)],
    ['200 characters outside the basic plane', '😀'.repeat(200)],
    ['one character', '0'],
    ['a space', ' '],
    ['the name of an object property', '__proto__'],
    ['SQL', `'; drop table users; --`],
  ])('may have an id with %s', async (_title, externalId) => {
    const host = await createHostApp();
    const [one, same, other] = [externalId, externalId, `${externalId}`.slice(0, -1) || 'x'].map((id) =>
      host.signIn({ externalId: id || 'x' }),
    );
    const ids = await Promise.all(
      [one, same, other].map(async (headers) => (await getMe(host, headers ?? {})).body.id),
    );
    expect(ids[0]).toMatch(/^[0-9a-f]{24}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('is distinguished from users whose ids differ in case, normalization or spaces', async () => {
    const host = await createHostApp();
    const answers = await Promise.all(
      ['\u00e9', 'e\u0301', 'E\u0301', '\u00e9 '].map((externalId) =>
        getMe(host, host.signIn({ externalId })),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(4);
  });

  it('does not take over an account with the same email address', async () => {
    const host = await createHostApp();
    const { body } = await getMe(host, host.signIn({ ...ALICE, email: host.app.user.email }));
    expect(body.id).not.toBe(host.app.user.id);
    const record = await host.app.services.store.collection(USERS).get(`${body.id}`);
    expect(record).toMatchObject({ email: `${body.id}@users.invalid`, isAdmin: false });
  });

  it.each([
    [{ externalId: 'x' }, 'User'],
    [{ externalId: 'x', email: 'not an address', name: '' }, 'not an address'],
    [{ externalId: 'x', email: 'carol@example.com' }, 'carol'],
    [{ externalId: 'x', name: `a\u0000b\n${'n'.repeat(200)}` }, `ab${'n'.repeat(98)}`],
    [{ externalId: 'x', name: '\u0001\u0002' }, 'User'],
    [{ externalId: 'x', email: null, name: null, organizationId: null }, 'User'],
  ])('can have the profile %j', async (answer, name) => {
    const host = await createHostApp();
    expect(await getMe(host, host.signIn(answer))).toMatchObject({ status: 200, body: { name } });
  });

  it('is rejected when an administrator disables the account', async () => {
    const host = await createHostApp();
    const session = host.signIn(ALICE);
    const { body } = await getMe(host, session);
    await host.app.services.store.collection(USERS).update(`${body.id}`, { disabled: true });
    host.app.services.authenticator.forgetUser(`${body.id}`);
    expect(await getMe(host, session)).toMatchObject({ status: 403 });
  });

  it('is rejected two seconds after the host has signed the user out', async () => {
    const host = await createHostApp();
    const session = host.signIn(ALICE);
    expect((await getMe(host, session)).status).toBe(200);
    host.host.sessions.clear();
    expect((await getMe(host, session)).status).toBe(200);
    await host.app.clock.advance(2000);
    expect((await getMe(host, session)).status).toBe(401);
    expect(host.host.asked).toHaveLength(2);
  });
});

describe('identity port', () => {
  it('is called only for requests without a Questline key or token', async () => {
    const host = await createHostApp();
    const { app } = host;
    const session = host.signIn(ALICE);
    const refresh = await app.services.tokens.sign({ id: app.user.id, tokenVersion: 0, typ: 'refresh' });
    const token = await app.token();
    await app.clock.advance(8 * 86_400_000);
    const ours = [app.key, token, refresh, `svc_live_${'x'.repeat(40)}`, 'svc_live_'];
    const statuses = [];
    for (const credential of ours) {
      const answer = await app.ask('GET', '/api/v1/me', { credential, headers: session });
      statuses.push(answer.status);
    }
    for (const headers of [{ 'X-Api-Key': 'anything' }, { Authorization: 'ApiKey abc' }]) {
      statuses.push((await host.ask({ ...session, ...headers }, 'GET', '/api/v1/me')).status);
    }
    expect(statuses).toEqual([200, 401, 401, 401, 401, 401, 401]);
    expect(host.host.asked).toEqual([]);
    const foreign = [
      'opaque-token',
      'a.b.c',
      `e30.${Buffer.from('{"iss":"https://issuer.example","sub":"1"}').toString('base64url')}.sig`,
    ];
    for (const credential of foreign) await app.ask('GET', '/api/v1/me', { credential });
    expect(host.host.asked.map(({ headers }) => headers.authorization)).toEqual(
      foreign.map((credential) => `Bearer ${credential}`),
    );
  });

  it('receives the request without its body, query and signal', async () => {
    const host = await createHostApp();
    await host.ask(host.signIn(ALICE), 'GET', '/api/v1/sessions?limit=1');
    expect(host.host.asked).toEqual([
      {
        method: 'GET',
        path: '/api/v1/sessions',
        headers: { cookie: 'sid=s1' },
        remoteAddress: undefined,
        protocol: 'http',
      },
    ]);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('database away')), /database away/],
    [
      'throws text',
      () => {
        throw 'no';
      },
      /^no$/,
    ],
    ['answers text', 'alice', /expected an object/],
    ['returns a list', [ALICE], /expected an object/],
    ['answers true', true, /expected an object/],
    ['returns no id', { email: 'a@example.com' }, /externalId: expected text/],
    ['returns a number as id', { externalId: 7 }, /externalId: expected text/],
    ['returns an empty id', { externalId: '' }, /externalId: expected 1 to 200 characters, got 0/],
    [
      'returns an id of 201 characters',
      { externalId: '😀'.repeat(201) },
      /externalId: expected 1 to 200 characters, got 201/,
    ],
    ['returns an id with U+0000', { externalId: 'a\0' }, /externalId: expected text without U\+0000/],
    ['returns an id with a lone surrogate', { externalId: 'a\ud800' }, /externalId: .*lone surrogates/],
    ['returns unknown scopes', { ...ALICE, scopes: ['ai:everything'] }, /scopes: unknown "ai:everything"/],
    ['returns no list of scopes', { ...ALICE, scopes: null }, /scopes: expected a list/],
    ['returns no list of roles', { ...ALICE, roles: 'admin' }, /roles: expected a list/],
    [
      'returns a limit of 0',
      { ...ALICE, limits: { requestsPerMinute: 0 } },
      /requestsPerMinute: expected at least 1/,
    ],
    [
      'returns a cap below 0',
      { ...ALICE, limits: { spendCap: { amount: -1, period: 'day' } } },
      /amount: expected at least 0/,
    ],
    ['returns null as limits', { ...ALICE, limits: null }, /limits: expected an object/],
  ])('answers 503 and reports the cause to the host when it %s', async (_title, answer, why) => {
    const host = await createHostApp();
    const { status, body, headers } = await getMe(host, host.signIn(answer));
    expect(status).toBe(503);
    expect(body).toMatchObject({ error: 'Your sign-in could not be checked. Try again shortly.' });
    expect(headers.get('retry-after')).toBe('5');
    const [incident] = host.app.incidents;
    expect(incident?.operation).toBe('getMe');
    const { error } = incident ?? {};
    expect(error instanceof Error ? error.message : error).toMatch(why);
    expect(await getUsers(host)).toHaveLength(1);
  });

  it.each([undefined, null])('answers 401 when it returns %s', async (answer) => {
    const host = await createHostApp();
    const { status, headers } = await getMe(host, host.signIn(answer));
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(host.app.incidents).toEqual([]);
  });

  it('answers 503 after the timeout, and aborts the signal', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const host = await createHostApp({
      host: {
        ...createHost(),
        identity: {
          identify(_request, options) {
            signals.push(options?.signal);
            return new Promise(() => undefined);
          },
        },
      },
      settings: { identity: { timeoutMs: 700 } },
    });
    const answer = getMe(host, { Cookie: 'sid=1' });
    await host.app.clock.advance(700);
    expect((await answer).status).toBe(503);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    expect(host.app.incidents).toMatchObject([
      { error: new Error('identity.identify: no answer within 700 ms') },
    ]);
  });

  it('charges nothing when it fails', async () => {
    const model = createScriptedProvider(sayAtOnce('Hello.'));
    const host = await createHostApp({ models: [model], settings: { admin: { defaultFreeCredits: 5 } } });
    const session = host.signIn(ALICE);
    const { body } = await getMe(host, session);
    host.host.sessions.set('s1', () => Promise.reject(new Error('away')));
    const chat = await host.ask(session, 'POST', '/api/ai/v1/completions', {
      model: 'scripted',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(chat.status).toBe(503);
    expect(chat.body).toMatchObject({ type: 'error' });
    expect(await host.app.ledger.balance(`user:${body.id}`)).toMatchObject({
      available: fromCredits(5),
      held: 0,
    });
  });
});

describe('cached identities', () => {
  it('serve identical requests, and requests with the same credential if the host names it', async () => {
    const plain = await createHostApp();
    const session = plain.signIn(ALICE);
    for (const path of ['/api/v1/me', '/api/v1/me', '/api/v1/credits']) await plain.ask(session, 'GET', path);
    expect(plain.host.asked).toHaveLength(2);

    const named = await createHostApp({ host: createHost(({ headers }) => `${headers.cookie}`) });
    const same = named.signIn(ALICE);
    for (const path of ['/api/v1/me', '/api/v1/credits', '/api/v1/sessions'])
      await named.ask(same, 'GET', path);
    expect(named.host.asked).toHaveLength(1);
    expect((await getMe(named, named.signIn(BOB))).body.name).toBe('Bob');
  });

  it.each([
    ['a header', { 'X-User': 'alice' }, { 'X-User': 'bob' }],
    ['a cookie', { Cookie: 'u=alice' }, { Cookie: 'u=bob' }],
    ['a token', { Authorization: 'Bearer alice' }, { Authorization: 'Bearer bob' }],
  ])('are never shared by users who differ in %s', async (_title, alice, bob) => {
    const host = await createHostApp({
      host: {
        ...createHost(),
        identity: {
          identify: async ({ headers }) => (JSON.stringify(headers).includes('alice') ? ALICE : BOB),
        },
      },
    });
    const names = [];
    for (const headers of [alice, bob, alice, bob]) names.push((await getMe(host, headers)).body.name);
    expect(names).toEqual(['Alice', 'Bob', 'Alice', 'Bob']);
  });

  it('are never shared by different client addresses', async () => {
    const host = await createHostApp({
      host: {
        ...createHost(),
        identity: {
          identify: async ({ remoteAddress }) => (remoteAddress === '10.0.0.1' ? ALICE : undefined),
        },
      },
    });
    const statuses = [];
    for (const from of ['10.0.0.1', '192.0.2.7']) {
      statuses.push((await host.app.ask('GET', '/api/v1/me', { credential: null, from })).status);
    }
    expect(statuses).toEqual([200, 401]);
  });

  it('are disabled by a TTL of 0 or an undefined credential', async () => {
    const off = await createHostApp({ settings: { identity: { cacheTtlMs: 0 } } });
    const unnamed = await createHostApp({ host: createHost(() => undefined) });
    for (const host of [off, unnamed]) {
      const session = host.signIn(ALICE);
      for (let call = 0; call < 3; call += 1) await getMe(host, session);
      expect(host.host.asked).toHaveLength(3);
      host.host.sessions.clear();
      expect((await getMe(host, session)).status).toBe(401);
    }
  });

  it('are not kept for unknown callers, failures and rejections', async () => {
    const host = await createHostApp();
    for (const answer of [undefined, 'nonsense', { ...ALICE, organizationId: 'f'.repeat(24) }]) {
      host.host.sessions.set('same', answer);
      expect((await getMe(host, { Cookie: 'sid=same' })).status).toBeGreaterThan(400);
    }
    host.host.sessions.set('same', ALICE);
    expect((await getMe(host, { Cookie: 'sid=same' })).status).toBe(200);
  });

  it('are shared by parallel requests', async () => {
    const host = await createHostApp();
    const session = host.signIn(ALICE);
    await Promise.all(Array.from({ length: 20 }, () => getMe(host, session)));
    expect(host.host.asked).toHaveLength(1);
  });

  it('are invalidated with the other credentials of a user', async () => {
    const host = await createHostApp();
    const session = host.signIn({ ...ALICE, roles: ['admin'] });
    const { body } = await getMe(host, session);
    host.host.sessions.clear();
    host.app.services.authenticator.forgetUser(`${body.id}`);
    expect((await getMe(host, session)).status).toBe(401);
  });

  it('are limited in number', async () => {
    const host = await createHostApp({
      host: createHost(({ headers }) => `${headers.cookie}`),
    });
    const first = host.signIn(ALICE);
    await getMe(host, first);
    for (let at = 0; at < 10_000; at += 1) {
      host.host.sessions.set(`other${at}`, ALICE);
      const found = host.app.services.authenticator.authenticate({}, 'token', {
        method: 'GET',
        path: '/',
        headers: { cookie: `sid=other${at}` },
        remoteAddress: undefined,
        protocol: 'http',
      });
      await found;
    }
    const before = host.host.asked.length;
    await getMe(host, first);
    expect(host.host.asked.length).toBe(before + 1);
  });
});

describe('identity returned by the host', () => {
  it('restricts scopes: the user can do what an API key with these scopes can do', async () => {
    const host = await createHostApp();
    const reader = host.signIn({ ...ALICE, scopes: ['notebooks:read'], roles: ['admin'] });
    const statuses = [];
    for (const [method, path, body] of [
      ['GET', '/api/v1/sessions', undefined],
      ['POST', '/api/v1/sessions', { name: 'x' }],
      ['GET', '/api/v1/me', undefined],
      // Signed-in users only: an API key could not do it either.
      ['POST', '/api/user-api-keys', { name: 'all', preset: 'full' }],
      ['GET', '/api/settings', undefined],
      ['GET', '/api/users', undefined],
    ] as const) {
      statuses.push((await host.ask(reader, method, path, body)).status);
    }
    expect(statuses).toEqual([200, 403, 403, 403, 403, 403]);
    const none = host.signIn({ ...BOB, scopes: [] });
    expect((await host.ask(none, 'GET', '/api/v1/sessions')).status).toBe(403);
  });

  it('lowers rate limits, and raises none', async () => {
    const host = await createHostApp({
      settings: { rateLimits: { work: { limit: 3, per: 'minute' } } },
    });
    const slow = host.signIn({ ...ALICE, limits: { requestsPerMinute: 2, requestsPerDay: 5 } });
    const count = async (headers: { Cookie: string }, calls: number) => {
      const statuses = [];
      for (let call = 0; call < calls; call += 1) {
        statuses.push((await host.ask(headers, 'POST', '/api/v1/sessions', { name: `${call}` })).status);
      }
      return statuses;
    };
    expect(await count(slow, 3)).toEqual([200, 200, 429]);
    // The limit applies to the user, not to the session.
    expect(await count(host.signIn({ ...ALICE, limits: { requestsPerMinute: 2 } }), 1)).toEqual([429]);
    await host.app.clock.advance(60_000);
    expect(await count(slow, 2)).toEqual([200, 200]);
    await host.app.clock.advance(60_000);
    expect(await count(slow, 2)).toEqual([200, 429]);
    const fast = host.signIn({ ...BOB, limits: { requestsPerMinute: 1e6, requestsPerDay: 1e9 } });
    expect(await count(fast, 4)).toEqual([200, 200, 200, 429]);
  });

  it('caps spending, and prevents the user from making uncapped keys', async () => {
    const model = createScriptedProvider(sayAtOnce('Hello.'));
    const host = await createHostApp({ models: [model], settings: { admin: { defaultFreeCredits: 1000 } } });
    const ask = (headers: { Cookie: string }) =>
      host.ask(headers, 'POST', '/api/ai/v1/completions', {
        model: 'scripted',
        messages: [{ role: 'user', content: 'Hi' }],
        stream: false,
      });
    const spendCap = { amount: 0, period: 'day' };
    const capped = host.signIn({ ...ALICE, limits: { spendCap } });
    expect(await ask(capped)).toMatchObject({ status: 422, body: { errorCode: 'spend_cap_exceeded' } });
    const usage = await host.ask(capped, 'GET', '/api/v1/usage');
    expect(usage.body).toMatchObject({ spend: { cap: { credits: 0, period: 'day', used: 0 } } });
    const key = await host.ask(capped, 'POST', '/api/user-api-keys', { name: 'k', preset: 'full' });
    expect(key.status).toBe(403);
    expect((await ask(host.signIn(BOB))).status).toBe(200);
    expect(
      (await host.ask(host.signIn(BOB), 'POST', '/api/user-api-keys', { name: 'k', preset: 'full' })).status,
    ).toBe(201);
  });

  it('prevents a limited user from raising the limits of a key', async () => {
    const host = await createHostApp();
    const free = host.signIn(ALICE);
    const { body } = await host.ask(free, 'POST', '/api/user-api-keys', { name: 'k', preset: 'full' });
    const path = `/api/user-api-keys/${body.id}/rate-limit`;
    const raised = { requestsPerMinute: 1000 };
    const limited = host.signIn({ ...ALICE, limits: { requestsPerMinute: 2 } });
    expect((await host.ask(limited, 'PATCH', path, raised)).status).toBe(403);
    expect((await host.ask(free, 'PATCH', path, raised)).status).toBe(200);
  });

  it('decides about administrators: the stored flag has no effect', async () => {
    const host = await createHostApp();
    const admin = host.signIn({ ...ALICE, roles: ['editor', 'admin'] });
    expect((await host.ask(admin, 'GET', '/api/settings')).status).toBe(200);
    const demoted = host.signIn({ ...ALICE, roles: ['Admin', 'administrator'] });
    expect((await host.ask(demoted, 'GET', '/api/settings')).status).toBe(403);
    const { body } = await getMe(host, demoted);
    await host.app.services.store.collection(USERS).update(`${body.id}`, { isAdmin: true });
    host.app.services.authenticator.forgetUser(`${body.id}`);
    expect((await host.ask(demoted, 'GET', '/api/settings')).status).toBe(403);
  });

  it('names a paying organization if the user is a member', async () => {
    const model = createScriptedProvider(sayAtOnce('Hello.'));
    const host = await createHostApp({ models: [model] });
    const member = await getMe(host, host.signIn(ALICE));
    const { id } = await addOrganization(host.app, { readerIds: [`${member.body.id}`] });
    const account = `organization:${id}`;
    await host.app.ledger.grant({ account, amount: fromCredits(1000), key: 'start', reason: 'start' });
    const paid = host.signIn({ ...ALICE, organizationId: id });
    const chat = await host.ask(paid, 'POST', '/api/ai/v1/completions', {
      model: 'scripted',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(chat.status).toBe(200);
    expect((await host.app.ledger.balance(account)).available).toBeLessThan(fromCredits(1000));
    // The owner has spent the organization's credit too: members see only their own calls.
    const details = { operation: 'x', userId: host.app.user.id };
    const expiresAt = host.app.clock.now() + 1000;
    const held = await host.app.ledger.hold({ account, amount: 5, key: 'x', expiresAt, details });
    if (held.outcome !== 'held') throw new Error('the organization has no credit');
    await host.app.ledger.settle(held.hold, 5);
    const usage = await host.ask(paid, 'GET', '/api/v1/usage');
    expect(usage.body.recent).toHaveLength(1);
    expect(await host.ask(paid, 'GET', '/api/credits/transactions')).toMatchObject({ body: { length: 1 } });
    const stranger = host.signIn({ ...BOB, organizationId: id });
    expect((await getMe(host, stranger)).status).toBe(403);
    expect((await getMe(host, host.signIn({ ...BOB, organizationId: 'acme' }))).status).toBe(403);
  });
});

describe('requests from other sites', () => {
  const OWN = 'http://questline.test';
  it.each([
    ['form of another site', CROSS_SITE, 403],
    ['page of another site in an older browser', { Origin: 'https://evil.example' }, 403],
    ['sandboxed frame', { Origin: 'null' }, 403],
    ['another subdomain', { Origin: 'http://a.questline.test', 'Sec-Fetch-Site': 'same-site' }, 403],
    ['another port', { Origin: `${OWN}:8080` }, 403],
    ['another site with its own token', { ...CROSS_SITE, Authorization: 'Bearer x' }, 403],
    ['invalid origin', { Origin: 'nonsense' }, 403],
    ['own page', { Origin: OWN, 'Sec-Fetch-Site': 'same-origin' }, 200],
    ['own page in an older browser', { Origin: OWN }, 200],
    ['own page behind TLS', { Origin: 'https://questline.test' }, 200],
    ['address bar', { 'Sec-Fetch-Site': 'none' }, 200],
    ['a program', {}, 200],
    ['page of an allowed origin', { Origin: 'https://app.example.com', 'Sec-Fetch-Site': 'cross-site' }, 200],
    ['page at the public URL', { Origin: 'https://ai.example.com', 'Sec-Fetch-Site': 'same-site' }, 200],
  ])('are checked with the cookie: %s', async (_title, headers, status) => {
    const host = await createHostApp({
      settings: {
        publicUrl: 'https://ai.example.com/questline',
        identity: { allowedOrigins: ['https://app.example.com'] },
      },
    });
    const session = { Host: 'questline.test', ...host.signIn(ALICE), ...headers };
    const answer = await host.ask(session, 'POST', '/api/v1/sessions', { name: 'x' });
    expect(answer.status).toBe(status);
    if (status !== 403) return;
    // The request is rejected before the host is called, so no account is created.
    expect(host.host.asked).toEqual([]);
    expect((await host.ask(session, 'GET', '/api/v1/sessions')).status).toBe(200);
    for (const [method, path] of [
      ['DELETE', '/api/sessions/1'],
      ['PUT', '/api/sessions/1'],
      ['PATCH', '/api/v1/files/1'],
      ['GET', '/api/logout'],
    ] as const) {
      expect((await host.ask(session, method, path)).status).toBe(403);
    }
  });

  it('need no origin with an Authorization header only', async () => {
    const host = await createHostApp({
      host: { ...createHost(), identity: { identify: async () => ALICE } },
    });
    const headers = { ...CROSS_SITE, Authorization: 'Bearer of-the-host' };
    expect((await host.ask(headers, 'POST', '/api/v1/sessions', { name: 'x' })).status).toBe(200);
    // Questline keys and tokens are not affected.
    const own = await host.app.ask('POST', '/api/v1/sessions', {
      credential: await host.app.token(),
      headers: { ...CROSS_SITE, Cookie: 'sid=1' },
      body: { name: 'x' },
    });
    expect(own.status).toBe(200);
  });
});
