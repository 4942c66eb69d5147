import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGuardedFetch } from '../src/web/index.ts';
import { here, serveSite, serveText, toClose } from './web-site.ts';

const local = { isAllowedAddress: (address: string) => address === '127.0.0.1' };

async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('createGuardedFetch', () => {
  it('sends the request and returns the answer', async () => {
    const url = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (text) => {
        response.setHeader('x-method', `${request.method} ${request.headers['content-type']}`);
        response.statusCode = 400;
        response.end(`got ${text}`);
      });
    });
    const body = new URLSearchParams({ code: 'a b' });
    const answer = await createGuardedFetch(local)(url, { method: 'POST', body });
    expect([answer.status, answer.ok, await answer.text()]).toEqual([400, false, 'got code=a+b']);
    expect(answer.headers.get('x-method')).toMatch(/^POST application\/x-www-form-urlencoded/);
  });

  it('rejects addresses that are not allowed, also those of names', async () => {
    const url = await serve((_request, response) => void response.end('secret'));
    const { port } = new URL(url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '169.254.169.254']) {
      await expect(createGuardedFetch()(`http://${host}:${port}/`)).rejects.toThrow();
    }
    for (const other of ['file:///etc/passwd', 'http://user:secret@example.com/', 'data:,x']) {
      await expect(createGuardedFetch(local)(other)).rejects.toThrow(/^url: /);
    }
  });

  it.each([
    ['tries all addresses of a name', true],
    ['tries the first address of a name only', false],
  ])('connects to a checked address of a name where Node %s', async (_title, triesAll) => {
    const usual = getDefaultAutoSelectFamily();
    onTestFinished(() => setDefaultAutoSelectFamily(usual));
    setDefaultAutoSelectFamily(triesAll);
    const url = await serve((_request, response) => void response.end('here'), 'localhost');
    const checked: string[] = [];
    const isAllowedAddress = (address: string): boolean => {
      checked.push(address);
      return true;
    };
    const named = `http://localhost:${new URL(url).port}/`;
    const answer = await createGuardedFetch({ isAllowedAddress })(named);
    expect([answer.status, await answer.text()]).toEqual([200, 'here']);
    expect(checked).not.toEqual([]);
    await expect(createGuardedFetch({ isAllowedAddress: () => false })(named)).rejects.toThrow(
      'not on the open internet',
    );
  });

  it('follows no redirect, and reads no large answer', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/large') response.end('x'.repeat(2000));
      else response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    expect((await createGuardedFetch(local)(url)).status).toBe(302);
    await expect(createGuardedFetch({ ...local, maxBytes: 1000 })(`${url}/large`)).rejects.toThrow('larger');
  });

  it('reads an answer of the maximum size, 1 MiB by default', async () => {
    const { url } = await serveText('x'.repeat(2 ** 20));
    expect(await (await createGuardedFetch(here)(url)).text()).toHaveLength(2 ** 20);
    const larger = await serveText('x'.repeat(2 ** 20 + 1));
    await expect(createGuardedFetch(here)(larger.url)).rejects.toThrow(
      'the answer is larger than 1048576 bytes.',
    );
  });

  it('returns each value of a header, and no body where a status has none', async () => {
    const { url } = await serveText('', { 'set-cookie': ['a=1', 'b=2'] });
    expect((await createGuardedFetch(here)(url)).headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    for (const status of [204, 205, 304]) {
      const answer = await createGuardedFetch(here)((await serveText('', {}, status)).url);
      expect([answer.status, answer.body]).toEqual([status, null]);
    }
  });

  it('leaves no connection open', async () => {
    const { url, requests } = await serveText('here');
    await createGuardedFetch(here)(url);
    await toClose(requests[0]);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });

  it('ends with the signal, also while it waits', async () => {
    const { url } = await serveSite(() => undefined);
    const signal = AbortSignal.abort(new Error('left'));
    await expect(createGuardedFetch(here)(url, { signal })).rejects.toThrow('left');
    const abort = new AbortController();
    const call = createGuardedFetch(here)(url, { signal: abort.signal });
    abort.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
  });

  it('ends at the deadline, also within an answer', async () => {
    const { url } = await serveSite((request, response) => {
      if (request.url === '/half') response.writeHead(200, { 'content-length': 9 }).write('half');
    });
    for (const path of ['/silent', '/half']) {
      await expect(createGuardedFetch({ ...here, timeoutMs: 50 })(`${url}${path}`)).rejects.toMatchObject({
        name: 'TimeoutError',
      });
    }
  });
});
