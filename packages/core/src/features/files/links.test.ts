import { describe, expect, it } from 'vitest';
import type { LinkReader } from '../../access/links.ts';
import { createMemoryObjects } from '../../memory/objects.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { withFileLinks } from './links.ts';
import { createObjectLinks } from './objects-links.ts';
import { FILES } from './records.ts';

describe('references to files', () => {
  const others: LinkReader = {
    findReadable: async (kind, ids, userId) => new Set([`${kind} ${ids.join()} ${userId}`]),
    findExisting: async (kind, ids) => new Set([`${kind} ${ids.join()}`]),
  };

  it('are those that a user may read; other references are left to others', async () => {
    const store = createMemoryStore();
    for (const [id, ownerId] of ['ada', 'ada', 'bob'].entries()) {
      const about = {
        name: 'a',
        mimeType: 'a/b',
        size: 1,
        status: 'clean',
        source: 'upload',
        createdAt: 0,
      } as const;
      await store.collection(FILES).insert({ id: `${id}`, ownerId, ...about });
    }
    const links = withFileLinks(store, others);
    expect([...(await links.findReadable('file', ['0', '2', '7'], 'ada'))]).toEqual(['0']);
    expect([...(await links.findExisting('file', ['0', '2', '7']))].sort()).toEqual(['0', '2']);
    expect([...(await links.findReadable('data lake', ['0'], 'ada'))]).toEqual(['data lake 0 ada']);
    expect([...(await links.findExisting('data lake', ['0']))]).toEqual(['data lake 0']);
  });
});

describe('links to objects', () => {
  const secret = Buffer.alloc(32, 1);
  const terms = { key: 'a/1', contentType: 'a/b', size: 1, expiresAt: 9 };
  const open = (publicUrl?: string, change = {}) =>
    createObjectLinks({ objects: { ...createMemoryObjects(), ...change }, secret, publicUrl });

  it('lead to the api where the store signs none', async () => {
    const links = open('https://a.b//');
    const { url } = await links.put(terms, '/ai');
    expect(url).toMatch(/^https:\/\/a\.b\/ai\/api\/v1\/objects\?/);
    expect(links.verify('put', new URL(url).searchParams, 0)).toMatchObject({ key: 'a/1', size: 1 });
    const form = await links.post(terms, '/ai');
    expect(form.url).toBe('https://a.b/ai/api/v1/objects');
    expect(links.verify('post', new URLSearchParams(form.fields), 0)).toMatchObject({ key: 'a/1' });
    expect(await open().get('a/1', { expiresAt: 9 }, '/ai')).toMatch(/^\/ai\/api\/v1\/objects\?/);
  });

  it('are those of a store that signs', async () => {
    const sign = async () => ({ url: 'https://store.test', fields: {}, expiresAt: 1 });
    const signGet = async () => 'https://store.test';
    const links = open('https://a.b', { signPut: sign, signPost: sign, signGet });
    expect(await links.put(terms, '')).toMatchObject({ url: 'https://store.test' });
    expect(await links.post(terms, '')).toMatchObject({ url: 'https://store.test' });
    expect(await links.get('a/1', terms, '')).toBe('https://store.test');
  });
});
