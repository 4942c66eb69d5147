import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeListener } from '@questline/core';
import { type Address, openWorkspace } from './workspace.ts';

/** The process that is killed: serves requests and does the work, until it is no more. */
async function serve(address: Address): Promise<void> {
  const { api } = await openWorkspace(address, (error) => process.send?.({ error: String(error) }));
  await api.start();
  const server = createServer(toNodeListener(api));
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

process.once('message', serve);
process.once('disconnect', () => process.exit());
