import { describe, expect, it } from 'vitest';
import { cacheHints, createCacheHints } from './prompt-cache.ts';

describe('cache hints', () => {
  it('have a short key of the scope and its id, which reveals neither', () => {
    const { mode, key, ttl } = cacheHints('auto', 'session', 'a1');
    expect([mode, ttl]).toEqual(['auto', undefined]);
    // Vendors accept keys of up to 64 characters.
    expect(key).toMatch(/^[\w-]{32}$/);
    expect(key).not.toContain('a1');
    const others = [cacheHints('auto', 'user', 'a1'), cacheHints('auto', 'session', 'a2')];
    for (const other of others) expect(other.key).not.toBe(key);
    expect(cacheHints('auto', 'session', 'a1').key).toBe(key);
  });

  it('name the lifetime that the host chooses, and nothing if the host wants no cache', () => {
    expect(cacheHints({ ttl: '1h' }, 'user', 'a1')).toEqual({
      ...cacheHints('auto', 'user', 'a1'),
      ttl: '1h',
    });
    expect(cacheHints('off', 'user', 'a1')).toEqual({ mode: 'off' });
  });

  it('are remembered', () => {
    const getHints = createCacheHints('auto', 'session');
    expect(getHints('a1')).toEqual(cacheHints('auto', 'session', 'a1'));
    expect(getHints('a1')).toBe(getHints('a1'));
    expect(getHints('a2')).toEqual(cacheHints('auto', 'session', 'a2'));
  });
});
