import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../contract/message.ts';
import { serverUrl } from './servers.ts';

const request = (headers: Record<string, string>, mountPath = '', protocol = 'http') =>
  ({ headers, mountPath, protocol }) as unknown as ApiRequest;

describe('the server of a description', () => {
  it('is the public URL of the settings', () => {
    const sent = request({ host: 'other.test' }, '/ai');
    expect(serverUrl('https://ai.test', sent)).toBe('https://ai.test/ai');
    expect(serverUrl('https://ai.test/base//', sent)).toBe('https://ai.test/base/ai');
  });

  it('is else where the request was sent', () => {
    expect(serverUrl(undefined, request({ host: 'AI.test:8080' }, '/ai'))).toBe('http://ai.test:8080/ai');
    expect(serverUrl(undefined, request({ host: '[::1]:80' }, '', 'https'))).toBe('https://[::1]:80');
  });

  it.each([
    ['https, http', 'https'],
    [' HTTPS ', 'https'],
    ['http', 'http'],
    ['ftp', 'https'],
    ['', 'https'],
  ])('has the protocol that a proxy names: %j', (forwarded, protocol) => {
    const headers = { host: 'ai.test', 'x-forwarded-proto': forwarded };
    expect(serverUrl(undefined, request(headers, '', 'https'))).toBe(`${protocol}://ai.test`);
    const overPlain = serverUrl(undefined, request(headers));
    expect(overPlain.startsWith('https:')).toBe(forwarded.trim().toLowerCase().startsWith('https'));
  });

  it('is a relative path without a valid host', () => {
    expect(serverUrl(undefined, request({}, '/ai'))).toBe('/ai');
    expect(serverUrl(undefined, request({}))).toBe('/');
    for (const host of ['a b', 'evil.test/path', 'x@y', '-a', 'a:123456', '<script>'])
      expect(serverUrl(undefined, request({ host }, '/ai'))).toBe('/ai');
  });
});
