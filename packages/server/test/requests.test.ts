import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createLog } from '../src/log.ts';
import { createRequests } from '../src/requests.ts';

it('tells in the log why an answer could not be made, and the client nothing of it', async () => {
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
    msg: 'not answered',
  });
});
