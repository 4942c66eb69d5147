import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWebhookSender } from '../src/web/index.ts';
import { serveText, toClose } from './web-site.ts';

const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'evt_1' };
const LOCAL = { isAllowedAddress: (address: string) => address === '127.0.0.1' };

/** Private, loopback, link-local, multicast, reserved and mapped addresses, in several spellings. */
const FORBIDDEN = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '169.254.169.254',
  '169.254.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.0.1',
  '192.168.255.255',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.1',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::7f00:1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[febf::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
];

async function listen(answer: RequestListener): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers['webhook-id']} ${Buffer.concat(parts)}`);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

const send = (url: string, options: Parameters<typeof createWebhookSender>[0] = LOCAL) =>
  createWebhookSender(options).send({ url, headers: HEADERS, body: '{"type":"x"}' });

describe('webhook sender', () => {
  it('rejects 40 addresses that are not public, also when a name resolves to one', async () => {
    const sender = createWebhookSender();
    expect(FORBIDDEN).toHaveLength(40);
    for (const host of FORBIDDEN) {
      const url = `http://${host}/hook`;
      expect([host, await sender.isAllowed(url)]).toEqual([host, false]);
      expect([host, await send(url, {})]).toEqual([host, { outcome: 'failed', reason: 'forbidden_address' }]);
    }
    // Only the name resolution detects it.
    expect(await sender.isAllowed('http://localhost/hook')).toBe(true);
    expect(await send('http://localhost/hook', {})).toEqual({
      outcome: 'failed',
      reason: 'forbidden_address',
    });
    expect(await sender.isAllowed('https://hooks.example.com/in?token=1')).toBe(true);
    for (const url of [
      'ftp://example.com',
      'http://user:word@example.com',
      'file:///etc/passwd',
      'nothing',
    ]) {
      expect([url, await sender.isAllowed(url)]).toEqual([url, false]);
    }
  });

  it('posts to an address that the host permits, and returns the status', async () => {
    const { port, seen } = await listen((_request, response) => response.writeHead(204).end());
    expect(await send(`http://127.0.0.1:${port}/in?a=1`)).toEqual({ outcome: 'answered', status: 204 });
    expect(seen).toEqual(['POST /in?a=1 evt_1 {"type":"x"}']);
  });

  it('does not follow a redirect', async () => {
    const target = await listen((_request, response) => response.end());
    const { port } = await listen((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end(),
    );
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ outcome: 'failed', reason: 'redirect' });
    expect(target.seen).toEqual([]);
  });

  it('times out for a receiver that never answers, or sends its headers slowly', async () => {
    const silent = await listen(() => undefined);
    const slow = await listen((_request, response) => {
      const timer = setInterval(() => response.writeProcessing(), 20);
      response.on('close', () => clearInterval(timer));
    });
    for (const { port } of [silent, slow]) {
      const outcome = await send(`http://127.0.0.1:${port}/`, { ...LOCAL, timeoutMs: 200 });
      expect(outcome).toEqual({ outcome: 'failed', reason: 'timeout' });
    }
  });

  it('does not read the answer: it uses little memory for one of 50 MB or an endless one', async () => {
    let sent = 0;
    const { port } = await listen((_request, response) => {
      response.writeHead(200);
      const part = Buffer.alloc(65_536);
      const write = (): void => {
        while (sent < 50 * 2 ** 20 && !response.destroyed) {
          sent += part.length;
          if (!response.write(part)) return void response.once('drain', write);
        }
      };
      write();
    });
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ outcome: 'answered', status: 200 });
    expect(sent).toBeLessThan(25 * 2 ** 20);
  });

  it.each([
    [299, { outcome: 'answered', status: 299 }],
    [300, { outcome: 'failed', reason: 'redirect' }],
    [399, { outcome: 'failed', reason: 'redirect' }],
    [400, { outcome: 'answered', status: 400 }],
    [500, { outcome: 'answered', status: 500 }],
  ])('takes status %i as %j', async (status, outcome) => {
    const { url } = await serveText('', {}, status);
    expect(await send(url)).toEqual(outcome);
  });

  it('leaves no connection open', async () => {
    const { url, requests } = await serveText('');
    await send(url);
    await toClose(requests[0]);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });

  it('times out with a signal of the caller, too', async () => {
    const { port } = await listen(() => undefined);
    const outcome = createWebhookSender({ ...LOCAL, timeoutMs: 50 }).send(
      { url: `http://127.0.0.1:${port}/`, headers: HEADERS, body: '{}' },
      { signal: new AbortController().signal },
    );
    expect(await outcome).toEqual({ outcome: 'failed', reason: 'timeout' });
  });

  it('reports a connection that fails, and rejects when the caller aborts', async () => {
    expect(await send('http://127.0.0.1:1/')).toEqual({ outcome: 'failed', reason: 'connection' });
    const { port } = await listen(() => undefined);
    const control = new AbortController();
    const sending = createWebhookSender(LOCAL).send(
      { url: `http://127.0.0.1:${port}/`, headers: HEADERS, body: '{}' },
      { signal: control.signal },
    );
    control.abort(new Error('stop'));
    await expect(sending).rejects.toThrow('stop');
  });
});
