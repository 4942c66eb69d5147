import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Address, openWorkspace } from './workspace.ts';

/** Runs in a separate process: serves live updates and reports its port, until its parent ends it. */
async function serve(address: Address): Promise<void> {
  const workspace = await openWorkspace(address);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  workspace.realtime.attach(server);
  process.once('message', async () => {
    server.close();
    await workspace.close();
    process.disconnect();
  });
  process.send?.((server.address() as AddressInfo).port);
}

process.once('message', serve);
