import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from './secret-box.ts';

const KEY = new Uint8Array(32).fill(7);
const PLACE = ['provider-key', '1'];

const toBytes = (sealed: string) => Buffer.from(sealed.slice('v1.'.length), 'base64url');
const toSealed = (bytes: Uint8Array) => `v1.${Buffer.from(bytes).toString('base64url')}`;

describe('encrypted secret', () => {
  const box = createSecretBox(KEY, createFakeIds());

  it.each(['', 'a', 'sk-é😀', 'x'.repeat(10_000)])('opens in its place: %.20j', (secret) => {
    const sealed = box.seal(secret, PLACE);
    expect(sealed).toMatch(/^v1\.[\w-]+$/);
    // A nonce of 12 bytes and a tag of 16.
    expect(toBytes(sealed)).toHaveLength(12 + Buffer.byteLength(secret) + 16);
    expect(box.open(sealed, PLACE)).toBe(secret);
  });

  it('is sealed differently each time', () => {
    expect(box.seal('secret', PLACE)).not.toBe(box.seal('secret', PLACE));
  });

  it('does not open in another place, with another key, or in another format', () => {
    const sealed = box.seal('secret', PLACE);
    expect(box.open(sealed, ['provider-key', '2'])).toBeUndefined();
    expect(box.open(sealed, [])).toBeUndefined();
    const other = createSecretBox(new Uint8Array(32).fill(8), createFakeIds());
    expect(other.open(sealed, PLACE)).toBeUndefined();
    expect(box.open(sealed.replace('v1.', 'v2.'), PLACE)).toBeUndefined();
    expect(box.open(sealed.replace('v1.', ''), PLACE)).toBeUndefined();
  });

  it('does not open with any byte changed or with its end cut off', () => {
    const bytes = toBytes(box.seal('secret', PLACE));
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.map((byte, place) => (place === at ? byte ^ 1 : byte));
      expect([at, box.open(toSealed(changed), PLACE)]).toEqual([at, undefined]);
      expect([at, box.open(toSealed(bytes.subarray(0, at)), PLACE)]).toEqual([at, undefined]);
    }
  });
});
