import { createApi, createServices, toFetchHandler, USERS } from '@questline/core';
import { CHALLENGES, REGISTRATION_INVITES, SIGN_IN_GUARDS } from '@questline/core/internal';
import { createMemoryPorts } from '@questline/core/memory';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { adminToken, codeFor, post, type SignInAnswer } from '../support/sign-in.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const VERIFY = '/api/otc/verify';

const OPEN = { settings: { admin: { allowOpenRegistration: true } } };

/** An app without users. */
async function emptyApp(options: Parameters<typeof createTestApp>[0] = {}): Promise<TestApp> {
  const app = await createTestApp(options);
  await app.services.store.collection(USERS).take(app.user.id);
  return app;
}

function times<T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => make(at)));
}

const ok = (answers: readonly SignInAnswer[]) => answers.filter(({ status }) => status === 200);

/** Codes for `count` users, each with its own client address. */
const codes = (app: TestApp, count: number) =>
  times(count, (at) => codeFor(app, `p${at}@example.com`, `10.0.0.${at}`));

describe('first account', () => {
  it.each([
    ['open', OPEN, 50],
    ['closed', {}, 1],
  ])('makes one administrator in 50 parallel sign-ups with registration %s', async (_, options, accounts) => {
    const app = await emptyApp(options);
    const all = await codes(app, 50);
    const answers = await times(50, (at) =>
      post(app, VERIFY, { ...all[at], username: `p${at}` }, `10.0.0.${at}`),
    );
    expect(ok(answers)).toHaveLength(accounts);
    expect(ok(answers).filter(({ body }) => body.user?.isAdmin === true)).toHaveLength(1);
    const users = await app.services.store.collection(USERS).find({});
    expect(users).toHaveLength(accounts);
    expect(users.filter(({ isAdmin }) => isAdmin)).toHaveLength(1);
  });

  it('is not an administrator when the host has created accounts', async () => {
    const app = await createTestApp(OPEN);
    const { body } = await post(app, VERIFY, { ...(await codeFor(app, 'x@example.com')), username: 'x' });
    expect(body.user?.isAdmin).toBe(false);
  });
});

describe('registration invite', () => {
  async function invites(app: TestApp, input: object): Promise<{ _id: string; code: string }[]> {
    const credential = await adminToken(app);
    const answer = await app.ask('POST', '/api/reg-invites/create', { credential, body: input });
    return ((await answer.json()) as { invites: { _id: string; code: string }[] }).invites;
  }

  it('for one use makes one account for 20 parallel uses and lets the others continue', async () => {
    const app = await createTestApp();
    const [invite] = await invites(app, { multiple: 1, startingCredits: 12.5 });
    const all = await codes(app, 20);
    const answers = await times(20, (at) =>
      post(app, VERIFY, { ...all[at], username: 'x', inviteCode: invite?.code }, `10.0.0.${at}`),
    );
    const [made] = ok(answers);
    expect(ok(answers)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(19);
    expect(refused.every(({ body }) => body.error?.code === 'REGISTRATION_CLOSED')).toBe(true);
    expect(await app.services.store.collection(USERS).count({})).toBe(2);
    const { available } = await app.ledger.balance(`user:${made?.body.user?._id}`);
    expect(available).toBe(12_500_000);

    const loser = answers.findIndex(({ status }) => status === 403);
    const [second] = await invites(app, { multiple: 1 });
    const again = { ...all[loser], pendingToken: answers[loser]?.body.pendingToken };
    const late = await post(app, VERIFY, { ...again, username: 'x', inviteCode: second?.code });
    expect(late.status).toBe(200);
  });

  it('for unlimited uses ends when it is deleted', async () => {
    const app = await createTestApp();
    const [invite] = await invites(app, { multiple: 1, unlimitedUse: true });
    const use = async (email: string) =>
      post(app, VERIFY, { ...(await codeFor(app, email)), username: 'x', inviteCode: invite?.code });
    expect((await use('a@example.com')).status).toBe(200);
    expect((await use('b@example.com')).status).toBe(200);
    const credential = await adminToken(app);
    await app.ask('POST', '/api/reg-invites/delete', { credential, body: { ids: [invite?._id] } });
    expect((await use('c@example.com')).status).toBe(403);
  });

  it('is made, listed and deleted by administrators only', async () => {
    const app = await createTestApp();
    const [invite] = await invites(app, { multiple: 1 });
    const credential = await app.token(await app.addUser('other@example.com'));
    const ask = async (method: string, path: string, body?: object) =>
      (await app.ask(method, `/api/reg-invites${path}`, { credential, ...(body && { body }) })).status;
    expect(await ask('GET', '')).toBe(403);
    expect(await ask('POST', '/create', { multiple: 1 })).toBe(403);
    expect(await ask('POST', '/delete', { ids: [invite?._id] })).toBe(403);
    expect(await app.services.store.collection(REGISTRATION_INVITES).count({})).toBe(1);
  });

  it('is deleted with those of the same request, and no other', async () => {
    const app = await createTestApp();
    const [first, second, third] = await invites(app, { multiple: 3 });
    const body = { ids: [first?._id, first?._id, third?._id, 'f'.repeat(24)] };
    const credential = await adminToken(app);
    const answer = await app.ask('POST', '/api/reg-invites/delete', { credential, body });
    expect(await answer.json()).toEqual({ success: true, message: 'The invites are deleted' });
    const left = await app.services.store.collection(REGISTRATION_INVITES).find({});
    // Without a wish of the administrator, no credits.
    expect(left).toMatchObject([{ id: second?._id, startingCredits: 0, usesLeft: 1 }]);
  });

  const listed = async (app: TestApp): Promise<unknown> => {
    const answer = await app.ask('GET', '/api/reg-invites', { credential: await adminToken(app) });
    return ((await answer.json()) as { invites: { code: unknown }[] }).invites.map(({ code }) => code);
  };

  it('is visible to administrators, and stored only hashed and encrypted', async () => {
    const app = await createTestApp();
    const [first, second] = await invites(app, { multiple: 2 });
    expect(await listed(app)).toEqual([second?.code, first?.code]);
    const records = await app.services.store.collection(REGISTRATION_INVITES).find({});
    const stored = JSON.stringify(records);
    for (const invite of [first, second]) expect(stored).not.toContain(invite?.code);
    // Each ciphertext is bound to its own record.
    const [one, other] = records;
    await app.services.store
      .collection(REGISTRATION_INVITES)
      .update(one?.id ?? '', { sealedCode: other?.sealedCode });
    expect(await listed(app)).toEqual([second?.code, null]);
  });

  it('is returned once without an encryption key', async () => {
    const app = await createTestApp({ services: ({ secretBox: _, ...services }) => services });
    const [invite] = await invites(app, { multiple: 1 });
    expect(await listed(app)).toEqual([null]);
    const body = { ...(await codeFor(app, 'x@example.com')), username: 'x', inviteCode: invite?.code };
    expect((await post(app, VERIFY, body)).status).toBe(200);
  });

  it('from an earlier version still works, and is encrypted when the service starts', async () => {
    const app = await createTestApp();
    const kept = app.services.store.collection(REGISTRATION_INVITES);
    for (const at of [1, 2]) {
      const id = String(at).repeat(24);
      const facts = { usesLeft: 1, startingCredits: 0, createdBy: 'earlier', createdAt: at };
      await kept.insert({ id, code: `clear-${at}`, ...facts });
    }
    const use = async (code: string, email: string) =>
      post(app, VERIFY, { ...(await codeFor(app, email)), username: 'x', inviteCode: code });
    expect(await listed(app)).toEqual(['clear-2', 'clear-1']);
    expect((await use('clear-1', 'a@example.com')).status).toBe(200);
    await app.api.start();
    await app.settle();
    expect(JSON.stringify(await kept.find({}))).not.toContain('clear-');
    expect(await listed(app)).toEqual(['clear-2', 'clear-1']);
    expect((await use('clear-1', 'b@example.com')).status).toBe(403);
    expect((await use('clear-2', 'c@example.com')).status).toBe(200);
    await app.api.close();
  });
});

describe('sign-in code', () => {
  it('signs in once for 50 parallel uses of the right code', async () => {
    const app = await createTestApp();
    const body = await codeFor(app, 'ada@example.com');
    const answers = await times(50, (at) => post(app, VERIFY, body, `10.0.0.${at}`));
    expect(ok(answers)).toHaveLength(1);
    expect((await post(app, VERIFY, body, '10.0.1.0')).body.error?.code).toBe('INVALID_CODE');
  });

  it('counts one of 200 parallel wrong attempts with one token, and five over all tokens', async () => {
    const app = await createTestApp();
    const right = await codeFor(app, 'ada@example.com');
    const wrong = { ...right, code: 'wrong' };
    let counted = 0;
    let { pendingToken } = right;
    const rounds: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const body = { ...wrong, pendingToken };
      const answers = await times(200, (at) => post(app, VERIFY, body, `10.${round}.0.${at}`));
      const looked = answers.filter((answer) => answer.body.error?.details !== undefined);
      rounds.push(looked.length);
      counted += looked.length;
      pendingToken = looked[0]?.body.pendingToken ?? pendingToken;
    }
    expect(counted).toBe(5);
    expect(rounds).toEqual([1, 1, 1, 1, 1, 0]);
    // After five wrong codes, the right one is rejected.
    expect((await post(app, VERIFY, { ...right, pendingToken }, '10.9.0.0')).status).toBe(422);
  });

  it('is checked ten times in 15 minutes per client address, of 200 in parallel', async () => {
    const app = await createTestApp();
    const body = { ...(await codeFor(app, 'ada@example.com')), code: 'wrong' };
    const answers = await times(200, () => post(app, VERIFY, body, '10.0.0.1'));
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(190);
  });

  it('is mailed five times per client address and once per recipient, of 50 in parallel', async () => {
    const app = await createTestApp();
    await times(50, (at) => post(app, '/api/otc/send', { email: `p${at}@example.com` }, '10.0.0.1'));
    expect(app.mails).toHaveLength(5);
    await times(50, () => post(app, '/api/otc/send', { email: 'one@example.com' }, '10.0.1.1'));
    expect(app.mails.filter(({ to }) => to === 'one@example.com')).toHaveLength(1);
  });

  it('has the same limits for an IPv6 network as for an IPv4 address, in any notation', async () => {
    const app = await createTestApp();
    const ask = async (from: string) => {
      await post(app, '/api/otc/send', { email: `p${app.mails.length}@example.com` }, from);
      return app.mails.length;
    };
    const network = ['2001:db8::1', '2001:DB8:0:0:ffff::2', '2001:0db8::', '2001:db8:0:0:0:0:0:9%eth0'];
    for (const from of [...network, ...network]) await ask(from);
    expect(app.mails).toHaveLength(5);
    for (const from of ['2001:db8:0:1::1', '2001:db8:1::1', '::1', '192.0.2.7']) await ask(from);
    expect(app.mails).toHaveLength(9);
    for (let count = 0; count < 9; count += 1) await ask('::ffff:192.0.2.7');
    expect(app.mails).toHaveLength(13);
  });

  it('is requested with the same answer and the same work for known, unknown and disabled addresses', async () => {
    let work: string[] = [];
    const app = await createTestApp({ store: (store) => watched(store, (call) => work.push(call)) });
    const banned = await app.addUser('banned@example.com');
    await app.services.store.collection(USERS).update(banned.id, { disabled: true });
    const shapes = [];
    for (const email of ['ada@example.com', 'unknown@example.com', 'banned@example.com']) {
      work = [];
      const sent = await post(app, '/api/otc/send', { email });
      const wrong = { email, code: 'wrong', pendingToken: sent.body.pendingToken };
      const tried = await post(app, VERIFY, wrong);
      shapes.push({
        sent: [sent.status, Object.keys(sent.body), sent.body.pendingToken?.length],
        tried: [tried.status, Object.keys(tried.body), tried.body.error],
        work,
      });
    }
    expect(app.mails).toHaveLength(3);
    expect(shapes[0]?.work.length).toBeGreaterThan(0);
    expect(shapes[1]).toEqual(shapes[0]);
    expect(shapes[2]).toEqual(shapes[0]);
  });

  it('is mailed in the name of the app as text and HTML without a link', async () => {
    const app = await createTestApp({ settings: { appName: 'A & <B>' } });
    const { code } = await codeFor(app, 'ada@example.com');
    const [mail] = app.mails;
    expect(code).toMatch(/^\d{6}$/);
    expect(mail?.to).toBe('ada@example.com');
    expect(mail?.text).toContain(`Your code for A & <B> is ${code}.`);
    expect(mail?.html).toContain('A &amp; &lt;B&gt;');
    expect(mail?.html).toContain(code);
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/https?:|href/);
  });

  it('is signed with the session secret, as links to files are and tokens are not', async () => {
    const app = await createTestApp({ settings: { sessionSecret: 'c'.repeat(64) } });
    const { store, ledger, limiter, mailer, clock, ids } = app.services;
    const elsewhere = (sessionSecret: string) =>
      createServices(
        { store, ledger, limiter, clock, ids, models: [], ...(mailer && { mailer }) },
        { jwtSecret: 'a'.repeat(64), sessionSecret },
      );
    const body = await codeFor(app, 'ada@example.com');
    const terms = { expiresAt: app.clock.now() + 60_000 };
    const link = await app.services.objectLinks.get('videos/1', terms, '');
    const token = await app.token();
    for (const [secret, isSame] of [
      ['d', false],
      ['c', true],
    ] as const) {
      const services = elsewhere(secret.repeat(64));
      const query = new URL(link ?? '', 'http://x').searchParams;
      expect(services.objectLinks.verify('get', query, app.clock.now()) !== undefined).toBe(isSame);
      expect((await services.authenticator.identify(token)).userId).toBe(app.user.id);
      const answer = await toFetchHandler(createApi(services))(
        new Request(`http://x${VERIFY}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      );
      expect(answer?.status).toBe(isSame ? 200 : 422);
    }
  });

  it('is not stored, and is void with a changed token and ten minutes after the mail', async () => {
    const app = await createTestApp();
    const body = await codeFor(app, 'ada@example.com');
    expect(await app.services.store.collection(CHALLENGES).count({})).toBe(0);
    const [id, serial, end, mac] = body.pendingToken.split('.');
    const changed = [
      `${id}.${serial}.${Number(end) + 1}.${mac}`,
      `${id}.${Number(serial) + 1}.${end}.${mac}`,
      `${id?.replace(/^./, 'f')}.${serial}.${end}.${mac}`,
    ];
    for (const pendingToken of changed) {
      expect((await post(app, VERIFY, { ...body, pendingToken })).body.error?.code).toBe('INVALID_CODE');
    }
    expect((await post(app, VERIFY, { ...body, email: 'eve@example.com' })).status).toBe(422);
    await app.clock.advance(10 * 60_000);
    expect((await post(app, VERIFY, body)).body.error?.code).toBe('INVALID_CODE');
    expect(await app.services.store.collection(CHALLENGES).count({})).toBe(0);
    const again = await codeFor(app, 'ada@example.com');
    expect((await post(app, VERIFY, again)).status).toBe(200);
  });

  it('lets every client that signs in at once be a known one', async () => {
    const app = await createTestApp();
    const froms = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const sent = await Promise.all(froms.map((from) => codeFor(app, 'ada@example.com', from)));
    const bodies = sent.map(({ pendingToken }, at) => ({
      ...{ email: 'ada@example.com', pendingToken },
      code: /\b\d{6}\b/.exec(app.mails[at]?.text ?? '')?.[0] ?? '',
    }));
    const answers = await Promise.all(bodies.map((body, at) => post(app, VERIFY, body, froms[at])));
    expect(ok(answers)).toHaveLength(3);
    const [guard] = await app.services.store.collection(SIGN_IN_GUARDS).find({});
    expect(guard?.clients).toHaveLength(3);
  });

  it('lets a new user continue only with the token of the answer', async () => {
    const app = await createTestApp(OPEN);
    const body = await codeFor(app, 'new@example.com');
    const asked = await post(app, VERIFY, body);
    expect(asked.body.registrationRequired).toBe(true);
    expect((await post(app, VERIFY, { ...body, username: 'x' })).status).toBe(422);
    const { pendingToken } = asked.body;
    expect((await post(app, VERIFY, { ...body, pendingToken, username: 'x' })).status).toBe(200);
  });
});

describe('attackers of an account', () => {
  const OWNER = 'ada@example.com';
  const HOME = '198.51.100.1';
  const stranger = (at: number) => `10.1.${at >> 8}.${at & 255}`;

  /** Submits five wrong codes for one mail, from the same address. */
  async function guess(app: TestApp, at: number): Promise<number> {
    const sent = await post(app, '/api/otc/send', { email: OWNER }, stranger(at));
    if (sent.status !== 200) return sent.status;
    let pendingToken = sent.body.pendingToken ?? '';
    let status = 0;
    for (let count = 0; count < 5; count += 1) {
      const { body, ...answer } = await post(
        app,
        VERIFY,
        { email: OWNER, code: 'wrong', pendingToken },
        stranger(at),
      );
      status = answer.status;
      pendingToken = body.pendingToken ?? pendingToken;
    }
    return status;
  }

  async function signIn(app: TestApp, from: string): Promise<number> {
    return (await post(app, VERIFY, await codeFor(app, OWNER, from), from)).status;
  }

  async function ownedApp(): Promise<TestApp> {
    const app = await createTestApp({
      settings: { signInLimits: { sendToUnknown: { limit: 200, seconds: 60 } } },
    });
    return app;
  }

  it('cannot prevent its owner from getting a code', async () => {
    const app = await createTestApp();
    expect(await signIn(app, HOME)).toBe(200);
    await app.clock.advance(60_000);
    const asked = await times(40, (at) => post(app, '/api/otc/send', { email: OWNER }, stranger(at)));
    // One of the twenty requests was the owner's own first code.
    expect(ok(asked)).toHaveLength(19);
    expect(await signIn(app, HOME)).toBe(200);
  });

  it('are blocked for an hour after 50 wrong codes in a day, except a right code from a known client', async () => {
    const app = await ownedApp();
    expect(await signIn(app, HOME)).toBe(200);
    await app.clock.advance(60_000);
    for (let at = 0; at < 10; at += 1) expect(await guess(app, at)).toBe(422);
    expect(await guess(app, 11)).toBe(429);
    expect(await signIn(app, '203.0.113.9')).toBe(429);
    expect(await signIn(app, HOME)).toBe(200);
    await app.clock.advance(3_600_000);
    expect(await signIn(app, '203.0.113.9')).toBe(200);
  });

  it('are blocked again by each further wrong code of that day, and start with a new count on the next', async () => {
    const app = await ownedApp();
    for (let at = 0; at < 10; at += 1) await guess(app, at);
    await app.clock.advance(3_600_000);
    expect(await guess(app, 20)).toBe(429);
    await app.clock.advance(86_400_000);
    expect(await guess(app, 21)).toBe(422);
  });

  it('leave no address and no network in the store', async () => {
    const app = await ownedApp();
    await signIn(app, HOME);
    await guess(app, 1);
    const stored = JSON.stringify(await app.services.store.collection(SIGN_IN_GUARDS).find({}));
    expect(stored).not.toBe('[]');
    for (const text of [OWNER, HOME, stranger(1)]) expect(stored).not.toContain(text);
  });
});

describe('refresh token', () => {
  const REFRESH = '/api/auth/refreshToken';

  async function signedIn() {
    const app = await createTestApp();
    const { body } = await post(app, VERIFY, await codeFor(app, 'ada@example.com'));
    const refresh = (token: string | undefined) => post(app, REFRESH, { refreshToken: token });
    const who = async (token: string | undefined) =>
      (await app.ask('GET', '/api/identify', { credential: token ?? '' })).status;
    return { app, first: body, refresh, who };
  }

  it('is exchanged for another, and within 30 seconds again for a client that lost the answer', async () => {
    const { app, first, refresh, who } = await signedIn();
    const second = await refresh(first.refreshToken);
    await app.clock.advance(29_000);
    const again = await refresh(first.refreshToken);
    expect([second.status, again.status]).toEqual([200, 200]);
    expect((await refresh(again.body.refreshToken)).status).toBe(200);
    expect(await who(first.accessToken)).toBe(200);
  });

  it('revokes every token of its sign-in, and no other, when it is reused later', async () => {
    const { app, first, refresh, who } = await signedIn();
    await app.clock.advance(60_000);
    const other = (await post(app, VERIFY, await codeFor(app, 'ada@example.com'))).body;
    const second = (await refresh(first.refreshToken)).body;
    await app.clock.advance(31_000);
    expect((await refresh(first.refreshToken)).status).toBe(401);
    expect((await refresh(second.refreshToken)).status).toBe(401);
    expect(await Promise.all([first, second].map(({ accessToken }) => who(accessToken)))).toEqual([401, 401]);
    expect(await who(other.accessToken)).toBe(200);
    expect((await refresh(other.refreshToken)).status).toBe(200);
  });

  it('has one successor after 20 parallel exchanges', async () => {
    const { app, first, refresh } = await signedIn();
    const answers = await times(20, () => refresh(first.refreshToken));
    expect(ok(answers)).toHaveLength(20);
    await app.clock.advance(31_000);
    const [one, two] = answers;
    expect((await refresh(one?.body.refreshToken)).status).toBe(200);
    expect((await refresh(two?.body.refreshToken)).status).toBe(200);
    await app.clock.advance(31_000);
    expect((await refresh(two?.body.refreshToken)).status).toBe(401);
  });

  it('of an earlier version works once', async () => {
    const { app, refresh } = await signedIn();
    const old = await app.services.tokens.sign({ id: app.user.id, tokenVersion: 0, typ: 'refresh' });
    expect((await refresh(old)).status).toBe(200);
    await app.clock.advance(31_000);
    expect((await refresh(old)).status).toBe(401);
    expect((await refresh(old)).status).toBe(401);
  });

  it('limits how long `identify` renews an access token', async () => {
    const { app, first, who } = await signedIn();
    let token = first.accessToken;
    const day = 86_400_000;
    for (let count = 0; count < 5; count += 1) {
      await app.clock.advance(6 * day);
      const answer = await app.ask('GET', '/api/identify', { credential: token ?? '' });
      token = ((await answer.json()) as SignInAnswer['body']).accessToken ?? token;
    }
    expect(await who(token)).toBe(401);
  });
});

describe('workspace with a setup code', () => {
  const setup = { settings: { setupCode: 'ABCD-EFGH-JKMN' } };

  it('gives its first account to the holder of the code, in any case and spacing', async () => {
    const app = await emptyApp(setup);
    const { pendingToken, ...rest } = await codeFor(app, 'x@example.com');
    const refused = await post(app, VERIFY, { ...rest, pendingToken, username: 'x' });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'REGISTRATION_CLOSED' } } });
    const made = await post(app, VERIFY, {
      ...rest,
      pendingToken: refused.body.pendingToken,
      username: 'x',
      inviteCode: 'abcd efgh jkmn',
    });
    expect(made).toMatchObject({ status: 200, body: { user: { isAdmin: true } } });
  });

  it('rejects the code as an invite for a second account', async () => {
    const app = await createTestApp(setup);
    const inviteCode = setup.settings.setupCode;
    const answer = await post(app, VERIFY, {
      ...(await codeFor(app, 'y@example.com')),
      username: 'y',
      inviteCode,
    });
    expect(answer.status).toBe(403);
  });
});

describe('sign-out', () => {
  it('revokes every token of the user at once', async () => {
    const app = await createTestApp();
    const { body } = await post(app, VERIFY, await codeFor(app, 'ada@example.com'));
    const credential = body.accessToken ?? '';
    const other = await app.token();
    expect((await app.ask('GET', '/api/v1/me', { credential })).status).toBe(200);
    await app.ask('GET', '/api/logout', { credential });
    for (const token of [credential, other]) {
      expect((await app.ask('GET', '/api/v1/me', { credential: token ?? '' })).status).toBe(401);
    }
    const refreshed = await post(app, '/api/auth/refreshToken', { token: body.refreshToken ?? '' });
    expect(refreshed.status).toBe(401);
  });
});

describe('workspace without a mailer', () => {
  it('leaves the sign-in paths to the host and accepts tokens of the host', async () => {
    const services = createServices({ ...createMemoryPorts(), models: [] }, { jwtSecret: 'a'.repeat(64) });
    const handle = toFetchHandler(createApi(services));
    for (const path of ['/api/otc/send', VERIFY, '/api/reg-invites/create']) {
      expect(await handle(new Request(`http://x${path}`, { method: 'POST' }))).toBeUndefined();
    }
    expect((await handle(new Request('http://x/api/identify')))?.status).toBe(401);
  });
});

/**
 * Records the collection, method and fields of every store call; the time of a request follows from these.
 */
function watched(store: Store, tell: (call: string) => void): Store {
  return {
    ...store,
    transaction: (work, options) => store.transaction((inner) => work(watched(inner, tell)), options),
    collection(definition) {
      const collection = store.collection(definition);
      const verbs = Object.entries(collection).map(([verb, run]) => [
        verb,
        (...args: unknown[]) => {
          const fields = args.map((one) => (typeof one === 'object' && one !== null ? Object.keys(one) : ''));
          tell(JSON.stringify([definition.name, verb, fields]));
          return (run as (...all: unknown[]) => unknown)(...args);
        },
      ]);
      return Object.fromEntries(verbs) as typeof collection;
    },
  };
}
