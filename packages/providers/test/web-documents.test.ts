import { ExtractionError, type TextExtractor } from '@questline/core/ports';
import { createWebTools } from '@questline/providers/web';
import { describe, expect, it, vi } from 'vitest';
import { here, serveSite, serveText, toFailure } from './web-site.ts';

const PDF = { 'content-type': 'application/pdf; version=1' };

/** A page of the web that is read with an extractor. */
function reading(extract: TextExtractor['extract']) {
  const extractor: TextExtractor = {
    reads: ({ mimeType, name }) => mimeType === 'application/pdf' || name.endsWith('.pdf'),
    extract,
  };
  return createWebTools({ ...here, extractors: [extractor] }).fetchPage;
}

describe('document at an address', () => {
  it('is read in parts, in the turn of its reader', async () => {
    const seen: unknown[] = [];
    const fetchPage = reading(async (bytes, type, options) => {
      seen.push([Buffer.from(bytes).toString(), type, options]);
      return { text: 'x'.repeat(20_001) };
    });
    const { url, requests } = await serveText('%PDF', PDF);
    const { signal } = new AbortController();
    const page = await fetchPage(`${url}/a/paper?b=1`, 0, { signal, owner: 'ann' });
    expect(page).toEqual({
      ...{ url: `${url}/a/paper?b=1`, title: null, offset: 0, nextOffset: 20_000 },
      text: 'x'.repeat(20_000),
    });
    expect(seen).toEqual([
      ['%PDF', { mimeType: 'application/pdf', name: 'paper' }, { signal, owner: 'ann' }],
    ]);
    expect(requests[0]?.headers.accept).toBe('text/html, text/*;q=0.9, application/json;q=0.8, */*;q=0.5');
    expect(await fetchPage(url, 20_000)).toMatchObject({ text: 'x', nextOffset: null });
  });

  it('is read by the name in its address after redirects', async () => {
    const fetchPage = reading(async (_bytes, { name }) => ({ text: name }));
    const { url } = await serveSite((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/b/paper.pdf' }).end();
      else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('%PDF');
    });
    expect(await fetchPage(url, 0)).toMatchObject({ url: `${url}/b/paper.pdf`, text: 'paper.pdf' });
  });

  it('is refused if no extractor reads it', async () => {
    const fetchPage = reading(async () => ({ text: 'a' }));
    const { url } = await serveText('a', { 'content-type': 'application/octet-stream' });
    expect(await toFailure(fetchPage(url, 0))).toEqual([
      'INVALID_INPUT',
      'url: this is not a page that can be read as text.',
    ]);
  });

  it('is read up to 20 MiB', async () => {
    const fetchPage = reading(async (bytes) => ({ text: String(bytes.length) }));
    const largest = await serveText(Buffer.alloc(20 * 2 ** 20), PDF);
    expect(await fetchPage(largest.url, 0)).toMatchObject({ text: '20971520' });
    const larger = await serveText(Buffer.alloc(20 * 2 ** 20 + 1), PDF);
    expect(await toFailure(fetchPage(larger.url, 0))).toEqual([
      'INVALID_INPUT',
      'url: the file is larger than 20971520 bytes.',
    ]);
  });

  const DAMAGED = ['INVALID_INPUT', 'url: the document is damaged, or of another type.'];
  it.each([
    [new ExtractionError('unreadable', 'no'), DAMAGED],
    [new TypeError('no'), DAMAGED],
    [
      new ExtractionError('limit', 'it has too many pages'),
      ['INVALID_INPUT', 'url: the document is not read: it has too many pages.'],
    ],
    [new ExtractionError('unavailable', 'no'), ['EXTERNAL_API_ERROR', 'The document cannot be read now.']],
  ])('fails with %s', async (error, failure) => {
    const fetchPage = reading(() => Promise.reject(error));
    const { url } = await serveText('%PDF', PDF);
    expect(await toFailure(fetchPage(url, 0))).toEqual(failure);
    await expect(fetchPage(url, 0)).rejects.toMatchObject({ cause: error });
  });

  it('is not waited for by a caller who has left', async () => {
    const ends: (() => void)[] = [];
    const fetchPage = reading(() => new Promise((resolve) => ends.push(() => resolve({ text: 'a' }))));
    const { url, requests } = await serveText('%PDF', PDF);
    const pages = Array.from({ length: 7 }, () => fetchPage(url, 0, { owner: 'mallory' }));
    await vi.waitFor(() => expect(ends).toHaveLength(7));
    const caller = new AbortController();
    const left = toFailure(fetchPage(url, 0, { owner: 'mallory', signal: caller.signal }));
    await vi.waitFor(() => expect(requests).toHaveLength(8));
    caller.abort(new Error('left'));
    expect((await left)[0]).toBe('NETWORK_ERROR');
    for (const end of ends) end();
    expect(await Promise.all(pages)).toHaveLength(7);
    expect(ends).toHaveLength(7);
  });

  it('waits while seven of its owner are read, and those of others do not', async () => {
    const reads: { owner: string | undefined; end: () => void }[] = [];
    const fetchPage = reading(
      (_bytes, _type, options) =>
        new Promise((resolve) => {
          reads.push({ owner: options?.owner, end: () => resolve({ text: 'a' }) });
        }),
    );
    const { url, requests } = await serveText('%PDF', PDF);
    const pages = Array.from({ length: 9 }, () => fetchPage(url, 0, { owner: 'mallory' }));
    await vi.waitFor(() => expect([requests.length, reads.length]).toEqual([9, 7]));
    const other = fetchPage(url, 0, { owner: 'ann' });
    await vi.waitFor(() => expect(reads.map(({ owner }) => owner)).toContain('ann'));
    expect(reads).toHaveLength(8);
    for (let ended = 0; ended < 10; ended += 1) {
      await vi.waitFor(() => expect(reads.length).toBeGreaterThan(ended));
      reads[ended]?.end();
    }
    expect(await Promise.all([...pages, other])).toHaveLength(10);
  });

  it('is not read on for a caller who has left', async () => {
    const caller = new AbortController();
    const fetchPage = reading(async () => {
      caller.abort(new Error('left'));
      throw new TypeError('no');
    });
    const { url } = await serveText('%PDF', PDF);
    const [kind] = await toFailure(fetchPage(url, 0, { signal: caller.signal }));
    expect(kind).toBe('NETWORK_ERROR');
  });
});

describe('page of a type for programs', () => {
  it.each([
    ...['application/yaml', 'application/x-yaml', 'application/toml', 'application/javascript'],
    ...['application/ld+json', 'application/vnd.github+json; charset=utf-8', 'application/rss+xml'],
    ...['application/json-seq', 'application/x-ndjson', 'application/sql', 'application/x-sh'],
  ])('is read as text: %s', async (type) => {
    const { url } = await serveText('a: 1', { 'content-type': type });
    expect(await createWebTools(here).fetchPage(url, 0)).toMatchObject({ text: 'a: 1' });
  });
});
