import { createHmac } from 'node:crypto';
import type { IdentityRequest } from '@questline/core/ports';
import { cookieSessionIdentity, trustedHeaderIdentity } from '@questline/identity';
import { describe, expect, it } from 'vitest';

const SECRET = 's'.repeat(32);

function request(headers: IdentityRequest['headers'], remoteAddress?: string): IdentityRequest {
  return { method: 'GET', path: '/', headers, remoteAddress, protocol: 'http' };
}

function sign(value: string, secret = SECRET): string {
  const signature = createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '');
  return `${value}.${signature}`;
}

describe('cookieSessionIdentity', () => {
  const identity = cookieSessionIdentity({
    cookie: 'sid',
    secrets: [SECRET, 'previous-secret-of-the-host'],
    find: async (value) => ({ externalId: value }),
  });
  const ask = (cookie: string) => identity.identify(request({ cookie }));

  it.each([
    ['as express-session writes it', `sid=${encodeURIComponent(`s:${sign('abc')}`)}`, 'abc'],
    ['without the mark of Express', `sid=${encodeURIComponent(sign('abc'))}`, 'abc'],
    ['in quotes, between others', `a=1; sid="${encodeURIComponent(sign('abc'))}"; b=2`, 'abc'],
    ['with points in its value', `sid=${encodeURIComponent(`s:${sign('a.b.c')}`)}`, 'a.b.c'],
    [
      'signed with an earlier secret',
      `sid=${encodeURIComponent(sign('abc', 'previous-secret-of-the-host'))}`,
      'abc',
    ],
    [
      'twice with one value',
      `sid=${encodeURIComponent(sign('abc'))}; sid=${encodeURIComponent(sign('abc'))}`,
      'abc',
    ],
  ])('accepts a cookie %s', async (_title, cookie, id) => {
    expect(await ask(cookie)).toEqual({ externalId: id });
  });

  it.each([
    ['without a signature', 'sid=abc'],
    ['with an empty signature', 'sid=abc.'],
    ['with the signature of another value', `sid=${sign('abc').replace('abc', 'abd')}`],
    ['with another secret', `sid=${encodeURIComponent(sign('abc', 'x'.repeat(32)))}`],
    ['with a shortened signature', `sid=${encodeURIComponent(sign('abc').slice(0, -1))}`],
    ['of another name', `sid2=${encodeURIComponent(sign('abc'))}`],
    [
      'that stands twice with two values',
      `sid=${encodeURIComponent(sign('abc'))}; sid=${encodeURIComponent(sign('abd'))}`,
    ],
    ['that cannot be decoded', 'sid=%E0%A4%A'],
  ])('ignores a cookie %s', async (_title, cookie) => {
    expect(await ask(cookie)).toBeUndefined();
    expect(identity.credential?.(request({ cookie }))).toBeUndefined();
  });

  it('rejects options without security', () => {
    const find = async () => undefined;
    expect(() => cookieSessionIdentity({ cookie: 'sid', secrets: [], find })).toThrow(RangeError);
    expect(() => cookieSessionIdentity({ cookie: 'sid', secrets: ['short'], find })).toThrow(RangeError);
    expect(() => cookieSessionIdentity({ cookie: '', secrets: [SECRET], find })).toThrow(RangeError);
  });
});

describe('trustedHeaderIdentity', () => {
  const byAddress = trustedHeaderIdentity({
    header: 'X-Forwarded-User',
    emailHeader: 'X-Forwarded-Email',
    trust: { addresses: ['10.0.0.0/8', '::1', '192.0.2.1'] },
  });
  const bySecret = trustedHeaderIdentity({ header: 'x-user', trust: { header: 'X-Proxy', secret: SECRET } });

  it.each(['10.1.2.3', '::1', '192.0.2.1', '::ffff:10.1.2.3'])(
    'accepts the header of the proxy at %s',
    async (from) => {
      const headers = { 'x-forwarded-user': 'alice', 'x-forwarded-email': 'a@example.com' };
      expect(await byAddress.identify(request(headers, from))).toEqual({
        externalId: 'alice',
        email: 'a@example.com',
      });
    },
  );

  it.each(['11.0.0.1', '192.0.2.2', '::2', undefined, 'nonsense'])(
    'ignores the header of %s',
    async (from) => {
      expect(await byAddress.identify(request({ 'x-forwarded-user': 'alice' }, from))).toBeUndefined();
      expect(byAddress.credential?.(request({ 'x-forwarded-user': 'alice' }, from))).toBeUndefined();
    },
  );

  it('accepts the header with the secret of the proxy only', async () => {
    const answers = await Promise.all(
      [SECRET, 'wrong', '', undefined, [SECRET, SECRET]].map((secret) =>
        bySecret.identify(request({ 'x-user': 'alice', 'x-proxy': secret })),
      ),
    );
    expect(answers).toEqual([{ externalId: 'alice' }, undefined, undefined, undefined, undefined]);
    expect(await bySecret.identify(request({ 'x-proxy': SECRET }))).toBeUndefined();
    expect(await bySecret.identify(request({ 'x-proxy': SECRET, 'x-user': ['a', 'b'] }))).toBeUndefined();
  });

  it('returns separate answers for two users', () => {
    const keys = ['alice', 'bob'].map((user) =>
      bySecret.credential?.(request({ 'x-user': user, 'x-proxy': SECRET })),
    );
    expect(new Set(keys).size).toBe(2);
  });

  it('rejects options without security', () => {
    for (const addresses of [[], ['10.0.0.0/33'], ['all'], ['10.0.0.0/'], ['::/129']]) {
      expect(() => trustedHeaderIdentity({ header: 'x', trust: { addresses } })).toThrow(RangeError);
    }
    expect(() => trustedHeaderIdentity({ header: 'x', trust: { header: 'y', secret: 'short' } })).toThrow(
      RangeError,
    );
  });
});
