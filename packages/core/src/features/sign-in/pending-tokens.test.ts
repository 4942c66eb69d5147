import { expect, it } from 'vitest';
import { createPendingTokens, isEqual } from './pending-tokens.ts';

const ADA = 'ada@example.com';
const PENDING = { challengeId: 'a'.repeat(24), serial: 3, expiresAt: 1_800_000_000_000 };
const tokens = createPendingTokens(new Uint8Array(32).fill(7));

it('verifies only its own tokens, for the same address', () => {
  const token = tokens.sign(PENDING, ADA);
  expect(tokens.verify(token, ADA)).toEqual(PENDING);
  expect(tokens.verify(token, 'bob@example.com')).toBeUndefined();
  expect(createPendingTokens(new Uint8Array(32).fill(8)).verify(token, ADA)).toBeUndefined();
});

it.each([
  ['another challenge', (token: string) => `b${token.slice(1)}`],
  ['another serial', (token: string) => token.replace('.3.', '.2.')],
  ['another end', (token: string) => token.replace('.1800000000000.', '.1800000000001.')],
  ['another signature', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
  ['no signature', (token: string) => token.slice(0, token.lastIndexOf('.') + 1)],
  ['more text', (token: string) => `${token}A`],
  ['no text', () => ''],
])('refuses a token with %s', (_, change) => {
  expect(tokens.verify(change(tokens.sign(PENDING, ADA)), ADA)).toBeUndefined();
});

it('derives the six digits of a challenge from the secret', () => {
  const codes = Array.from({ length: 200 }, (_, at) => tokens.toCode(at.toString(16).padStart(24, '0')));
  for (const code of codes) expect(code).toMatch(/^\d{6}$/);
  expect(new Set(codes).size).toBeGreaterThan(190);
  expect(codes.some((code) => code.startsWith('0'))).toBe(true);
  const other = createPendingTokens(new Uint8Array(32).fill(8));
  expect(other.toCode(PENDING.challengeId)).not.toBe(tokens.toCode(PENDING.challengeId));
});

it('compares texts of any length', () => {
  expect([isEqual('a', 'a'), isEqual('a', 'b'), isEqual('a', 'ab'), isEqual('', '')]).toEqual([
    ...[true, false, false, true],
  ]);
});
