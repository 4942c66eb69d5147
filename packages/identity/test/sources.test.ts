import { createHmac } from 'node:crypto';
import type { IdentityRequest } from '@questline/core/ports';
import { betterAuthIdentity, cookieSessionIdentity, trustedHeaderIdentity } from '@questline/identity';
import { describe, expect, it, vi } from 'vitest';

const SECRET = 's'.repeat(16);

function request(headers: IdentityRequest['headers'], remoteAddress?: string): IdentityRequest {
  return { method: 'GET', path: '/', headers, remoteAddress, protocol: 'https' };
}

describe('betterAuthIdentity', () => {
  const USER = { id: 'u-1', email: 'ada@example.com', emailVerified: true, name: 'Ada' };

  function open(user: typeof USER | undefined, options?: Parameters<typeof betterAuthIdentity>[1]) {
    const getSession = vi.fn(async (_input: { readonly headers: Headers; readonly query: object }) =>
      user === undefined ? null : { user, roles: ['admin'] },
    );
    return { getSession, identity: betterAuthIdentity({ api: { getSession } }, options) };
  }

  it('gives the id, the name and the verified address of the user', async () => {
    const { identity } = open(USER);
    expect(await identity.identify(request({ cookie: 'a=1' }))).toEqual({
      externalId: 'u-1',
      name: 'Ada',
      email: 'ada@example.com',
    });
  });

  it('leaves out an address that is not verified', async () => {
    const { identity } = open({ ...USER, emailVerified: false });
    expect(await identity.identify(request({ cookie: 'a=1' }))).toEqual({ externalId: 'u-1', name: 'Ada' });
  });

  it('adds what the host makes of the session', async () => {
    const { identity } = open(USER, { toIdentity: ({ user }) => ({ externalId: `app|${user.id}` }) });
    expect(await identity.identify(request({ cookie: 'a=1' }))).toMatchObject({
      externalId: 'app|u-1',
      name: 'Ada',
    });
  });

  it('passes on the credentials alone, and reads neither the cache nor renews the session', async () => {
    const { identity, getSession } = open(undefined);
    const headers = { cookie: 'a=1', authorization: 'Bearer b', 'x-forwarded-user': 'root' };
    expect(await identity.identify(request(headers))).toBeUndefined();
    const [input] = getSession.mock.calls[0] ?? [];
    expect(Object.fromEntries(input?.headers ?? [])).toEqual({ cookie: 'a=1', authorization: 'Bearer b' });
    expect(input?.query).toEqual({ disableCookieCache: true, disableRefresh: true });
  });

  it('asks for no session without credentials', async () => {
    const { identity, getSession } = open(USER);
    expect(await identity.identify(request({ other: 'a' }))).toBeUndefined();
    expect(getSession).not.toHaveBeenCalled();
  });

  it('has other keys for other credentials', () => {
    const { identity } = open(USER);
    const keys = [{ cookie: 'a' }, { cookie: 'b' }, { authorization: 'a' }, {}].map((headers) =>
      identity.credential?.(request(headers)),
    );
    expect(new Set(keys).size).toBe(4);
  });
});

describe('cookieSessionIdentity', () => {
  const find = async (value: string) => ({ externalId: value });
  const sign = (value: string) =>
    encodeURIComponent(
      `${value}.${createHmac('sha256', SECRET).update(value).digest('base64').replace(/=+$/, '')}`,
    );

  it('has the signed value as its key', () => {
    const identity = cookieSessionIdentity({ cookie: 'sid', secrets: [SECRET], find });
    expect(identity.credential?.(request({ cookie: `sid=${sign('abc')}` }))).toBe('abc');
  });

  it('gives an empty value with its signature to the host', async () => {
    const identity = cookieSessionIdentity({ cookie: 'sid', secrets: [SECRET], find });
    expect(await identity.identify(request({ cookie: `sid=${sign('')}` }))).toEqual({ externalId: '' });
  });

  it('refuses a short secret beside a long one', () => {
    const secrets = [SECRET, SECRET.slice(1)];
    expect(() => cookieSessionIdentity({ cookie: 'sid', secrets, find })).toThrow(
      new RangeError('secrets: expected at least one, of 16 characters or more each'),
    );
  });
});

describe('trustedHeaderIdentity', () => {
  const asked = (addresses: string[], from: string) =>
    trustedHeaderIdentity({ header: 'x-user', trust: { addresses } }).identify(
      request({ 'x-user': 'ada' }, from),
    );

  it.each([
    ['10.0.0.1/32', '10.0.0.1', true],
    ['10.0.0.1/32', '10.0.0.2', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['2001:db8::/32', '2001:db8:7::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::1/128', '2001:db8::1', true],
    ['2001:db8::1/128', '2001:db8::2', false],
    ['2001:db8::1', '2001:db8::1', true],
    ['2001:db8::1', '10.0.0.1', false],
    ['0.0.0.0/0', '2001:db8::1', false],
  ])('trusts %s, and a request of %s: %s', async (address, from, isTrusted) => {
    expect(await asked([address], from)).toEqual(isTrusted ? { externalId: 'ada' } : undefined);
  });

  it.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/+8', '10.0.0.0/8.0', 'all', ''])(
    'refuses the range %j with a reason',
    (range) => {
      expect(() => trustedHeaderIdentity({ header: 'x', trust: { addresses: [range] } })).toThrow(
        new RangeError(`trust.addresses: expected an address or CIDR range, got ${JSON.stringify(range)}`),
      );
    },
  );

  it('refuses to be without a header or an address', () => {
    const trust = { addresses: ['10.0.0.1'] };
    const secret = { header: '', secret: SECRET };
    expect(() => trustedHeaderIdentity({ header: '', trust })).toThrow(
      new RangeError('header: expected the name of the header'),
    );
    expect(() => trustedHeaderIdentity({ header: 'x', trust: secret })).toThrow(
      new RangeError('trust: expected a header and a secret of 16 characters or more'),
    );
    expect(() => trustedHeaderIdentity({ header: 'x', trust: { addresses: [] } })).toThrow(
      new RangeError('trust.addresses: expected at least one address'),
    );
  });

  const OPTIONS = {
    header: 'X-User',
    emailHeader: 'X-Email',
    nameHeader: 'X-Name',
    trust: { header: 'X-Proxy', secret: SECRET },
  };
  const HEADERS = { 'x-proxy': SECRET, 'x-user': ['ada'], 'x-email': 'ada@example.com', 'x-name': 'Ada' };

  it('reads the id, the address and the name of a request with the secret', async () => {
    expect(await trustedHeaderIdentity(OPTIONS).identify(request(HEADERS))).toEqual({
      externalId: 'ada',
      email: 'ada@example.com',
      name: 'Ada',
    });
  });

  it.each([undefined, '', ['a', 'b']])('leaves out an address and a name of %j', async (value) => {
    const headers = { ...HEADERS, 'x-email': value, 'x-name': value };
    expect(await trustedHeaderIdentity(OPTIONS).identify(request(headers))).toEqual({ externalId: 'ada' });
  });

  it('is what the host makes of a request that is trusted, without a key', async () => {
    const toIdentity = vi.fn((found: object) => ({ ...found, externalId: 'app|ada' }));
    const identity = trustedHeaderIdentity({ ...OPTIONS, toIdentity });
    expect(identity.credential).toBeUndefined();
    expect(await identity.identify(request(HEADERS))).toMatchObject({ externalId: 'app|ada', name: 'Ada' });
    expect(await identity.identify(request({ ...HEADERS, 'x-proxy': 'other' }))).toBeUndefined();
    expect(toIdentity).toHaveBeenCalledOnce();
  });

  it('has other keys for other users', () => {
    const identity = trustedHeaderIdentity(OPTIONS);
    const keys = ['ada', 'bob'].map((user) => identity.credential?.(request({ ...HEADERS, 'x-user': user })));
    expect(keys[0]).toContain('ada');
    expect(keys[1]).toContain('bob');
  });
});
