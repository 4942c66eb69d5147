import { type ApiHeaders, header } from '../contract/message.ts';
import type { Auth } from '../contract/operation.ts';
import { ApiError } from '../shared/errors.ts';
import { isOwnToken } from './tokens.ts';

/** The credential of a request, not looked up yet. */
export type Presented =
  | { readonly kind: 'key'; readonly secret: string }
  | { readonly kind: 'token'; readonly token: string };

const SCHEME = /^(bearer|apikey) +(\S+) *$/i;
const KEY = /^svc_(?:live|test)_[0-9A-Za-z]{32,}$/;

/** A token with other claims, e.g. of an identity provider, is for the host. */
export function isOurs(presented: Presented | undefined): boolean {
  return presented !== undefined && (presented.kind === 'key' || isOwnToken(presented.token));
}

/**
 * Returns the credential of a request, or undefined. The same credential in both headers is one. A key takes precedence over
 * a token.
 * @throws ApiError 401 for two other credentials, and for a malformed key.
 */
export function findCredential(headers: ApiHeaders, auth: Exclude<Auth, 'none'>): Presented | undefined {
  const [, scheme = '', value = ''] = SCHEME.exec(header(headers, 'authorization') ?? '') ?? [];
  const legacy = header(headers, 'x-api-key') ?? '';
  const isToken = scheme.toLowerCase() === 'bearer' && !value.startsWith('svc_');
  if (isToken && (legacy === '' || legacy === value)) return { kind: 'token', token: value };
  if (legacy !== '' && value !== '' && legacy !== value && !(isToken && KEY.test(legacy))) {
    throw twoCredentials();
  }
  const secret = legacy === '' ? value : legacy;
  if (secret === '') return undefined;
  if (!KEY.test(secret)) throw badCredential(auth);
  return { kind: 'key', secret };
}

function twoCredentials(): ApiError {
  return new ApiError(
    401,
    'The request has two different credentials, in x-api-key and in Authorization. Send only one.',
  );
}

export function badCredential(auth: Exclude<Auth, 'none'> = 'key-or-token'): ApiError {
  const accepted = auth === 'token' ? 'access token' : 'API key or JWT token';
  return new ApiError(401, `Authentication failed. Provide a valid ${accepted}.`);
}
