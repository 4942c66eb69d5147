import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGuardedFetch } from '../src/web/index.ts';

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

  it('ends with the signal', async () => {
    const url = await serve(() => undefined);
    const signal = AbortSignal.abort(new Error('left'));
    await expect(createGuardedFetch(local)(url, { signal })).rejects.toThrow('left');
  });
});
