import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createGuardedFetch, createWebTools } from '@questline/providers/web';
import { describe, expect, it } from 'vitest';
import { here, serveSite, serveText, toClose, toFailure } from './web-site.ts';

const { fetchPage, fetchFile } = createWebTools(here);
const images = { accept: ['image/'], maxBytes: 1000 };
const guardedFetch = createGuardedFetch(here);

const CODINGS: readonly [string, (text: string) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['identity', Buffer.from],
];

describe.each(CODINGS)('an answer in the coding %s', (coding, encode) => {
  it('is read as a page, as a file and by a guarded fetch', async () => {
    const serve = (type: string) =>
      serveText(encode('hello'), { 'content-type': type, 'content-encoding': coding });
    const page = await serve('text/plain');
    expect(await fetchPage(page.url, 0)).toMatchObject({ text: 'hello' });
    const { data } = await fetchFile((await serve('image/png')).url, images);
    expect(Buffer.from(data).toString()).toBe('hello');
    const answer = await guardedFetch(page.url);
    expect([await answer.text(), answer.headers.has('content-encoding')]).toEqual(['hello', false]);
  });
});

describe('an encoded answer', () => {
  it('is what pages and files are asked for', async () => {
    const { url, requests } = await serveText('', { 'content-type': 'image/png' });
    await fetchFile(url, images);
    expect(requests[0]?.headers['accept-encoding']).toBe('gzip, br');
  });

  it.each(['zip', 'gzip, gzip'])('in the unknown coding %s is refused', async (coding) => {
    const { url } = await serveText('hello', { 'content-encoding': coding });
    const refusal = ['EXTERNAL_API_ERROR', 'The site answered in an encoding that is not supported.'];
    expect(await toFailure(fetchPage(url, 0))).toEqual(refusal);
    expect(await toFailure(guardedFetch(url))).toEqual(refusal);
  });

  it.each([
    ['is not what its header says', 'hello'],
    ['is cut off', gzipSync('hello').subarray(0, 12)],
  ])('that %s is a failure', async (_title, body) => {
    const { url } = await serveText(body, { 'content-encoding': 'gzip' });
    expect((await toFailure(fetchPage(url, 0)))[0]).toBe('NETWORK_ERROR');
    await expect(guardedFetch(url)).rejects.toThrow();
  });

  it('is bounded by what it becomes', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20, 'x'));
    const { url, requests } = await serveSite((request, response) => {
      const type = request.url === '/file' ? 'image/png' : 'text/plain';
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).write(bomb);
    });
    expect(await fetchPage(`${url}/page`, 2.5 * 2 ** 20)).toMatchObject({ text: '', nextOffset: null });
    expect(await toFailure(fetchFile(`${url}/file`, images))).toEqual([
      'INVALID_INPUT',
      'url: the file is larger than 1000 bytes.',
    ]);
    await expect(guardedFetch(url)).rejects.toThrow('the answer is larger than 1048576 bytes.');
    // The server does not end its answers: the client leaves.
    for (const request of requests) await toClose(request);
  });

  it('without a body may name a coding', async () => {
    const { url } = await serveSite((request, response) => {
      response.writeHead(request.url === '/none' ? 304 : 200, { 'content-encoding': 'gzip' }).end();
    });
    expect((await guardedFetch(`${url}/none`)).status).toBe(304);
    expect((await guardedFetch(url, { method: 'HEAD' })).status).toBe(200);
  });

  it('ends with the signal of the caller', async () => {
    const { url } = await serveSite((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('hello').subarray(0, 12));
    });
    const abort = new AbortController();
    const call = fetchPage(url, 0, { signal: abort.signal });
    abort.abort(new Error('left'));
    expect((await toFailure(call))[0]).toBe('NETWORK_ERROR');
  });
});
