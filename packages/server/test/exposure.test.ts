import { describe, expect, it } from 'vitest';
import { findExposure } from '../src/doctor/exposure.ts';

const https = 'https://ai.example.com';
const messages = (publicUrl: string | undefined, trustProxy: boolean, host?: string) =>
  findExposure({ publicUrl, trustProxy, mail: undefined }, host).map(({ message }) => message);

describe('network exposure of a server', () => {
  it('reports plain HTTP beyond loopback', () => {
    expect(messages(undefined, false)).toEqual([expect.stringContaining('plain HTTP')]);
    expect(messages('http://ai.example.com', false, '192.0.2.1')).toHaveLength(1);
  });

  it('finds no problem on loopback or behind a trusted TLS proxy', () => {
    for (const host of ['127.0.0.1', '::1', 'localhost'])
      expect(messages(undefined, false, host)).toEqual([]);
    expect(messages(https, true)).toEqual([]);
  });

  it('reports an untrusted proxy, and trust without a proxy', () => {
    expect(messages(https, false)).toEqual([expect.stringContaining('TRUST_PROXY is false')]);
    expect(messages(undefined, true, '127.0.0.1')).toEqual([expect.stringContaining('forge its address')]);
  });
});
