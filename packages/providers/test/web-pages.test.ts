import { createWebTools } from '@questline/providers/web';
import { describe, expect, it } from 'vitest';
import { here, serveSite, serveText, toClose, toFailure } from './web-site.ts';

const PART = 20_000;
const HTML = { 'content-type': 'text/html' };
const { fetchPage } = createWebTools(here);

describe('page of the web', () => {
  it('is asked for as text, with the name of this product', async () => {
    const { url, requests } = await serveText('hello', { 'content-type': 'text/plain' });
    expect(await fetchPage(`${url}/a?b=1`, 0)).toEqual({
      url: `${url}/a?b=1`,
      title: null,
      text: 'hello',
      offset: 0,
      nextOffset: null,
    });
    expect(requests[0]?.headers).toMatchObject({
      accept: 'text/html, text/*;q=0.9, application/json;q=0.8',
      'user-agent': 'Questline',
    });
  });

  it('leaves no connection open', async () => {
    const { url, requests } = await serveText('hello');
    await fetchPage(url, 0);
    await toClose(requests[0]);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });

  it.each([
    ['nothing', 0, 0, '', null],
    ['one part', PART, 0, 'x'.repeat(PART), null],
    ['the first part', PART + 1, 0, 'x'.repeat(PART), PART],
    ['the last part', PART + 1, PART, 'x', null],
    ['a part behind the end', 5, 7, '', null],
  ])('is %s of its text', async (_title, size, offset, text, nextOffset) => {
    const { url } = await serveText('x'.repeat(size));
    expect(await fetchPage(url, offset)).toMatchObject({ text, offset, nextOffset });
  });

  it('is read up to 2 MiB', async () => {
    const { url } = await serveText('x'.repeat(3 * 2 ** 20));
    expect(await fetchPage(url, 2 * 2 ** 20 - 5)).toMatchObject({ text: expect.stringMatching(/^x{5}/) });
    expect(await fetchPage(url, 2.5 * 2 ** 20)).toMatchObject({ text: '' });
  });

  it('keeps characters whose bytes arrive apart, and marks one without its last bytes', async () => {
    const { url } = await serveText(Buffer.concat([Buffer.from('€'.repeat(600_000)), Buffer.from([0xe2])]));
    const tools = createWebTools(here);
    let text = '';
    for (let offset: number | null = 0; offset !== null; ) {
      const page: Awaited<ReturnType<typeof fetchPage>> = await tools.fetchPage(url, 580_000 + offset);
      text += page.text;
      offset = page.nextOffset === null ? null : page.nextOffset - 580_000;
    }
    expect(text).toBe(`${'€'.repeat(20_000)}\ufffd`);
  });

  it.each([
    ['text/html; charset=utf-8', '<p>a</p>', 'a'],
    ['application/xhtml+xml', '<p>a</p>', 'a'],
    ['text/plain', ' <!DOCTYPE html><p>a</p>', 'a'],
    ['text/plain', '\n<HTML><p>a</p>', 'a'],
    ['text/plain', 'see <html>', 'see <html>'],
    ['application/json', '{"a":1}', '{"a":1}'],
    [undefined, '<p>a</p>', '<p>a</p>'],
  ])('of type %s with %j is read as %j', async (type, body, text) => {
    const { url } = await serveText(body, type === undefined ? {} : { 'content-type': type });
    expect(await fetchPage(url, 0)).toMatchObject({ text });
  });

  it('is read whatever the case of its type', async () => {
    const { url } = await serveText('<title>a</title>', { 'content-type': 'Text/HTML' });
    expect(await fetchPage(url, 0)).toMatchObject({ title: 'a' });
  });

  it.each(['image/png', 'application/pdf', 'application/octet-stream', 'x-text/html'])(
    'is refused as %s',
    async (type) => {
      const { url } = await serveText('a', { 'content-type': type });
      expect(await toFailure(fetchPage(url, 0))).toEqual([
        'INVALID_INPUT',
        'url: this is not a page that can be read as text.',
      ]);
    },
  );
});

describe('redirect of a page', () => {
  it('is followed five times, with the address of the last page', async () => {
    const { url, requests } = await serveSite((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(301, { location: `${left - 1}` }).end('moved');
      else response.writeHead(200, HTML).end('<title>Here</title>');
    });
    expect(await fetchPage(`${url}/5`, 0)).toMatchObject({ url: `${url}/0`, title: 'Here' });
    expect(requests).toHaveLength(6);
    expect(await toFailure(fetchPage(`${url}/6`, 0))).toEqual([
      'EXTERNAL_API_ERROR',
      'The site redirects more than 5 times.',
    ]);
    expect(requests).toHaveLength(12);
  });

  it.each([
    [299, 'first'],
    [300, 'second'],
    [399, 'second'],
  ])('with status %i leads to the %s page', async (status, text) => {
    const { url } = await serveSite((request, response) => {
      if (request.url === '/second') response.end('second');
      else response.writeHead(status, { location: '/second' }).end('first');
    });
    expect(await fetchPage(url, 0)).toMatchObject({ text });
  });

  it('is a page without a location, and an error with status 400', async () => {
    expect(await fetchPage((await serveText('choose', {}, 300)).url, 0)).toMatchObject({ text: 'choose' });
    const refused = await serveText('', { location: '/second' }, 400);
    expect(await toFailure(fetchPage(refused.url, 0))).toEqual([
      'EXTERNAL_API_ERROR',
      'The site answered with status 400.',
    ]);
    expect(refused.requests).toHaveLength(1);
  });

  it.each(['http://[', 'ftp://example.com/', 'http://user@127.0.0.1/', 'http://127.0.0.2/', 'data:,x'])(
    'to %s is refused',
    async (location) => {
      const { url } = await serveText('', { location }, 302);
      expect((await toFailure(fetchPage(url, 0)))[0]).toBe('INVALID_INPUT');
    },
  );

  it('to a name with a private address is refused', async () => {
    const { url, requests } = await serveSite((_request, response) => {
      response.writeHead(302, { location: `http://localhost:${new URL(url).port}/inside` }).end();
    });
    const outer = { isAllowedAddress: (address: string) => address === '127.0.0.1' && requests.length < 1 };
    expect(await toFailure(createWebTools(outer).fetchPage(url, 0))).toEqual([
      'INVALID_INPUT',
      'url: this address is not on the open internet.',
    ]);
    expect(requests).toHaveLength(1);
  });
});

it('a page with status 429 is an error that asks to wait', async () => {
  const { url } = await serveText('', {}, 429);
  expect(await toFailure(fetchPage(url, 0))).toEqual(['RATE_LIMIT', 'The site asks to wait.']);
});

describe('address of a page', () => {
  it.each([
    ['http://user@127.0.0.1/', 'url: credentials in an address are not accepted.'],
    ['http://:secret@127.0.0.1/', 'url: credentials in an address are not accepted.'],
    ['ftp://127.0.0.1/', 'url: expected an http or https address.'],
    ['javascript:1', 'url: expected an http or https address.'],
    ['', 'url: expected an http or https address.'],
    ['http://127.0.0.2/', 'url: this address is not on the open internet.'],
    ['http://[::1]/', 'url: this address is not on the open internet.'],
  ])('%s is refused', async (address, message) => {
    expect(await toFailure(fetchPage(address, 0))).toEqual(['INVALID_INPUT', message]);
  });

  it('may use an IPv6 address or https', async () => {
    const checked: string[] = [];
    const isAllowedAddress = (address: string): boolean => {
      checked.push(address);
      return true;
    };
    const tools = createWebTools({ isAllowedAddress });
    for (const address of ['http://[::1]:1/', 'https://127.0.0.1:1/']) {
      expect((await toFailure(tools.fetchPage(address, 0)))[0]).toBe('NETWORK_ERROR');
    }
    expect(checked).toEqual(['::1', '127.0.0.1']);
  });
});

describe('page that does not arrive', () => {
  it('ends with the signal of the caller', async () => {
    const { url } = await serveSite(() => undefined);
    const abort = new AbortController();
    const call = fetchPage(url, 0, { signal: abort.signal });
    abort.abort(new Error('left'));
    expect(await toFailure(call)).toEqual(['NETWORK_ERROR', 'The site could not be reached in time.']);
    await expect(fetchPage(url, 0, { signal: abort.signal })).rejects.toMatchObject({
      cause: abort.signal.reason,
    });
  });

  it('ends at the deadline, also with a signal and after its beginning', async () => {
    const { signal } = new AbortController();
    const hasty = createWebTools({ ...here, timeoutMs: 50 });
    const silent = await serveSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 9 }).write('half');
    });
    for (const options of [undefined, {}, { signal }]) {
      expect((await toFailure(hasty.fetchPage(silent.url, 0, options)))[0]).toBe('NETWORK_ERROR');
      expect(
        (await toFailure(hasty.fetchFile(silent.url, { accept: ['text/'], maxBytes: 9 }, options)))[0],
      ).toBe('NETWORK_ERROR');
    }
  });
});
