import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createLog } from '../src/log.ts';
import { createRequests } from '../src/requests.ts';

it('gives pages that are not part of the api a correlation id', async () => {
  const log = createLog({ secrets: [], destination: { write: () => undefined } });
  const page = { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<p>Hello</p>' };
  const pages = { handle: async ({ path }: { path: string }) => (path === '/' ? page : undefined) };
  const { listener } = createRequests(pages, { log, trustProxy: false });
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  for (const path of ['/', '/nothing']) {
    const named = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'X-Request-ID': 'mine' } });
    expect(named.headers.get('x-request-id')).toBe('mine');
    const made = await fetch(`http://127.0.0.1:${port}${path}`);
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  }
});

it('logs why a request failed and hides the reason from the client', async () => {
  const lines: string[] = [];
  const log = createLog({ secrets: [], destination: { write: (line) => void lines.push(line) } });
  const broken = { handle: () => Promise.reject(new Error('index.html is not there')) };
  const { listener } = createRequests(broken, { log, trustProxy: false });
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/page?token=secret`);
  expect([answer.status, await answer.json()]).toEqual([500, { error: 'Internal server error' }]);
  const [line = '{}'] = lines;
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    method: 'GET',
    path: '/page',
    error: { message: 'index.html is not there' },
    msg: 'request failed',
  });
});
