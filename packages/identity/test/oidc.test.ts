import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwksIdentity } from '@questline/identity/jwks';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const AUDIENCE = 'https://ai.example.com';

/** An OpenID Connect issuer that issues signed access tokens to its client. */
async function startIssuer() {
  let handle: ((request: never, response: never) => unknown) | undefined;
  let fetches = 0;
  const server = createServer((request, response) => {
    if (request.url === '/jwks') fetches += 1;
    handle?.(request as never, response as never);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'program',
        client_secret: 'secret-of-the-program',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    jwks: { keys: [key as never] },
    cookies: { keys: ['k'.repeat(32)] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, audience) => ({
          scope: 'ai',
          audience,
          accessTokenTTL: 60,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  handle = provider.callback() as never;
  const issue = async (audience = AUDIENCE): Promise<string> => {
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from('program:secret-of-the-program').toString('base64')}`,
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience, scope: 'ai' }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  /** A token of the same issuer, signed with its key unless another is given. */
  const sign = (claims: object, { key: signer = privateKey, alg = 'RS256', kid = 'one' } = {}) =>
    new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 'user-1', exp: 4e9, ...claims })
      .setProtectedHeader({ alg, kid })
      .sign(signer);
  return { server, issuer, issue, sign, fetches: () => fetches };
}

describe('jwksIdentity with an OpenID Connect issuer', () => {
  let at: Awaited<ReturnType<typeof startIssuer>>;
  beforeAll(async () => {
    at = await startIssuer();
  });
  afterAll(() => void (at.server as Server).close());

  const ask = (
    token: string,
    options: Partial<Parameters<typeof jwksIdentity>[0]> = {},
    identity = jwksIdentity({ issuer: at.issuer, audience: AUDIENCE, ...options }),
  ) =>
    identity.identify({
      method: 'GET',
      path: '/',
      headers: { authorization: `Bearer ${token}` },
      remoteAddress: undefined,
      protocol: 'http',
    });

  it('identifies the subject of a token, with keys from its configuration or a given address', async () => {
    const token = await at.issue();
    expect(await ask(token)).toEqual({ externalId: 'program' });
    expect(await ask(token, { jwksUrl: `${at.issuer}/jwks` })).toEqual({ externalId: 'program' });
  });

  it('fetches the keys once, also for tokens with unknown keys', async () => {
    const identity = jwksIdentity({ issuer: at.issuer, audience: AUDIENCE, jwksUrl: `${at.issuer}/jwks` });
    const before = at.fetches();
    for (let call = 0; call < 5; call += 1) await ask(await at.sign({}, { kid: `k${call}` }), {}, identity);
    expect(await ask(await at.sign({}), {}, identity)).toEqual({ externalId: 'user-1' });
    expect(at.fetches() - before).toBe(1);
  });

  it('maps claims: an address only if it is verified', async () => {
    const claims = { name: 'Alice', email: 'a@example.com' };
    expect(await ask(await at.sign(claims))).toEqual({ externalId: 'user-1', name: 'Alice' });
    expect(await ask(await at.sign({ ...claims, email_verified: true }))).toEqual({
      externalId: 'user-1',
      ...claims,
    });
    const toIdentity = ({ iss, sub, groups }: { iss?: string; sub?: string; groups?: unknown }) => ({
      externalId: `${iss}|${sub}`,
      roles: groups as string[],
    });
    expect(await ask(await at.sign({ groups: ['admin'] }), { toIdentity: toIdentity as never })).toEqual({
      externalId: `${at.issuer}|user-1`,
      roles: ['admin'],
    });
  });

  it('rejects tokens for others, expired, unsigned, forged or without a subject', async () => {
    const other = await generateKeyPair('RS256');
    const [head = '', body = ''] = (await at.sign({})).split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const tokens = [
      await at.issue('https://other.example.com'),
      await at.sign({ aud: 'https://other.example.com' }),
      await at.sign({ iss: 'https://other.example.com' }),
      await at.sign({ exp: 1 }),
      await at.sign({ exp: undefined }),
      await at.sign({ nbf: 4e9 }),
      await at.sign({ sub: undefined }),
      await at.sign({}, { key: other.privateKey }),
      await at.sign({}, { kid: 'unknown' }),
      await new SignJWT({ iss: at.issuer, aud: AUDIENCE, sub: 'x', exp: 4e9 })
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(new TextEncoder().encode('s'.repeat(32))),
      `${none}.${body}.`,
      `${head}.${body}.AAAA`,
      'opaque',
    ];
    const answers = await Promise.all(tokens.map((token) => ask(token)));
    expect(answers).toEqual(tokens.map(() => undefined));
  });

  it('rejects while the issuer does not answer, so that the request fails closed', async () => {
    await expect(ask(await at.sign({}), { jwksUrl: 'http://127.0.0.1:9/jwks' })).rejects.toThrow();
    await expect(ask(await at.sign({}), { issuer: 'http://127.0.0.1:9' })).rejects.toThrow();
    await expect(ask(await at.sign({}), { jwksUrl: `${at.issuer}/none` })).rejects.toThrow();
  });

  it('rejects options without security', () => {
    expect(() => jwksIdentity({ issuer: at.issuer, audience: [] })).toThrow(RangeError);
    expect(() => jwksIdentity({ issuer: at.issuer, audience: 'a', algorithms: ['HS256'] })).toThrow(
      RangeError,
    );
  });
});
