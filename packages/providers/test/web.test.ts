import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isWebToolError } from '@questline/core/ports';
import { createWebTools, type WebToolsOptions } from '@questline/providers/web';
import { afterEach, describe, expect, it } from 'vitest';

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The private address of the test server. */
const here: WebToolsOptions = { isAllowedAddress: (address) => address === '127.0.0.1' };

async function toFailure(work: Promise<unknown> | undefined): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isWebToolError(error) ? error.kind : `unclassed: ${String(error)}`;
  }
}

/** The first and the last address of each special-purpose range, and of metadata services of cloud hosts. */
const SPECIAL = `
0.0.0.1 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.255.255.255 168.63.129.16
169.254.0.0 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255 192.31.196.0
192.31.196.255 192.52.193.0 192.52.193.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 192.175.48.0
192.175.48.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0
239.255.255.255 240.0.0.0 255.255.255.255 [::] [::1] [::ffff:a9fe:a9fe] [0:0:0:0:0:ffff:7f00:1] [64:ff9b::]
[64:ff9b::ffff:ffff] [64:ff9b:1::] [64:ff9b:1:ffff::] [100::] [100::ffff:ffff:ffff:ffff] [100:0:0:1::] [2001::]
[2001:1ff:ffff::] [2001:db8::] [2001:db8:ffff::] [2002::] [2002:ffff::] [2620:4f:8000::] [2620:4f:8000:ffff::] [3fff::]
[3fff:fff::] [5f00::] [5f00:ffff::] [fc00::] [fdff::] [fe80::] [febf::] [fec0::] [feff::] [ff00::] [ffff::]
`
  .trim()
  .split(/\s+/);

describe('tool web_fetch', () => {
  it.each(SPECIAL)('rejects the special-purpose address %s', async (host) => {
    const { fetchPage } = createWebTools();
    expect(await toFailure(fetchPage?.(`http://${host}/`, 0))).toBe('INVALID_INPUT');
  });

  it('rejects every address outside the public internet, in every spelling', async () => {
    const { fetchPage } = createWebTools();
    for (const url of [
      'http://127.0.0.1/',
      'http://localhost/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://0/',
      'http://10.1.2.3/',
      'http://172.31.0.1/',
      'http://192.168.1.1/',
      'http://100.64.0.1/',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:7f00:1]/',
      'http://[fe80::1]/',
      'http://[fd00::1]/',
      'http://[64:ff9b::7f00:1]/',
      'http://[2002:7f00:1::]/',
      'http://224.0.0.1/',
      'http://user:secret@example.com/',
      'file:///etc/passwd',
      'ftp://example.com/',
      'nonsense',
    ]) {
      expect([url, await toFailure(fetchPage?.(url, 0))]).toEqual([url, 'INVALID_INPUT']);
    }
  });

  it('checks every redirect and never reaches a forbidden address', async () => {
    let reached = false;
    const target = createServer((_request, response) => {
      reached = true;
      response.end('inside');
    }).listen(0, '127.0.0.2');
    servers.push(target);
    await once(target, 'listening');
    const inside = (target.address() as AddressInfo).port;
    const port = await serve((request, response) => {
      const location = request.url === '/a' ? '/b' : `http://127.0.0.2:${inside}/`;
      response.writeHead(302, { location }).end();
    });
    const { fetchPage } = createWebTools(here);
    expect(await toFailure(fetchPage?.(`http://127.0.0.1:${port}/a`, 0))).toBe('INVALID_INPUT');
    expect(reached).toBe(false);
  });

  it('reads a page as text in parts, with its title and without scripts', async () => {
    const long = 'word '.repeat(6000);
    const port = await serve((_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head>` +
          `<body><script>alert(1)</script><h1>Gru&#223; &#x1F600;</h1><p>one</p><p>two &lt;3</p><p>${long}</p></body></html>`,
      );
    });
    const { fetchPage } = createWebTools(here);
    const first = await fetchPage?.(`http://127.0.0.1:${port}/`, 0);
    expect(first).toMatchObject({ title: 'A & B', offset: 0, nextOffset: 20_000 });
    expect(first?.text).toContain('Gruß 😀\none\ntwo <3');
    expect(first?.text).not.toContain('alert');
    const second = await fetchPage?.(`http://127.0.0.1:${port}/`, 20_000);
    expect(second?.nextOffset).toBeNull();
    expect((first?.text ?? '') + (second?.text ?? '')).toMatch(/word$/);
  });

  it.each([
    '<',
    '<a',
    '<br',
    '<title',
    '<title>',
    '<script',
    '</script ',
    '<!--',
    '&#',
    '< ',
    '\n ',
    '<b>',
    '<a></b>',
  ])('reads a page of nothing but %j in linear time', async (piece) => {
    const page = piece.repeat(Math.floor(2 ** 21 / piece.length));
    const port = await serve((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(page);
    });
    const { fetchPage } = createWebTools(here);
    // A quadratic search would take an hour.
    expect(await fetchPage?.(`http://127.0.0.1:${port}/`, 0)).toMatchObject({ offset: 0 });
  });

  it('keeps text that only looks like a tag', async () => {
    const port = await serve((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<p>1 < 2, and 3 > 2</p><p title="a">x</p><b');
    });
    const { fetchPage } = createWebTools(here);
    expect(await fetchPage?.(`http://127.0.0.1:${port}/`, 0)).toMatchObject({ text: '1 < 2, and 3 > 2\nx' });
  });

  it.each([
    [
      'an element whose name begins with svg',
      '<p>one</p><svg-icon name="a"></svg-icon><p>two</p>',
      'one\ntwo',
    ],
    ['a head without an end tag', '<head><title>T</title><p>one</p>', 'one'],
    ['named character references', '<p>don&rsquo;t &mdash; &eacute;</p>', 'don’t — é'],
    ['preformatted lines', '<p>a\nb</p><pre>c\nd</pre>', 'a b\nc\nd'],
    ['lines after preformatted ones', '<pre>a\nb<b>c</b>\nd</pre><p>e\nf</p>', 'a\nbc\nd\ne f'],
    ['an image with a title of its own', '<p>one <svg><title>Logo</title></svg>two</p>', 'one two'],
    ['a script with a tag in a string', '<p>one</p><script>"<p>"</script><p>two</p>', 'one\ntwo'],
  ])('reads a page with %s', async (_, page, text) => {
    const port = await serve((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(page);
    });
    const { fetchPage } = createWebTools(here);
    expect(await fetchPage?.(`http://127.0.0.1:${port}/`, 0)).toMatchObject({ text });
  });

  it('classifies site errors and stops on redirect loops and timeouts', async () => {
    const port = await serve((request, response) => {
      const path = request.url ?? '';
      if (path === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (path === '/busy') response.writeHead(429).end();
      else if (path === '/gone') response.writeHead(410).end();
      else if (path === '/picture') response.writeHead(200, { 'content-type': 'image/png' }).end('png');
    });
    const patient = createWebTools(here);
    const hasty = createWebTools({ ...here, timeoutMs: 100 });
    const kinds: Record<string, string> = {};
    for (const path of ['loop', 'busy', 'gone', 'picture', 'hang']) {
      const { fetchPage } = path === 'hang' ? hasty : patient;
      kinds[path] = await toFailure(fetchPage?.(`http://127.0.0.1:${port}/${path}`, 0));
    }
    expect(kinds).toEqual({
      loop: 'EXTERNAL_API_ERROR',
      busy: 'RATE_LIMIT',
      gone: 'EXTERNAL_API_ERROR',
      picture: 'INVALID_INPUT',
      hang: 'NETWORK_ERROR',
    });
  });
});

describe('web search and weather', () => {
  it('query their services and return only the results', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push([request.url, request.headers['x-subscription-token']]);
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify(
          request.url?.startsWith('/res')
            ? { web: { results: [{ title: 'T', url: 'https://t.example', description: 'S', extra: 1 }] } }
            : {
                current: {
                  temperature_2m: 50,
                  apparent_temperature: 47,
                  relative_humidity_2m: 80,
                  weather_code: 61,
                  wind_speed_10m: 9,
                },
              },
        ),
      );
    });
    const base = `http://127.0.0.1:${port}`;
    const web = createWebTools({ braveApiKey: 'k', searchUrl: base, weatherUrl: base });
    expect(await web.search?.('a b', 3)).toEqual([{ title: 'T', url: 'https://t.example', snippet: 'S' }]);
    expect(await web.weather?.({ lat: 59.9, lon: 10.7 }, 'imperial')).toEqual({
      description: 'rain',
      temperature: 50,
      feelsLike: 47,
      humidity: 80,
      windSpeed: 9,
      units: 'imperial',
    });
    expect(seen[0]).toEqual(['/res/v1/web/search?q=a+b&count=3', 'k']);
    expect(createWebTools().search).toBeUndefined();
  });

  it('classify a rejected key, rate limiting and invalid responses', async () => {
    const statuses = [401, 429, 500, 200];
    const port = await serve((_request, response) => {
      response.writeHead(statuses.shift() ?? 200).end('nonsense');
    });
    const { search } = createWebTools({ braveApiKey: 'k', searchUrl: `http://127.0.0.1:${port}` });
    const kinds: string[] = [];
    for (let index = 0; index < 4; index++) kinds.push(await toFailure(search?.('x', 1)));
    expect(kinds).toEqual(['API_KEY_MISSING', 'RATE_LIMIT', 'EXTERNAL_API_ERROR', 'EXTERNAL_API_ERROR']);
  });
});

describe('file download by address', () => {
  const terms = { accept: ['image/'], maxBytes: 1000 };

  it('returns whole files with their type', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/PNG; charset=binary' }).end('picture');
    });
    const { mediaType, data } = await createWebTools(here).fetchFile(`http://127.0.0.1:${port}/`, terms);
    expect([mediaType, Buffer.from(data).toString()]).toEqual(['image/png', 'picture']);
  });

  it('rejects private addresses, also after a redirect, other types and oversized files', async () => {
    const answers: Record<string, () => [number, Record<string, string>, string]> = {
      '/inside': () => [302, { location: 'http://127.0.0.2/' }, ''],
      '/page': () => [200, { 'content-type': 'text/html' }, '<p>'],
      '/large': () => [200, { 'content-type': 'image/png' }, 'x'.repeat(1001)],
      '/gone': () => [404, {}, ''],
    };
    const port = await serve((request, response) => {
      const [status, headers, body] = answers[request.url ?? '']?.() ?? [500, {}, ''];
      response.writeHead(status, headers).end(body);
    });
    const { fetchFile } = createWebTools(here);
    const getKind = (path: string) => toFailure(fetchFile(`http://127.0.0.1:${port}${path}`, terms));
    expect(await getKind('/inside')).toBe('INVALID_INPUT');
    expect(await getKind('/page')).toBe('INVALID_INPUT');
    expect(await getKind('/large')).toBe('INVALID_INPUT');
    expect(await getKind('/gone')).toBe('EXTERNAL_API_ERROR');
    expect(await toFailure(createWebTools().fetchFile(`http://127.0.0.1:${port}/page`, terms))).toBe(
      'INVALID_INPUT',
    );
  });
});
