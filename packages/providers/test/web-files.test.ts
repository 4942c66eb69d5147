import { createWebTools } from '@questline/providers/web';
import { describe, expect, it } from 'vitest';
import { here, serveSite, serveText, toClose, toFailure } from './web-site.ts';

const { fetchFile } = createWebTools(here);
const images = { accept: ['image/', 'application/pdf'], maxBytes: 10 };
const OTHER_TYPE = ['INVALID_INPUT', 'url: there is something of another type.'];

describe('file of the web', () => {
  it('is asked for with the accepted types', async () => {
    const { url, requests } = await serveText('pdf', { 'content-type': 'application/PDF ; a=b' });
    const file = await fetchFile(url, images);
    expect([file.mediaType, Buffer.from(file.data).toString()]).toEqual(['application/pdf', 'pdf']);
    expect(requests[0]?.headers.accept).toBe('image/*, application/pdf');
  });

  it('leaves no connection open', async () => {
    const { url, requests } = await serveText('png', { 'content-type': 'image/png' });
    await fetchFile(url, images);
    await toClose(requests[0]);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });

  it.each(['text/html', 'text/plain; image/png', 'x-image/png'])('is refused as %s', async (type) => {
    const { url } = await serveText('png', { 'content-type': type });
    expect(await toFailure(fetchFile(url, images))).toEqual(OTHER_TYPE);
  });

  it('is refused without a type', async () => {
    expect(await toFailure(fetchFile((await serveText('png')).url, images))).toEqual(OTHER_TYPE);
  });

  it('may have the maximum size, and no byte more', async () => {
    const type = { 'content-type': 'image/png' };
    const { data } = await fetchFile((await serveText('0123456789', type)).url, images);
    expect(Buffer.from(data).toString()).toBe('0123456789');
    expect(await toFailure(fetchFile((await serveText('0123456789a', type)).url, images))).toEqual([
      'INVALID_INPUT',
      'url: the file is larger than 10 bytes.',
    ]);
  });

  it('is not read to the end of an endless one', async () => {
    const { url, requests } = await serveSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const more = (): void => {
        while (response.write(Buffer.alloc(2 ** 16)));
        response.once('drain', more);
      };
      more();
    });
    expect((await toFailure(fetchFile(url, images)))[0]).toBe('INVALID_INPUT');
    await toClose(requests[0]);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });

  it.each(['http://127.0.0.2/', 'http://user@127.0.0.1/', 'file:///etc/passwd'])(
    'at %s is refused, also after a redirect',
    async (address) => {
      expect((await toFailure(fetchFile(address, images)))[0]).toBe('INVALID_INPUT');
      const { url } = await serveText('', { location: address }, 307);
      expect((await toFailure(fetchFile(url, images)))[0]).toBe('INVALID_INPUT');
    },
  );

  it('ends with the signal of the caller', async () => {
    const { url } = await serveSite(() => undefined);
    const abort = new AbortController();
    const call = fetchFile(url, images, { signal: abort.signal });
    abort.abort(new Error('left'));
    await expect(call).rejects.toMatchObject({ kind: 'NETWORK_ERROR', cause: abort.signal.reason });
  });
});
