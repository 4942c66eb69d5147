import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createFetchFor, toSafeError, withDeadline } from '../../src/oauth/fetch.ts';
import { checkOAuth, type OAuthOptions } from '../../src/oauth/options.ts';
import { createFlow, SERVER } from './flow.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the requests of an authorization', () => {
  function create(url = SERVER.url) {
    const asked: [string, string, RequestInit | undefined][] = [];
    const take = (by: string) => async (target: string | URL, init?: RequestInit) => {
      asked.push([by, String(target), init]);
      return new Response();
    };
    vi.stubGlobal('fetch', take('plain'));
    return { asked, fetch: createFetchFor(take('guarded'))({ id: 'diary', url }) };
  }

  it('go to the origin of the tool server as the host has chosen it, with a limit', async () => {
    const { asked, fetch } = create();
    await fetch('https://tools.test/other', { method: 'POST' });
    const { signal } = new AbortController();
    await fetch('https://tools.test/other', { signal });
    expect(asked.map(([by]) => by)).toEqual(['plain', 'plain']);
    expect(asked[0]?.[2]).toEqual({ method: 'POST', signal: expect.any(AbortSignal) });
    expect(asked[1]?.[2]?.signal).toBe(signal);
  });

  it('go to other addresses only if they are allowed, and encrypted like the tool server', async () => {
    const { asked, fetch } = create();
    const init = { method: 'POST' };
    await fetch(new URL('https://login.test/token'), init);
    await fetch('https://tools.test:8443/mcp');
    expect(asked).toEqual([
      ['guarded', 'https://login.test/token', init],
      ['guarded', 'https://tools.test:8443/mcp', {}],
    ]);
    await expect(fetch('http://login.test/token')).rejects.toThrow(
      'http://login.test is not https, but the tool server is',
    );
    expect(asked).toHaveLength(2);
    const plain = create('http://tools.test/mcp');
    await plain.fetch('http://login.test/token');
    await plain.fetch('https://login.test/token');
    expect(plain.asked.map(([by]) => by)).toEqual(['guarded', 'guarded']);
  });

  it('end at a limit for all of them, or with their own signal', async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const limited = withDeadline(async (_target, init) => {
      signals.push(init?.signal);
      return new Response();
    }, 2 ** 30);
    const own = new AbortController();
    await limited('https://x.test');
    await limited('https://x.test', { signal: own.signal });
    own.abort();
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, true]);
    const over = withDeadline(async (_target, init) => {
      await vi.waitFor(() => expect(init?.signal?.aborted).toBe(true));
      return new Response('over');
    }, 0);
    expect(await (await over('https://x.test')).text()).toBe('over');
    expect(await (await over('https://x.test', { signal: new AbortController().signal })).text()).toBe(
      'over',
    );
  });
});

describe('an error of an authorization server', () => {
  it('has a code, and no text', () => {
    const safe = (code: string) => toSafeError(new OAuthError(code as OAuthErrorCode, 'secret'));
    expect(safe(OAuthErrorCode.InvalidGrant)).toEqual(
      new Error('the authorization server refused: invalid_grant'),
    );
    for (const code of ['secret token', 'x'.repeat(51), '', 'Secret', 'a-b'])
      expect(safe(code)).toEqual(new Error('the authorization server refused: unknown error'));
    expect(safe('x'.repeat(50))).toEqual(new Error(`the authorization server refused: ${'x'.repeat(50)}`));
  });

  it('does not repeat an answer that cannot be read', () => {
    const unreadable = new Error('the answer of the authorization server cannot be read');
    expect(toSafeError(new SyntaxError('secret'))).toEqual(unreadable);
    expect(toSafeError(z.string().safeParse(7).error)).toEqual(unreadable);
  });

  it('is the same for other failures', () => {
    for (const error of [new TypeError('offline'), 'text', { issues: [] }, undefined])
      expect(toSafeError(error)).toBe(error);
  });
});

describe('the options of authorizations', () => {
  const { options } = createFlow().parts;
  const check = (more: Partial<OAuthOptions>) => () => checkOAuth({ ...options, ...more });

  it('have a key, and addresses', () => {
    expect(check({})).not.toThrow();
    expect(check({ secretEncryptionKey: 'A'.repeat(64), redirectUrl: 'http://x' })).not.toThrow();
    expect(check({ clientMetadataUrl: 'https://x' })).not.toThrow();
    const KEY = new RangeError('oauth.secretEncryptionKey: expected 64 hexadecimal characters');
    for (const secretEncryptionKey of ['b'.repeat(63), 'b'.repeat(65), 'g'.repeat(64)])
      expect(check({ secretEncryptionKey })).toThrow(KEY);
    const REDIRECT = new TypeError('oauth.redirectUrl: expected an http or https URL');
    for (const redirectUrl of ['ftp://x', 'xhttp://x', 'httpsx://x'])
      expect(check({ redirectUrl })).toThrow(REDIRECT);
    expect(check({ clientMetadataUrl: 'http://x' })).toThrow(
      new TypeError('oauth.clientMetadataUrl: expected an https URL'),
    );
  });
});
