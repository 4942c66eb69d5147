import { createFakeClock } from '@questline/testing';
import { SignJWT } from 'jose';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAccessTokens, DEFAULT_TOKEN_LIFETIMES, isOwnToken } from './tokens.ts';

const SECRET = new Uint8Array(32).fill(7);
const BASE = { id: 'u', tokenVersion: 3 } as const;

function setUp(start?: number) {
  const clock = createFakeClock(start);
  const tokens = createAccessTokens(SECRET, clock, { access: 60, refresh: 120 });
  /** Signs any claims with the same key. */
  const signAny = (claims: object, alg = 'HS256', secret = SECRET): Promise<string> =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg }).sign(secret);
  return { clock, tokens, signAny, seconds: clock.now() / 1000 };
}

function decode(token: string, part: number): unknown {
  return JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());
}

it('signs the claims of a token, and none that is absent', async () => {
  const { clock, tokens, seconds } = setUp();
  const short = await tokens.sign({ ...BASE, typ: 'access' });
  expect(decode(short, 0)).toEqual({ alg: 'HS256', typ: 'JWT' });
  expect(decode(short, 1)).toEqual({ ...BASE, typ: 'access', iat: seconds, exp: seconds + 60 });
  const renewableUntil = clock.now() + 500_000;
  const long = await tokens.sign({ ...BASE, typ: 'refresh', family: 'f', sequence: 0, renewableUntil });
  expect(decode(long, 1)).toEqual({
    ...{ ...BASE, typ: 'refresh', fam: 'f', seq: 0, rexp: seconds + 500 },
    ...{ iat: seconds, exp: seconds + 120 },
  });
});

it('counts in whole seconds, and ends with the sign-in', async () => {
  const { clock, tokens, seconds } = setUp();
  await clock.advance(999);
  const renewableUntil = clock.now() + 30_000;
  const token = await tokens.sign({ ...BASE, typ: 'access', renewableUntil });
  expect(decode(token, 1)).toMatchObject({ iat: seconds, exp: seconds + 30, rexp: seconds + 30 });
});

it('verifies what it has signed, the first time and again', async () => {
  const { tokens, seconds } = setUp();
  const expiresAt = (seconds + 120) * 1000;
  const long = { ...BASE, typ: 'refresh', family: 'f', sequence: 2, renewableUntil: expiresAt } as const;
  for (const claims of [long, { ...BASE, typ: 'refresh' } as const]) {
    const token = await tokens.sign(claims);
    for (let time = 0; time < 2; time += 1) {
      expect(await tokens.verify(token, 'refresh')).toEqual({ ...claims, expiresAt });
    }
  }
});

it('checks the signature of a token once', async () => {
  const { tokens } = setUp();
  const verify = vi.spyOn(crypto.subtle, 'verify');
  onTestFinished(() => verify.mockRestore());
  const token = await tokens.sign({ ...BASE, typ: 'access' });
  await tokens.verify(token, 'access');
  await tokens.verify(token, 'access');
  expect(verify).toHaveBeenCalledTimes(1);
});

it.each([true, false])(
  'rejects a token from the end of its lifetime on, verified before: %s',
  async (known) => {
    const { clock, tokens } = setUp();
    const access = await tokens.sign({ ...BASE, typ: 'access' });
    const refresh = await tokens.sign({ ...BASE, typ: 'refresh' });
    if (known) await tokens.verify(access, 'access');
    await clock.advance(59_999);
    if (known) expect(await tokens.verify(access, 'access')).toBeDefined();
    await clock.advance(1);
    expect(await tokens.verify(access, 'access')).toBeUndefined();
    expect(await tokens.verify(refresh, 'refresh')).toBeDefined();
    await clock.advance(60_000);
    expect(await tokens.verify(refresh, 'refresh')).toBeUndefined();
  },
);

it('rejects a token of the other type, the first time and again', async () => {
  const { tokens } = setUp();
  const access = await tokens.sign({ ...BASE, typ: 'access' });
  const refresh = await tokens.sign({ ...BASE, typ: 'refresh' });
  for (let time = 0; time < 2; time += 1) {
    expect(await tokens.verify(access, 'refresh')).toBeUndefined();
    expect(await tokens.verify(refresh, 'access')).toBeUndefined();
  }
  expect(await tokens.verify(access, 'access')).toBeDefined();
});

it('rejects tokens that are not signed so', async () => {
  const { tokens, signAny, seconds } = setUp();
  const claims = { ...BASE, typ: 'access', iat: seconds, exp: seconds + 60 };
  expect(await tokens.verify(await signAny(claims), 'access')).toBeDefined();
  const others = [
    await signAny(claims, 'HS256', new Uint8Array(32).fill(8)),
    await signAny(claims, 'HS512'),
    await signAny(claims, 'HS384'),
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await signAny(claims)).split('.')[1]}.`,
    'x',
    '',
  ];
  for (const token of others) expect(await tokens.verify(token, 'access')).toBeUndefined();
});

it('rejects signed tokens with other claims', async () => {
  const { tokens, signAny, seconds } = setUp();
  const claims = { ...BASE, typ: 'access', iat: seconds, exp: seconds + 60 };
  for (const change of [
    { id: 1 },
    { id: undefined },
    { tokenVersion: '3' },
    { tokenVersion: undefined },
    { exp: undefined },
    { iat: undefined },
  ]) {
    expect(await tokens.verify(await signAny({ ...claims, ...change }), 'access')).toBeUndefined();
  }
  for (const typ of ['other', undefined]) {
    const token = await signAny({ ...claims, typ });
    expect(await tokens.verify(token, 'access')).toBeUndefined();
    // Also when it is asked for.
    expect(await tokens.verify(token, typ as 'access')).toBeUndefined();
  }
});

it('leaves out claims of another kind', async () => {
  const { tokens, signAny, seconds } = setUp();
  const claims = { ...BASE, typ: 'access', iat: seconds, exp: seconds + 60 };
  const found = await tokens.verify(await signAny({ ...claims, fam: 1, seq: '1', rexp: '1' }), 'access');
  expect(found).toEqual({ ...BASE, typ: 'access', expiresAt: (seconds + 60) * 1000 });
});

it('has lifetimes of 7 and 30 days without others', async () => {
  const tokens = createAccessTokens(SECRET, createFakeClock());
  expect(tokens.lifetimes).toEqual({ access: 604_800, refresh: 2_592_000 });
  expect(tokens.lifetimes).toBe(DEFAULT_TOKEN_LIFETIMES);
});

it('recognizes own tokens by their claims', async () => {
  const { tokens, signAny } = setUp();
  expect(isOwnToken(await tokens.sign({ ...BASE, typ: 'access' }))).toBe(true);
  expect(isOwnToken(await tokens.sign({ ...BASE, typ: 'refresh' }))).toBe(true);
  expect(isOwnToken(await signAny({ typ: 'other', tokenVersion: 1 }))).toBe(false);
  expect(isOwnToken(await signAny({ typ: 'access', tokenVersion: '1' }))).toBe(false);
  expect(isOwnToken(await signAny({ typ: 'refresh' }))).toBe(false);
  expect(isOwnToken(await signAny({ tokenVersion: 1 }))).toBe(false);
  for (const text of ['', 'x', 'x.y.z', `x.${Buffer.from('null').toString('base64url')}.z`]) {
    expect(isOwnToken(text)).toBe(false);
  }
});
