import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import type { HostIdentity, Identity, IdentityRequest } from '../ports/identity.ts';
import { createHostCallers, DEFAULT_IDENTITY_SETTINGS, type HostAccount } from './host-callers.ts';

const UNAVAILABLE = {
  status: 503,
  message: 'Your sign-in could not be checked. Try again shortly.',
  applicationCode: 'INTERNAL_ERROR',
  headers: { 'Retry-After': '5' },
};

interface Options {
  readonly identity?: Partial<Identity>;
  readonly settings?: Partial<typeof DEFAULT_IDENTITY_SETTINGS>;
  readonly account?: Partial<HostAccount>;
}

function setUp({ identity, settings, account }: Options = {}) {
  const clock = createFakeClock();
  const asked: IdentityRequest[] = [];
  const found: HostIdentity[] = [];
  const callers = createHostCallers({
    identity: {
      async identify(request) {
        asked.push(request);
        return { externalId: 'ada' };
      },
      ...identity,
    },
    settings: { ...DEFAULT_IDENTITY_SETTINGS, ...settings },
    clock,
    async findAccount(one) {
      found.push(one);
      return { userId: 'u', isDisabled: false, modelLists: [], ...account };
    },
  });
  const ask = async (request?: Partial<IdentityRequest>, changes?: boolean) =>
    callers.identify({ ...REQUEST, ...request }, changes);
  return { clock, callers, asked, found, ask };
}

const REQUEST: IdentityRequest = {
  ...{ method: 'GET', path: '/p', headers: { cookie: 'c' }, remoteAddress: 'a', protocol: 'https' },
};

it('shows the host the identifying parts of a request only', async () => {
  const { asked, found, ask } = setUp({ account: { modelLists: [{ source: 'plan', models: ['p'] }] } });
  const request = { ...REQUEST, body: 'b', query: 'q' };
  expect(await ask(request)).toEqual({
    ...{ kind: 'token', userId: 'u', isAdmin: false, isFromHost: true },
    modelLists: [{ source: 'plan', models: ['p'] }],
  });
  expect(asked).toEqual([REQUEST]);
  expect(found).toEqual([{ externalId: 'ada' }]);
});

it('answers the same credential at once, before two seconds are over', async () => {
  const { clock, callers, asked, ask } = setUp();
  const caller = await ask();
  await clock.advance(1999);
  expect(callers.identify(REQUEST)).toBe(caller);
  await clock.advance(1);
  expect(callers.identify(REQUEST)).toBeInstanceOf(Promise);
  expect(asked).toHaveLength(2);
});

it('counts the time of an answer from its question on', async () => {
  let answer = (_identity: HostIdentity): void => undefined;
  const identify = () => new Promise<HostIdentity>((resolve) => (answer = resolve));
  const { clock, callers, ask } = setUp({ identity: { identify } });
  const asking = ask();
  await clock.advance(2000);
  answer({ externalId: 'ada' });
  await asking;
  expect(callers.identify(REQUEST)).toBeInstanceOf(Promise);
});

it('asks for each request with other parts, and once for parallel requests with the same', async () => {
  const { asked, ask } = setUp();
  await Promise.all([ask(), ask(), ask({ path: '/other' }), ask({ headers: {} })]);
  expect(asked.map(({ path, headers }) => [path, headers])).toEqual([
    ['/p', { cookie: 'c' }],
    ['/other', { cookie: 'c' }],
    ['/p', {}],
  ]);
});

it('asks again for a credential of the host only', async () => {
  const credential = ({ headers }: IdentityRequest) => headers.cookie as string | undefined;
  let asked = 0;
  const identify = async () => {
    asked += 1;
    return { externalId: 'ada' };
  };
  const { ask } = setUp({ identity: { credential, identify } });
  await ask();
  await ask({ path: '/other' });
  expect(asked).toBe(1);
  await ask({ headers: { cookie: 'd' } });
  expect(asked).toBe(2);
  // Without a credential: for each request.
  await ask({ headers: {} });
  await ask({ headers: {} });
  expect(asked).toBe(4);
});

it('asks for each request without a time to keep answers', async () => {
  const { asked, ask } = setUp({ settings: { cacheTtlMs: 0 } });
  await Promise.all([ask(), ask()]);
  await ask();
  expect(asked).toHaveLength(3);
});

it.each([undefined, null])('knows no caller after the answer %o, and asks again', async (answer) => {
  let asked = 0;
  const identify = async () => {
    asked += 1;
    return answer;
  };
  const { found, ask } = setUp({ identity: { identify } });
  expect(await ask()).toBeUndefined();
  expect(await ask()).toBeUndefined();
  expect(asked).toBe(2);
  expect(found).toEqual([]);
});

it('rejects disabled accounts', async () => {
  const { ask } = setUp({ account: { isDisabled: true } });
  const refusal = { status: 403, message: 'This account is disabled' };
  await expect(ask()).rejects.toMatchObject(refusal);
  await expect(ask()).rejects.toMatchObject(refusal);
});

it.each([
  ['fails', () => Promise.reject(new Error('down'))],
  [
    'throws',
    () => {
      throw new Error('down');
    },
  ],
  ['answers another shape', async () => ({}) as HostIdentity],
])('is unavailable when the host %s, and asks again', async (_, identify) => {
  let asked = 0;
  const { ask } = setUp({
    identity: {
      identify(...args: []) {
        asked += 1;
        return (identify as () => Promise<HostIdentity>)(...args);
      },
    },
  });
  await expect(ask()).rejects.toMatchObject({ ...UNAVAILABLE, cause: expect.any(Error) });
  await expect(ask()).rejects.toMatchObject(UNAVAILABLE);
  expect(asked).toBe(2);
});

it('is unavailable when the host does not answer within five seconds', async () => {
  let signal: AbortSignal | undefined;
  const identify: Identity['identify'] = (_request, options) => {
    signal = options?.signal;
    return new Promise(() => undefined);
  };
  const { clock, ask } = setUp({ identity: { identify } });
  const asking = ask();
  const refused = asking.catch((error: unknown) => error);
  await clock.advance(4999);
  expect(signal?.aborted).toBe(false);
  await clock.advance(1);
  expect(signal?.aborted).toBe(true);
  const cause = new Error('identity.identify: no answer within 5000 ms');
  expect(await refused).toMatchObject({ ...UNAVAILABLE, cause });
});

it('is unavailable when the credential cannot be read', async () => {
  const cause = new Error('no cookie');
  const { callers } = setUp({
    identity: {
      credential() {
        throw cause;
      },
    },
  });
  expect(() => callers.identify(REQUEST)).toThrow(expect.objectContaining({ ...UNAVAILABLE, cause }));
});

it('rejects changing requests of other sites', async () => {
  const { asked, ask } = setUp({ settings: { allowedOrigins: ['https://app.example.com'] } });
  const cross = { headers: { cookie: 'c', origin: 'https://evil.example.com', host: 'api.example.com' } };
  const refusal = { status: 403, message: 'Requests from other sites are not accepted' };
  await expect(ask({ ...cross, method: 'POST' })).rejects.toMatchObject(refusal);
  await expect(ask(cross, true)).rejects.toMatchObject(refusal);
  expect(asked).toEqual([]);
  expect(await ask(cross)).toBeDefined();
  expect(await ask({ ...cross, method: 'POST' }, false)).toBeDefined();
  const allowed = { headers: { ...cross.headers, origin: 'https://app.example.com' } };
  expect(await ask({ ...allowed, method: 'POST' })).toBeDefined();
});

it('forgets the answers of a user, and of no other', async () => {
  const { clock, callers, ask } = setUp();
  await ask();
  callers.forgetUser('v');
  expect(callers.identify(REQUEST)).not.toBeInstanceOf(Promise);
  callers.forgetUser('u');
  expect(callers.identify(REQUEST)).toBeInstanceOf(Promise);
  await clock.advance(0);
});

it('neither keeps nor shares an answer that was asked for before its user was forgotten', async () => {
  const answers: ((identity: HostIdentity) => void)[] = [];
  const identify = () => new Promise<HostIdentity>((resolve) => answers.push(resolve));
  const { clock, callers, ask } = setUp({ identity: { identify } });
  const first = ask();
  callers.forgetUser('u');
  const second = ask();
  await clock.advance(0);
  expect(answers).toHaveLength(2);
  answers[0]?.({ externalId: 'ada' });
  await first;
  // The later question still runs, and is shared.
  const third = ask();
  await clock.advance(0);
  expect(answers).toHaveLength(2);
  answers[1]?.({ externalId: 'ada' });
  expect(await second).toBe(await third);
  expect(callers.identify(REQUEST)).toBe(await second);
});
