import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from './host.ts';

/** A host of a `node:http` listener on a free port. `close` also closes open connections. */
export async function listen(
  listener: RequestListener,
  { errors, seen }: Pick<Host, 'errors' | 'seen'>,
): Promise<Host> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    errors,
    seen,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
