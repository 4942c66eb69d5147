import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import {
  createApi,
  createServices,
  defineOperation,
  defineRoute,
  revokeApiKey,
  toFetchHandler,
  USERS,
} from '@questline/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NOW } from '../support/test-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const SECRET = Buffer.from('a'.repeat(64), 'hex');
const NO_CREDENTIAL = 'Authentication failed. Provide a valid API key or JWT token.';
const TWO_CREDENTIALS =
  'The request has two different credentials, in x-api-key and in Authorization. Send only one.';
const BAD_TOKEN = 'Invalid or expired token';

async function askMe(
  wire: Wire,
  headers: Readonly<Record<string, string>>,
  path = '/api/v1/me',
): Promise<unknown> {
  const { status, body } = await wire.send({ method: 'GET', path, headers });
  return status === 200 ? 200 : [status, (body as { error: string }).error];
}

describe('forms of a credential', () => {
  it.each(['live', 'test'] as const)(
    'accept a %s key in each of the three forms, ignoring the case of the scheme',
    async (mode) => {
      const wire = await createWire();
      const { key } = await wire.app.issue({ mode });
      expect(key).toMatch(new RegExp(`^svc_${mode}_[0-9A-Za-z]{32,}$`));
      for (const headers of [
        { Authorization: `Bearer ${key}` },
        { Authorization: `bEARER   ${key}  ` },
        { Authorization: `ApiKey ${key}` },
        { Authorization: `APIKEY ${key}` },
        { 'x-api-key': key },
        { 'X-API-Key': key, Authorization: `Bearer ${key}` },
        // Headers that contain no credential.
        { 'x-api-key': key, Authorization: 'Basic YTpi' },
      ])
        expect(await askMe(wire, headers)).toBe(200);
    },
  );

  it('accept an access token only in the bearer header', async () => {
    const wire = await createWire();
    const token = await wire.app.token();
    expect(await askMe(wire, { Authorization: `bearer ${token}` })).toBe(200);
    expect(await askMe(wire, { 'x-api-key': token, Authorization: `Bearer ${token}` })).toBe(200);
    for (const headers of [
      { 'x-api-key': token },
      { Authorization: `ApiKey ${token}` },
      { Authorization: token },
      { Cookie: `access_token=${token}` },
    ])
      expect(await askMe(wire, headers)).toEqual([401, NO_CREDENTIAL]);
  });

  it('accept nothing from a query', async () => {
    const wire = await createWire();
    for (const name of ['token', 'access_token', 'api_key', 'x-api-key', 'key', 'authorization'])
      for (const secret of [wire.app.key, await wire.app.token()])
        expect(await askMe(wire, {}, `/api/v1/me?${name}=${secret}`)).toEqual([401, NO_CREDENTIAL]);
  });

  it('prefer the key over a valid or invalid token', async () => {
    const wire = await createWire();
    const { key } = wire.app;
    for (const token of [await wire.app.token(), 'not.a.token']) {
      const answer = await wire.send({
        method: 'GET',
        path: '/api/v1/usage',
        headers: { 'x-api-key': key, Authorization: `Bearer ${token}` },
      });
      expect(answer.body).toMatchObject({ key: { id: wire.app.keyId } });
    }
  });

  it('reject two different keys, and a valid key beside an invalid one', async () => {
    const wire = await createWire();
    const { key } = wire.app;
    const other = (await wire.app.issue({})).key;
    for (const [legacy, authorization] of [
      [key, `Bearer ${other}`],
      [other, `ApiKey ${key}`],
      [key, `Bearer ${key}x`],
      [key, 'Bearer svc_live_short'],
      ['svc_live_short', `Bearer ${key}`],
      [`${key}, ${other}`, `Bearer ${key}`],
    ] as const)
      expect(await askMe(wire, { 'x-api-key': legacy, Authorization: authorization })).toEqual([
        401,
        TWO_CREDENTIALS,
      ]);
  });

  it('reject two different tokens, and say why', async () => {
    const wire = await createWire();
    const token = await wire.app.token();
    const other = await wire.app.token(await wire.app.addUser('eve@example.com'));
    for (const [legacy, authorization] of [
      [token, `Bearer ${other}`],
      [`${token}x`, `Bearer ${token}`],
      ['other', `Bearer ${token}`],
      [token, `Bearer ${wire.app.key}`],
    ] as const)
      expect(await askMe(wire, { 'x-api-key': legacy, Authorization: authorization })).toEqual([
        401,
        TWO_CREDENTIALS,
      ]);
    expect(await askMe(wire, { 'x-api-key': token, Authorization: `ApiKey ${token}` })).toEqual([
      401,
      NO_CREDENTIAL,
    ]);
  });

  it('reject a key that is truncated, extended, changed or similar', async () => {
    const wire = await createWire();
    const { key } = wire.app;
    const altered = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
    for (const secret of [
      key.slice(0, -1),
      `${key}a`,
      altered,
      key.toUpperCase(),
      key.replace('svc_live_', 'svc_test_'),
      'svc_live_',
      `svc_live_${'-'.repeat(43)}`,
      `svc_beta_${key.slice(9)}`,
      wire.app.keyId,
    ]) {
      for (const headers of [{ 'x-api-key': secret }, { Authorization: `ApiKey ${secret}` }])
        expect(await askMe(wire, headers)).toEqual([401, NO_CREDENTIAL]);
    }
  });

  it('reject a key at the instant of its expiry', async () => {
    const wire = await createWire();
    const { key } = await wire.app.issue({ expiresAt: NOW + 1000 });
    await wire.app.clock.advance(999);
    expect(await askMe(wire, { 'x-api-key': key })).toBe(200);
    await wire.app.clock.advance(1);
    expect(await askMe(wire, { 'x-api-key': key })).toEqual([401, NO_CREDENTIAL]);
  });

  it('reject a revoked key at once in this process and within two seconds in another', async () => {
    let shared: Parameters<typeof createServices>[0]['store'] | undefined;
    const wire = await createWire({
      store: (store) => {
        shared = store;
        return store;
      },
    });
    const { services, key, keyId, user, clock } = wire.app;
    if (shared === undefined) throw new Error('no store');
    const elsewhere = toFetchHandler(
      createApi(createServices({ ...services, store: shared, models: [] }, { jwtSecret: 'a'.repeat(64) })),
    );
    const askElsewhere = async (): Promise<number | undefined> =>
      (await elsewhere(new Request('http://other/api/v1/me', { headers: { 'x-api-key': key } })))?.status;
    expect([await askMe(wire, { 'x-api-key': key }), await askElsewhere()]).toEqual([200, 200]);
    expect(await revokeApiKey(services, 'another user', keyId)).toBe(false);
    expect(await askMe(wire, { 'x-api-key': key })).toBe(200);
    expect(await revokeApiKey(services, user.id, keyId)).toBe(true);
    expect(await askMe(wire, { 'x-api-key': key })).toEqual([401, NO_CREDENTIAL]);
    await clock.advance(2000);
    expect(await askElsewhere()).toBe(401);
  });

  it('reject every credential of a disabled or deleted user', async () => {
    for (const end of ['disable', 'delete'] as const) {
      const wire = await createWire();
      const { services, user, key, clock } = wire.app;
      const credentials = [{ 'x-api-key': key }, { Authorization: `Bearer ${await wire.app.token()}` }];
      for (const headers of credentials) expect(await askMe(wire, headers)).toBe(200);
      const users = services.store.collection(USERS);
      if (end === 'disable') await users.update(user.id, { disabled: true });
      else await users.take(user.id);
      await clock.advance(2000);
      for (const headers of credentials)
        expect(await askMe(wire, headers)).toEqual([401, expect.any(String)]);
    }
  });
});

const tokenOnly = defineOperation({
  id: 'tokenOnly',
  method: 'GET',
  path: '/api/v1/token-only',
  tag: 'AI',
  summary: 'For signed-in users',
  auth: 'token',
  scopes: [],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  input: {},
  output: { 200: { description: 'Fine.', schema: z.object({ user: z.string() }) } },
});

describe('operation for signed-in users only', () => {
  it('rejects keys, also beside a valid token', async () => {
    const wire = await createWire({
      extra: (services) => [
        defineRoute(tokenOnly, services, async (_input, { caller }) => ({ user: caller.userId })),
      ],
    });
    const path = '/api/v1/token-only';
    const token = await wire.app.token();
    expect(await askMe(wire, { Authorization: `Bearer ${token}` }, path)).toBe(200);
    const { key } = wire.app;
    for (const headers of [
      { Authorization: `Bearer ${key}` },
      { 'x-api-key': key },
      { 'x-api-key': key, Authorization: `Bearer ${token}` },
    ])
      expect(await askMe(wire, headers, path)).toEqual([401, 'API keys are not accepted here; sign in']);
  });
});

type Claims = Readonly<Record<string, unknown>>;

/** A token with any header, claims and signature. */
function forge(header: Claims, claims: Claims, signature: (text: string) => Buffer | string): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode(header)}.${encode(claims)}`;
  const signed = signature(text);
  return `${text}.${typeof signed === 'string' ? signed : signed.toString('base64url')}`;
}

const hmac =
  (algorithm: string, secret: string | Buffer = SECRET) =>
  (text: string): Buffer =>
    createHmac(algorithm, secret).update(text).digest();

describe('forged token', () => {
  const seconds = NOW / 1000;
  const getClaims = (id: string): Record<string, unknown> => ({
    id,
    tokenVersion: 0,
    typ: 'access',
    iat: seconds,
    exp: seconds + 3600,
  });
  const HS256 = { alg: 'HS256', typ: 'JWT' };
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });

  it('differs from a valid token of this test only in its forged part', async () => {
    const wire = await createWire();
    const ours = forge(HS256, getClaims(wire.app.user.id), hmac('sha256'));
    expect(await askMe(wire, { Authorization: `Bearer ${ours}` })).toBe(200);
  });

  const forgeries: [string, (claims: Record<string, unknown>) => string][] = [
    ['without a signature (alg none)', (claims) => forge({ alg: 'none', typ: 'JWT' }, claims, () => '')],
    ['alg None with our signature', (claims) => forge({ alg: 'None', typ: 'JWT' }, claims, hmac('sha256'))],
    ['HS256 announced, no signature', (claims) => forge(HS256, claims, () => '')],
    ['HS512 with our secret', (claims) => forge({ alg: 'HS512', typ: 'JWT' }, claims, hmac('sha512'))],
    ['HS384 with our secret', (claims) => forge({ alg: 'HS384', typ: 'JWT' }, claims, hmac('sha384'))],
    ['RS256 announced, our HMAC', (claims) => forge({ alg: 'RS256', typ: 'JWT' }, claims, hmac('sha256'))],
    [
      'RS256 with another key',
      (claims) =>
        forge({ alg: 'RS256', typ: 'JWT' }, claims, (text) => sign('sha256', Buffer.from(text), privateKey)),
    ],
    [
      'RS256 with an embedded key',
      (claims) =>
        forge({ alg: 'RS256', typ: 'JWT', jwk: publicKey.export({ format: 'jwk' }) }, claims, (text) =>
          sign('sha256', Buffer.from(text), privateKey),
        ),
    ],
    ['HMAC with a public key as the secret', (claims) => forge(HS256, claims, hmac('sha256', pem as string))],
    ['another secret', (claims) => forge(HS256, claims, hmac('sha256', 'b'.repeat(64)))],
    ['the secret as text', (claims) => forge(HS256, claims, hmac('sha256', 'a'.repeat(64)))],
    ['an empty secret', (claims) => forge(HS256, claims, hmac('sha256', ''))],
    ['a truncated signature', (claims) => forge(HS256, claims, hmac('sha256')).slice(0, -4)],
    ['an extended signature', (claims) => `${forge(HS256, claims, hmac('sha256'))}AAAA`],
    [
      'an unknown critical header',
      (claims) => forge({ ...HS256, crit: ['x'], x: 1 }, claims, hmac('sha256')),
    ],
    ['unencoded payload', (claims) => forge({ ...HS256, b64: false, crit: ['b64'] }, claims, hmac('sha256'))],
    [
      'a key id that is a file path',
      (claims) => forge({ ...HS256, kid: '../../dev/null' }, claims, hmac('sha256', '')),
    ],
    ['a refresh token', (claims) => forge(HS256, { ...claims, typ: 'refresh' }, hmac('sha256'))],
    ['no typ', ({ typ: _, ...claims }) => forge(HS256, claims, hmac('sha256'))],
    ['a stale tokenVersion', (claims) => forge(HS256, { ...claims, tokenVersion: -1 }, hmac('sha256'))],
    ['a future tokenVersion', (claims) => forge(HS256, { ...claims, tokenVersion: 1 }, hmac('sha256'))],
    [
      'a tokenVersion that is text',
      (claims) => forge(HS256, { ...claims, tokenVersion: '0' }, hmac('sha256')),
    ],
    ['no exp', ({ exp: _, ...claims }) => forge(HS256, claims, hmac('sha256'))],
    ['no iat', ({ iat: _, ...claims }) => forge(HS256, claims, hmac('sha256'))],
    ['expired at this second', (claims) => forge(HS256, { ...claims, exp: seconds }, hmac('sha256'))],
    ['not yet valid', (claims) => forge(HS256, { ...claims, nbf: seconds + 60 }, hmac('sha256'))],
    [
      'an exp that is text',
      (claims) => forge(HS256, { ...claims, exp: String(seconds + 60) }, hmac('sha256')),
    ],
    ['an unknown user', (claims) => forge(HS256, { ...claims, id: 'f'.repeat(24) }, hmac('sha256'))],
    [
      'an id that is a query object',
      (claims) => forge(HS256, { ...claims, id: { $ne: null } }, hmac('sha256')),
    ],
    ['claims that are not an object', () => forge(HS256, [] as unknown as Claims, hmac('sha256'))],
    ['five parts', (claims) => `${forge(HS256, claims, hmac('sha256'))}.x.y`],
  ];

  it.each(forgeries)('is rejected: %s', async (_title, write) => {
    const wire = await createWire();
    const token = write(getClaims(wire.app.user.id));
    expect(await askMe(wire, { Authorization: `Bearer ${token}` })).toEqual([401, BAD_TOKEN]);
    // The second call would find a cached result.
    expect(await askMe(wire, { Authorization: `Bearer ${token}` })).toEqual([401, BAD_TOKEN]);
  });

  it('expires with its time and the version of its user, even after successful use', async () => {
    const wire = await createWire();
    const { app } = wire;
    const headers = { Authorization: `Bearer ${await app.token()}` };
    expect(await askMe(wire, headers)).toBe(200);
    await app.services.store.collection(USERS).add(app.user.id, { tokenVersion: 1 });
    app.services.authenticator.forgetUser(app.user.id);
    expect(await askMe(wire, headers)).toEqual([401, BAD_TOKEN]);
    const fresh = { Authorization: `Bearer ${await app.token({ ...app.user, tokenVersion: 1 })}` };
    expect(await askMe(wire, fresh)).toBe(200);
    await app.clock.advance(7 * 86_400_000);
    expect(await askMe(wire, fresh)).toEqual([401, BAD_TOKEN]);
  });
});
