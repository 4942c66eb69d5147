import { describe, expect, it } from 'vitest';
import { isCrossSite, isUnsafe } from './origin.ts';

const REQUEST = { method: 'POST', path: '/', remoteAddress: undefined, protocol: 'https' } as const;
const ALLOWED = new Set(['https://app.example.com']);

function isForeign(headers: Readonly<Record<string, string>>): boolean {
  return isCrossSite({ ...REQUEST, headers }, ALLOWED);
}

describe('a request of another site', () => {
  it.each([
    ['its browser says so', { 'sec-fetch-site': 'cross-site' }],
    ['its browser names a sibling', { 'sec-fetch-site': 'same-site' }],
    ['its origin is another host', { origin: 'https://evil.example', host: 'api.example.com' }],
    ['its origin has another port', { origin: 'https://api.example.com:8443', host: 'api.example.com' }],
    ['its origin is opaque', { origin: 'null', host: 'null' }],
    ['it has an origin and no host', { origin: 'https://api.example.com' }],
    [
      'it has a cookie beside a token',
      { authorization: 'Basic x', cookie: 'a=b', 'sec-fetch-site': 'cross-site' },
    ],
    ['it has a cookie and no token', { cookie: 'a=b', 'sec-fetch-site': 'cross-site' }],
    [
      'its browser says so, whatever its origin is',
      { 'sec-fetch-site': 'cross-site', origin: 'https://api.example.com', host: 'api.example.com' },
    ],
  ])('is one when %s', (_, headers) => {
    expect(isForeign(headers)).toBe(true);
  });

  it.each([
    ['it is not from a browser', {}],
    ['it has a token and no cookie', { authorization: 'Bearer x', 'sec-fetch-site': 'cross-site' }],
    ['its origin is allowed', { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }],
    ['its browser says that it is the same', { 'sec-fetch-site': 'same-origin' }],
    ['a person caused it', { 'sec-fetch-site': 'none' }],
    ['its origin is its host', { origin: 'https://api.example.com', host: 'API.example.com' }],
    ['its origin is its authority', { origin: 'https://api.example.com', ':authority': 'api.example.com' }],
    [
      'its origin is its host, not its authority',
      { origin: 'https://api.example.com', host: 'api.example.com', ':authority': 'other.example.com' },
    ],
  ])('is not one when %s', (_, headers) => {
    expect(isForeign(headers)).toBe(false);
  });
});

it.each([
  ['GET', false],
  ['HEAD', false],
  ['OPTIONS', false],
  ['POST', true],
  ['PUT', true],
  ['PATCH', true],
  ['DELETE', true],
])('%s can change something: %s', (method, expected) => {
  expect(isUnsafe({ ...REQUEST, method, headers: {} })).toBe(expected);
});
