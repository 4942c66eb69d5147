import { describe, expect, it } from 'vitest';
import { createUrlSigner } from './signed-urls.ts';

const signer = createUrlSigner({ baseUrl: 'https://api.example.com/objects', secret: 'x'.repeat(32) });
const options = { key: 'files/1', contentType: 'image/png', size: 5, expiresAt: 1000 };
const toQuery = (url: string) => new URL(url).searchParams;

describe('signed links', () => {
  it('contain what they allow, until they expire', () => {
    const { url, ...about } = signer.signPut(options);
    expect(about).toEqual({ fields: { 'content-type': 'image/png' }, expiresAt: 1000 });
    expect(signer.verify('put', toQuery(url), 999)).toEqual({
      action: 'put',
      key: 'files/1',
      contentType: 'image/png',
      size: 5,
    });
    expect(signer.verify('put', toQuery(url), 1000)).toBeUndefined();
    const link = signer.signGet('files/1', { expiresAt: 1000, attachment: 'a & b.png' });
    const typed = signer.signGet('files/1', { expiresAt: 1000, contentType: 'a/b' });
    expect(signer.verify('get', toQuery(typed), 0)).toStrictEqual({
      ...{ action: 'get', key: 'files/1', contentType: 'a/b' },
    });
    expect(signer.verify('get', toQuery(link), 0)).toStrictEqual({
      action: 'get',
      key: 'files/1',
      attachment: 'a & b.png',
    });
  });

  it('contain a complete form', () => {
    const { url, fields, expiresAt } = signer.signPost(options);
    expect(expiresAt).toBe(1000);
    expect(url).toBe('https://api.example.com/objects');
    expect(signer.verify('post', new URLSearchParams(fields), 0)).toMatchObject({ action: 'post', size: 5 });
  });

  it('allow nothing after any change, omission or different use', () => {
    const { url } = signer.signPut(options);
    for (const action of ['get', 'post'] as const)
      expect(signer.verify(action, toQuery(url), 0)).toBeUndefined();
    for (const name of toQuery(url).keys()) {
      const without = toQuery(url);
      without.delete(name);
      expect(signer.verify('put', without, 0), `without ${name}`).toBeUndefined();
      const changed = toQuery(url);
      changed.set(name, `${changed.get(name)}0`);
      expect(signer.verify('put', changed, 0), `another ${name}`).toBeUndefined();
    }
    const added = toQuery(url);
    added.set('attachment', 'a.html');
    expect(signer.verify('put', added, 0)).toBeUndefined();
    expect(signer.verify('put', new URLSearchParams(), 0)).toBeUndefined();
  });

  it('are valid only under the secret that signed them', () => {
    const other = createUrlSigner({ baseUrl: 'https://api.example.com/objects', secret: 'y'.repeat(32) });
    expect(other.verify('put', toQuery(signer.signPut(options).url), 0)).toBeUndefined();
    expect(() => createUrlSigner({ baseUrl: '', secret: 'short' })).toThrow(RangeError);
  });
});
