import { describe, expect, it } from 'vitest';
import { createUrlSigner } from './signed-urls.ts';

const signer = createUrlSigner({ baseUrl: 'https://api.example.com/objects', secret: 'x'.repeat(32) });
const terms = { key: 'files/1', contentType: 'image/png', size: 5, expiresAt: 1000 };
const queryOf = (url: string) => new URL(url).searchParams;

describe('signed links', () => {
  it('say what they allow, until they end', () => {
    const { url } = signer.signPut(terms);
    expect(signer.verify('put', queryOf(url), 999)).toEqual({
      action: 'put',
      key: 'files/1',
      contentType: 'image/png',
      size: 5,
    });
    expect(signer.verify('put', queryOf(url), 1000)).toBeUndefined();
    const link = signer.signGet('files/1', { expiresAt: 1000, attachment: 'a & b.png' });
    expect(signer.verify('get', queryOf(link), 0)).toEqual({
      action: 'get',
      key: 'files/1',
      attachment: 'a & b.png',
    });
  });

  it('carry a form that stands for itself', () => {
    const { url, fields } = signer.signPost(terms);
    expect(url).toBe('https://api.example.com/objects');
    expect(signer.verify('post', new URLSearchParams(fields), 0)).toMatchObject({ action: 'post', size: 5 });
  });

  it('allow nothing when any part is changed, left out, or used for something else', () => {
    const { url } = signer.signPut(terms);
    for (const action of ['get', 'post'] as const)
      expect(signer.verify(action, queryOf(url), 0)).toBeUndefined();
    for (const name of queryOf(url).keys()) {
      const without = queryOf(url);
      without.delete(name);
      expect(signer.verify('put', without, 0), `without ${name}`).toBeUndefined();
      const changed = queryOf(url);
      changed.set(name, `${changed.get(name)}0`);
      expect(signer.verify('put', changed, 0), `another ${name}`).toBeUndefined();
    }
    const added = queryOf(url);
    added.set('attachment', 'a.html');
    expect(signer.verify('put', added, 0)).toBeUndefined();
    expect(signer.verify('put', new URLSearchParams(), 0)).toBeUndefined();
  });

  it('hold only under the secret they were signed with', () => {
    const other = createUrlSigner({ baseUrl: 'https://api.example.com/objects', secret: 'y'.repeat(32) });
    expect(other.verify('put', queryOf(signer.signPut(terms).url), 0)).toBeUndefined();
    expect(() => createUrlSigner({ baseUrl: '', secret: 'short' })).toThrow(RangeError);
  });
});
