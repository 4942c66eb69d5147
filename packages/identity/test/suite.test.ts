import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostIdentity, IdentityRequest } from '@questline/core/ports';
import { betterAuthIdentity } from '@questline/identity/better-auth';
import { cookieSessionIdentity } from '@questline/identity/cookie-session';
import { jwksIdentity } from '@questline/identity/jwks';
import { trustedHeaderIdentity } from '@questline/identity/trusted-header';
import { createFakeClock, fakeTime, type IdentitySubject, identitySuite } from '@questline/testing';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const AUDIENCE = 'https://ai.example.com';
const SECRET = 's'.repeat(32);
const AWAY = 'the source is away';

function request(headers: IdentityRequest['headers'], remoteAddress = '192.0.2.1'): IdentityRequest {
  return { method: 'GET', path: '/', headers, remoteAddress, protocol: 'https' };
}

const time = () => fakeTime(createFakeClock());

async function createJwks(): Promise<IdentitySubject> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const other = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
  const server = createServer((_request, response) => void response.end(JSON.stringify({ keys })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let serial = 0;
  const sign = async (claims: object, key = privateKey): Promise<IdentityRequest> => {
    serial += 1;
    const token = await new SignJWT({ iss: issuer, aud: AUDIENCE, exp: 4e9, jti: `${serial}`, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(key);
    return request({ authorization: `Bearer ${token}` });
  };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
  };
  return {
    identity: jwksIdentity({ issuer, audience: AUDIENCE, jwksUrl: `${issuer}/jwks` }),
    signIn: (user) => sign({ sub: user }),
    anonymous: request({}),
    refused: [
      await sign({ sub: 'alice', exp: 1 }),
      await sign({ sub: 'alice', aud: 'https://other.example.com' }),
      await sign({ sub: 'alice' }, other.privateKey),
      await sign({}),
      request({ authorization: 'Bearer opaque' }),
      request({ authorization: 'Basic YWxpY2U6' }),
    ],
    breakDown: close,
    close,
    time: time(),
  };
}

async function createBetterAuth(): Promise<IdentitySubject> {
  const origin = 'https://app.example.com';
  const tables = { user: [], session: [], account: [], verification: [] };
  const auth = betterAuth({
    baseURL: origin,
    secret: SECRET,
    database: memoryAdapter(tables),
    emailAndPassword: {
      enabled: true,
      // The default hash is slow on purpose.
      password: { hash: async (text) => text, verify: async ({ hash, password }) => hash === password },
    },
    session: { cookieCache: { enabled: true, maxAge: 300 } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  });
  const post = (path: string, body: object, cookie = ''): Promise<Response> =>
    auth.handler(
      new Request(`${origin}/api/auth${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: origin, Cookie: cookie },
        body: JSON.stringify(body),
      }),
    );
  const toAccount = (name: string) => ({ name, email: `${name}@example.com`, password: 'correct horse' });
  for (const user of ['alice', 'bob']) await post('/sign-up/email', toAccount(user));
  const signIn = async (user: string): Promise<IdentityRequest> => {
    const answer = await post('/sign-in/email', toAccount(user));
    const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]);
    return request({ cookie: cookies.join('; ') });
  };
  const { cookie = '' } = (await signIn('alice')).headers;
  return {
    identity: betterAuthIdentity(auth),
    signIn,
    async signOut({ headers }) {
      await post('/sign-out', {}, String(headers.cookie));
    },
    anonymous: request({}),
    refused: [
      request({ cookie: 'better-auth.session_token=x' }),
      request({ cookie: '__Secure-better-auth.session_token=x.y' }),
      request({ cookie: String(cookie).replace(/=\w/, (first) => (first === '=x' ? '=y' : '=x')) }),
      request({ cookie: 'other=1' }),
    ],
    async breakDown() {
      Object.defineProperty(tables, 'session', {
        get: () => {
          throw new Error(AWAY);
        },
      });
    },
    time: time(),
  };
}

async function createCookieSession(): Promise<IdentitySubject> {
  const sessions = new Map<string, HostIdentity>();
  let isAway = false;
  const sign = (value: string, secret = SECRET): IdentityRequest => {
    const signature = createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '');
    return request({ cookie: `sid=${encodeURIComponent(`s:${value}.${signature}`)}` });
  };
  const getId = ({ headers }: IdentityRequest): string =>
    decodeURIComponent(String(headers.cookie)).slice('sid=s:'.length).split('.')[0] ?? '';
  return {
    identity: cookieSessionIdentity({
      cookie: 'sid',
      secrets: [SECRET],
      async find(id) {
        if (isAway) throw new Error(AWAY);
        return sessions.get(id);
      },
    }),
    async signIn(user) {
      const id = `session-${sessions.size}`;
      sessions.set(id, { externalId: user, email: `${user}@example.com` });
      return sign(id);
    },
    async signOut(ended) {
      sessions.delete(getId(ended));
    },
    anonymous: request({}),
    refused: [
      sign('session-unknown'),
      sign('session-0', 'x'.repeat(32)),
      request({ cookie: 'sid=session-0' }),
      request({ cookie: 'sid=%E0%A4%A' }),
    ],
    async breakDown() {
      isAway = true;
    },
    time: time(),
  };
}

async function createTrustedHeader(): Promise<IdentitySubject> {
  const header = 'x-forwarded-user';
  const toRequest = (user: string, from?: string) => request({ [header]: user }, from);
  return {
    identity: trustedHeaderIdentity({ header, trust: { addresses: ['10.0.0.0/8'] } }),
    signIn: async (user) => toRequest(user, '10.0.0.7'),
    anonymous: request({}, '10.0.0.7'),
    refused: [
      toRequest('alice'),
      toRequest('', '10.0.0.7'),
      request({ [header]: ['alice', 'bob'] }, '10.0.0.7'),
    ],
    time: time(),
  };
}

async function createTrustedSecret(): Promise<IdentitySubject> {
  const toRequest = (user: string, secret?: string) =>
    request({ 'x-user': user, ...(secret !== undefined && { 'x-proxy': secret }) });
  return {
    identity: trustedHeaderIdentity({ header: 'x-user', trust: { header: 'x-proxy', secret: SECRET } }),
    signIn: async (user) => toRequest(user, SECRET),
    anonymous: request({ 'x-proxy': SECRET }),
    refused: [toRequest('alice'), toRequest('alice', 'wrong'), toRequest('alice', SECRET.slice(1))],
    time: time(),
  };
}

identitySuite({ name: 'tokens of an issuer', create: createJwks });
identitySuite({ name: 'better-auth', create: createBetterAuth });
identitySuite({ name: 'signed cookies', create: createCookieSession });
identitySuite({ name: 'the header of a proxy, by its address', create: createTrustedHeader });
identitySuite({ name: 'the header of a proxy, by its secret', create: createTrustedSecret });
