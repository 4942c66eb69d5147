import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi, createServices, createUser, issueApiKey, toNodeListener } from '@questline/core';
import { createDirectoryObjects } from '@questline/core/directory';
import { createMemoryPorts } from '@questline/core/memory';

/* A server that stores files in a folder. It reports its peak memory since the start on request. */

const [folder = ''] = process.argv.slice(2);
const services = createServices(
  { ...createMemoryPorts(), models: [], objects: createDirectoryObjects({ folder }) },
  { jwtSecret: 'a'.repeat(64), admin: { MaxFileSize: 4 * 2 ** 30 } },
);
const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
const { key } = await issueApiKey(services, {
  userId: user?.id ?? '',
  name: 'test',
  scopes: ['files:write'],
  requestsPerMinute: 10_000,
});
const api = createApi(services);
await api.start();
const server = createServer(toNodeListener(api));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  let most = process.memoryUsage.rss();
  const atFirst = most;
  setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  process.on('message', () => process.send?.({ more: most - atFirst }));
  process.send?.({ url: `http://127.0.0.1:${port}`, key });
});
