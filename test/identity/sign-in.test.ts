import {
  createApi,
  createServices,
  REGISTRATION_INVITES,
  type Store,
  toFetchHandler,
  USERS,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { adminToken, codeFor, post, type SignInAnswer } from '../support/sign-in.ts';
import { createWorld, type World } from '../support/world.ts';

const VERIFY = '/api/otc/verify';

const OPEN = { settings: { admin: { allowOpenRegistration: true } } };

/** A world before anybody came. */
async function emptyWorld(options: Parameters<typeof createWorld>[0] = {}): Promise<World> {
  const world = await createWorld(options);
  await world.services.store.collection(USERS).take(world.user.id);
  return world;
}

function times<T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => make(at)));
}

const ok = (answers: readonly SignInAnswer[]) => answers.filter(({ status }) => status === 200);

/** Codes for so many people, each from an address of their own. */
const codes = (world: World, count: number) =>
  times(count, (at) => codeFor(world, `p${at}@example.com`, `10.0.0.${at}`));

describe('the first account', () => {
  it.each([
    ['open', OPEN, 50],
    ['closed', {}, 1],
  ])('is one administrator of 50 parallel ones, registration being %s', async (_, options, accounts) => {
    const world = await emptyWorld(options);
    const all = await codes(world, 50);
    const answers = await times(50, (at) =>
      post(world, VERIFY, { ...all[at], username: `p${at}` }, `10.0.0.${at}`),
    );
    expect(ok(answers)).toHaveLength(accounts);
    expect(ok(answers).filter(({ body }) => body.user?.isAdmin === true)).toHaveLength(1);
    const users = await world.services.store.collection(USERS).find({});
    expect(users).toHaveLength(accounts);
    expect(users.filter(({ isAdmin }) => isAdmin)).toHaveLength(1);
  });

  it('is no administrator where the host has made accounts', async () => {
    const world = await createWorld(OPEN);
    const { body } = await post(world, VERIFY, { ...(await codeFor(world, 'x@example.com')), username: 'x' });
    expect(body.user?.isAdmin).toBe(false);
  });
});

describe('an invite', () => {
  async function invites(world: World, wish: object): Promise<{ _id: string; code: string }[]> {
    const credential = await adminToken(world);
    const answer = await world.ask('POST', '/api/reg-invites/create', { credential, body: wish });
    return ((await answer.json()) as { invites: { _id: string; code: string }[] }).invites;
  }

  it('for one use makes one account, used 20 times in parallel, and leaves the others a way to go on', async () => {
    const world = await createWorld();
    const [invite] = await invites(world, { multiple: 1, startingCredits: 12.5 });
    const all = await codes(world, 20);
    const answers = await times(20, (at) =>
      post(world, VERIFY, { ...all[at], username: 'x', inviteCode: invite?.code }, `10.0.0.${at}`),
    );
    const [made] = ok(answers);
    expect(ok(answers)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(19);
    expect(refused.every(({ body }) => body.error?.code === 'REGISTRATION_CLOSED')).toBe(true);
    expect(await world.services.store.collection(USERS).count({})).toBe(2);
    const { available } = await world.ledger.balance(`user:${made?.body.user?._id}`);
    expect(available).toBe(12_500_000);

    const loser = answers.findIndex(({ status }) => status === 403);
    const [second] = await invites(world, { multiple: 1 });
    const again = { ...all[loser], pendingToken: answers[loser]?.body.pendingToken };
    const late = await post(world, VERIFY, { ...again, username: 'x', inviteCode: second?.code });
    expect(late.status).toBe(200);
  });

  it('for any number of uses ends when it is deleted', async () => {
    const world = await createWorld();
    const [invite] = await invites(world, { multiple: 1, unlimitedUse: true });
    const use = async (email: string) =>
      post(world, VERIFY, { ...(await codeFor(world, email)), username: 'x', inviteCode: invite?.code });
    expect((await use('a@example.com')).status).toBe(200);
    expect((await use('b@example.com')).status).toBe(200);
    const credential = await adminToken(world);
    await world.ask('POST', '/api/reg-invites/delete', { credential, body: { ids: [invite?._id] } });
    expect((await use('c@example.com')).status).toBe(403);
  });

  const listed = async (world: World): Promise<unknown> => {
    const answer = await world.ask('GET', '/api/reg-invites', { credential: await adminToken(world) });
    return ((await answer.json()) as { invites: { code: unknown }[] }).invites.map(({ code }) => code);
  };

  it('is shown to administrators again, and stands in the store only hashed and encrypted', async () => {
    const world = await createWorld();
    const [first, second] = await invites(world, { multiple: 2 });
    expect(await listed(world)).toEqual([second?.code, first?.code]);
    const records = await world.services.store.collection(REGISTRATION_INVITES).find({});
    const stored = JSON.stringify(records);
    for (const invite of [first, second]) expect(stored).not.toContain(invite?.code);
    // Each is bound to its own record.
    const [one, other] = records;
    await world.services.store
      .collection(REGISTRATION_INVITES)
      .update(one?.id ?? '', { sealedCode: other?.sealedCode });
    expect(await listed(world)).toEqual([second?.code, null]);
  });

  it('is shown once where there is nothing to encrypt it with', async () => {
    const world = await createWorld({ services: ({ secretBox: _, ...services }) => services });
    const [invite] = await invites(world, { multiple: 1 });
    expect(await listed(world)).toEqual([null]);
    const body = { ...(await codeFor(world, 'x@example.com')), username: 'x', inviteCode: invite?.code };
    expect((await post(world, VERIFY, body)).status).toBe(200);
  });

  it('that an earlier version kept in clear works on, and is in clear no more once the service has started', async () => {
    const world = await createWorld();
    const kept = world.services.store.collection(REGISTRATION_INVITES);
    for (const at of [1, 2]) {
      const id = String(at).repeat(24);
      const facts = { usesLeft: 1, startingCredits: 0, createdBy: 'earlier', createdAt: at };
      await kept.insert({ id, code: `clear-${at}`, ...facts });
    }
    const use = async (code: string, email: string) =>
      post(world, VERIFY, { ...(await codeFor(world, email)), username: 'x', inviteCode: code });
    expect(await listed(world)).toEqual(['clear-2', 'clear-1']);
    expect((await use('clear-1', 'a@example.com')).status).toBe(200);
    await world.api.start();
    await world.settle();
    expect(JSON.stringify(await kept.find({}))).not.toContain('clear-');
    expect(await listed(world)).toEqual(['clear-2', 'clear-1']);
    expect((await use('clear-1', 'b@example.com')).status).toBe(403);
    expect((await use('clear-2', 'c@example.com')).status).toBe(200);
    await world.api.close();
  });
});

describe('a code', () => {
  it('the right one, sent 50 times in parallel, signs in once', async () => {
    const world = await createWorld();
    const body = await codeFor(world, 'ada@example.com');
    const answers = await times(50, (at) => post(world, VERIFY, body, `10.0.0.${at}`));
    expect(ok(answers)).toHaveLength(1);
    expect((await post(world, VERIFY, body, '10.0.1.0')).body.error?.code).toBe('INVALID_CODE');
  });

  it('of 200 parallel wrong tries with one token one counts, with every token they hand out five', async () => {
    const world = await createWorld();
    const right = await codeFor(world, 'ada@example.com');
    const wrong = { ...right, code: 'wrong' };
    let counted = 0;
    let { pendingToken } = right;
    const rounds: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const body = { ...wrong, pendingToken };
      const answers = await times(200, (at) => post(world, VERIFY, body, `10.${round}.0.${at}`));
      const looked = answers.filter((answer) => answer.body.error?.details !== undefined);
      rounds.push(looked.length);
      counted += looked.length;
      pendingToken = looked[0]?.body.pendingToken ?? pendingToken;
    }
    expect(counted).toBe(5);
    expect(rounds).toEqual([1, 1, 1, 1, 1, 0]);
    // After five, the right one is too late.
    expect((await post(world, VERIFY, { ...right, pendingToken }, '10.9.0.0')).status).toBe(422);
  });

  it('is looked at ten times in a quarter of an hour for one client address, of 200 in parallel', async () => {
    const world = await createWorld();
    const body = { ...(await codeFor(world, 'ada@example.com')), code: 'wrong' };
    const answers = await times(200, () => post(world, VERIFY, body, '10.0.0.1'));
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(190);
  });

  it('is mailed five times from one address, once to one recipient, of 50 in parallel', async () => {
    const world = await createWorld();
    await times(50, (at) => post(world, '/api/otc/send', { email: `p${at}@example.com` }, '10.0.0.1'));
    expect(world.mails).toHaveLength(5);
    await times(50, (at) => post(world, '/api/otc/send', { email: 'one@example.com' }, `10.0.1.${at}`));
    expect(world.mails.filter(({ to }) => to === 'one@example.com')).toHaveLength(1);
  });

  it('is mailed as often to all addresses of one IPv6 network as to one of IPv4, however they are written', async () => {
    const world = await createWorld();
    const ask = async (from: string) => {
      await post(world, '/api/otc/send', { email: `p${world.mails.length}@example.com` }, from);
      return world.mails.length;
    };
    const network = ['2001:db8::1', '2001:DB8:0:0:ffff::2', '2001:0db8::', '2001:db8:0:0:0:0:0:9%eth0'];
    for (const from of [...network, ...network]) await ask(from);
    expect(world.mails).toHaveLength(5);
    for (const from of ['2001:db8:0:1::1', '2001:db8:1::1', '::1', '192.0.2.7']) await ask(from);
    expect(world.mails).toHaveLength(9);
    for (let count = 0; count < 9; count += 1) await ask('::ffff:192.0.2.7');
    expect(world.mails).toHaveLength(13);
  });

  it('is asked for alike by known, unknown and disabled addresses, and costs the same work', async () => {
    let work: string[] = [];
    const world = await createWorld({ store: (store) => watched(store, (call) => work.push(call)) });
    const banned = await world.addUser('banned@example.com');
    await world.services.store.collection(USERS).update(banned.id, { disabled: true });
    const shapes = [];
    for (const email of ['ada@example.com', 'nobody@example.com', 'banned@example.com']) {
      work = [];
      const sent = await post(world, '/api/otc/send', { email });
      const wrong = { email, code: 'wrong', pendingToken: sent.body.pendingToken };
      const tried = await post(world, VERIFY, wrong);
      shapes.push({
        sent: [sent.status, Object.keys(sent.body), sent.body.pendingToken?.length],
        tried: [tried.status, Object.keys(tried.body), tried.body.error],
        work,
      });
    }
    expect(world.mails).toHaveLength(3);
    expect(shapes[0]?.work.length).toBeGreaterThan(0);
    expect(shapes[1]).toEqual(shapes[0]);
    expect(shapes[2]).toEqual(shapes[0]);
  });

  it('reaches its reader by name of the app, as text and as HTML, without a link', async () => {
    const world = await createWorld({ settings: { appName: 'A & <B>' } });
    const { code } = await codeFor(world, 'ada@example.com');
    const [mail] = world.mails;
    expect(code).toMatch(/^\d{6}$/);
    expect(mail?.to).toBe('ada@example.com');
    expect(mail?.text).toContain(`Your code for A & <B> is ${code}.`);
    expect(mail?.html).toContain('A &amp; &lt;B&gt;');
    expect(mail?.html).toContain(code);
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/https?:|href/);
  });

  it('is signed with the session secret, and so are links to files; tokens are not', async () => {
    const world = await createWorld({ settings: { sessionSecret: 'c'.repeat(64) } });
    const { store, ledger, limiter, mailer, clock, ids } = world.services;
    const elsewhere = (sessionSecret: string) =>
      createServices(
        { store, ledger, limiter, clock, ids, models: [], ...(mailer && { mailer }) },
        { jwtSecret: 'a'.repeat(64), sessionSecret },
      );
    const body = await codeFor(world, 'ada@example.com');
    const terms = { expiresAt: world.clock.now() + 60_000 };
    const link = await world.services.objectLinks.get('films/1', terms, '');
    const token = await world.token();
    for (const [secret, isSame] of [
      ['d', false],
      ['c', true],
    ] as const) {
      const services = elsewhere(secret.repeat(64));
      const query = new URL(link ?? '', 'http://x').searchParams;
      expect(services.objectLinks.verify('get', query, world.clock.now()) !== undefined).toBe(isSame);
      expect((await services.authenticator.identify(token)).userId).toBe(world.user.id);
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

  it('lets somebody new go on with the token of the answer, and no other', async () => {
    const world = await createWorld(OPEN);
    const body = await codeFor(world, 'new@example.com');
    const asked = await post(world, VERIFY, body);
    expect(asked.body.registrationRequired).toBe(true);
    expect((await post(world, VERIFY, { ...body, username: 'x' })).status).toBe(422);
    const { pendingToken } = asked.body;
    expect((await post(world, VERIFY, { ...body, pendingToken, username: 'x' })).status).toBe(200);
  });
});

describe('signing out', () => {
  it('ends every token of the user at once', async () => {
    const world = await createWorld();
    const { body } = await post(world, VERIFY, await codeFor(world, 'ada@example.com'));
    const credential = body.accessToken ?? '';
    const other = await world.token();
    expect((await world.ask('GET', '/api/v1/me', { credential })).status).toBe(200);
    await world.ask('GET', '/api/logout', { credential });
    for (const token of [credential, other]) {
      expect((await world.ask('GET', '/api/v1/me', { credential: token })).status).toBe(401);
    }
    const refreshed = await post(world, '/api/auth/refreshToken', { token: body.refreshToken ?? '' });
    expect(refreshed.status).toBe(401);
  });
});

describe('without a mailer', () => {
  it('the paths of sign-in are the host’s, and tokens the host gives out still count', async () => {
    const services = createServices({ ...createMemoryPorts(), models: [] }, { jwtSecret: 'a'.repeat(64) });
    const handle = toFetchHandler(createApi(services));
    for (const path of ['/api/otc/send', VERIFY, '/api/reg-invites/create']) {
      expect(await handle(new Request(`http://x${path}`, { method: 'POST' }))).toBeUndefined();
    }
    expect((await handle(new Request('http://x/api/identify')))?.status).toBe(401);
  });
});

/** Tells every call of the store: where, what, and by which fields. How long it takes follows from these. */
function watched(store: Store, tell: (call: string) => void): Store {
  return {
    ...store,
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
