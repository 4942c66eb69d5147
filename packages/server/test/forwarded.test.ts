import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Mountable } from '@questline/core';
import { expect, it, onTestFinished } from 'vitest';
import { createLog } from '../src/log.ts';
import { createRequests } from '../src/requests.ts';

/** Returns the received client address. */
const mirror: Mountable = {
  handle: async ({ remoteAddress }) => ({ status: 200, headers: {}, body: String(remoteAddress) }),
};

async function seenWith(forwarded: string | string[] | undefined): Promise<string> {
  const log = createLog({ secrets: [], destination: { write: () => undefined } });
  const { listener } = createRequests(mirror, { log, trustProxy: true });
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const headers = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded };
    request({ port, host: '127.0.0.1', headers }, (response) => {
      response.setEncoding('utf8').once('data', resolve);
    })
      .once('error', reject)
      .end();
  });
}

it.each([
  ['the one address the proxy added', '203.0.113.7', '203.0.113.7'],
  ['the last of several, never what the client claimed', '10.0.0.1, 203.0.113.7', '203.0.113.7'],
  ['the last of several headers', ['10.0.0.1', '2001:db8::7'], '2001:db8::7'],
  ['nothing that is no address', 'me', '127.0.0.1'],
  ['the connection, without a proxy', undefined, '127.0.0.1'],
])('trusts %s', async (_what, forwarded, seen) => {
  expect(await seenWith(forwarded)).toBe(seen);
});
