import { jwksIdentity } from '@questline/identity/jwks';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

const ISSUER = 'https://login.example.com';
const AUDIENCE = 'https://ai.example.com';
const CONFIGURATION = `${ISSUER}/.well-known/openid-configuration`;
const KEYS = `${ISSUER}/jwks`;

type Options = Partial<Parameters<typeof jwksIdentity>[0]>;

/** An issuer whose configuration is what `answer` returns; its keys are always there. */
async function startIssuer(answer: (init: RequestInit, count: number) => Response | Promise<Response>) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
  const fetched: string[] = [];
  let count = 0;
  vi.stubGlobal('fetch', async (url: string | URL, init: RequestInit = {}) => {
    fetched.push(String(url));
    if (String(url) === KEYS) return Response.json({ keys });
    count += 1;
    return answer(init, count);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const sign = (claims: object = {}) =>
    new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'ada', exp: 4e9, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(privateKey);
  const open = (options: Options = {}) => {
    const identity = jwksIdentity({ issuer: ISSUER, audience: AUDIENCE, ...options });
    return async (claims?: object) => {
      const headers = { authorization: `Bearer ${await sign(claims)}` };
      return identity.identify({
        method: 'GET',
        path: '/',
        headers,
        remoteAddress: undefined,
        protocol: 'https',
      });
    };
  };
  return { open, fetched };
}

const good = () => Response.json({ issuer: ISSUER, jwks_uri: KEYS });

describe('the configuration of an issuer', () => {
  it('is read once, and the keys are where it says', async () => {
    const { open, fetched } = await startIssuer(good);
    const ask = open();
    expect(await ask()).toEqual({ externalId: 'ada' });
    expect(await ask()).toEqual({ externalId: 'ada' });
    expect(fetched).toEqual([CONFIGURATION, KEYS]);
  });

  it('is read below an issuer that ends with a slash', async () => {
    const issuer = `${ISSUER}/`;
    const { open, fetched } = await startIssuer(() => Response.json({ issuer, jwks_uri: KEYS }));
    expect(await open({ issuer })({ iss: issuer })).toEqual({ externalId: 'ada' });
    expect(fetched[0]).toBe(CONFIGURATION);
  });

  it('is not read when the keys have an address', async () => {
    const { open, fetched } = await startIssuer(good);
    expect(await open({ jwksUrl: new URL(KEYS) })()).toEqual({ externalId: 'ada' });
    expect(fetched).toEqual([KEYS]);
  });

  it.each([
    [
      'has a status of failure',
      () => Response.json({ issuer: ISSUER, jwks_uri: KEYS }, { status: 500 }),
      'the configuration of the issuer answers 500',
    ],
    [
      'names another issuer',
      () => Response.json({ issuer: 'https://other.example.com', jwks_uri: KEYS }),
      'the configuration of the issuer names another issuer',
    ],
    [
      'names no keys',
      () => Response.json({ issuer: ISSUER }),
      'the configuration of the issuer has no jwks_uri',
    ],
  ])('is not used when it %s, and read again for the next token', async (_, bad, message) => {
    const { open, fetched } = await startIssuer((__, count) => (count === 1 ? bad() : good()));
    const ask = open();
    await expect(ask()).rejects.toThrow(message);
    expect(fetched).toEqual([CONFIGURATION]);
    expect(await ask()).toEqual({ externalId: 'ada' });
  });

  it('is not read through a redirect', async () => {
    const { open } = await startIssuer(({ redirect }) => {
      if (redirect === 'error') throw new TypeError('a redirect');
      return good();
    });
    await expect(open()()).rejects.toThrow('a redirect');
  });

  it('must come within five seconds', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new Error('late')));
    onTestFinished(() => timeout.mockRestore());
    const { open } = await startIssuer(({ signal }) => {
      signal?.throwIfAborted();
      return good();
    });
    await expect(open()()).rejects.toThrow('late');
    expect(timeout).toHaveBeenCalledExactlyOnceWith(5000);
  });
});

describe('the token of an issuer', () => {
  it.each([
    [undefined, 4, true],
    [undefined, 5, false],
    [60, 59, true],
    [60, 60, false],
    [0, 0, false],
  ])(
    'with the tolerance %s is accepted %s seconds after its end: %s',
    async (tolerance, late, isAccepted) => {
      const { open } = await startIssuer(good);
      vi.useFakeTimers({ now: 2e12, toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const ask = open(tolerance === undefined ? {} : { clockToleranceSeconds: tolerance });
      expect(await ask({ exp: 2e9 - late })).toEqual(isAccepted ? { externalId: 'ada' } : undefined);
    },
  );

  it('is ignored when it is signed by an algorithm that is not listed', async () => {
    const { open } = await startIssuer(good);
    expect(await open({ algorithms: ['RS256'] })()).toBeUndefined();
    expect(await open({ algorithms: ['ES256'] })()).toEqual({ externalId: 'ada' });
  });

  it('is the key of the identity', () => {
    const { credential } = jwksIdentity({ issuer: ISSUER, audience: AUDIENCE });
    const keyOf = (authorization: string) =>
      credential?.({
        method: 'GET',
        path: '/',
        headers: { authorization },
        remoteAddress: undefined,
        protocol: 'https',
      });
    expect(['Bearer a.b.c', 'bearer  d.e.f ', 'Basic a.b.c'].map(keyOf)).toEqual([
      'a.b.c',
      'd.e.f',
      undefined,
    ]);
  });

  it.each([[[]], [['HS256']], [['RS256', 'HS256']]])(
    'is not accepted with the algorithms %j',
    (algorithms) => {
      expect(() => jwksIdentity({ issuer: ISSUER, audience: AUDIENCE, algorithms })).toThrow(RangeError);
    },
  );
});
