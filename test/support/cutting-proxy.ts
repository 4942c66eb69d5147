import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Random } from '@questline/testing';

export interface CuttingProxyOptions {
  /** The server behind the proxy. */
  readonly port: number;
  readonly random: Random;
  /** Number of event streams to cut. Later ones and all other requests pass. */
  readonly cuts: number;
}

export interface CuttingProxy {
  readonly url: string;
  /** Event streams cut so far. */
  readonly cutConnections: number;
  close(): Promise<void>;
}

/** Most responses are cut in the head or in the first frames, a few far behind. Bytes. */
const NEAR = 1200;
const FAR = 6000;

/** Starts a TCP proxy that ends connections with event streams after a random number of response bytes. */
export async function startCuttingProxy({ port, random, cuts }: CuttingProxyOptions): Promise<CuttingProxy> {
  let cutConnections = 0;
  let planned = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let left = Number.POSITIVE_INFINITY;
    for (const socket of [client, upstream]) {
      open.add(socket);
      // A reset is one more broken connection.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (left === Number.POSITIVE_INFINITY && planned < cuts && isEventRequest(chunk)) {
        planned += 1;
        left = 1 + random.below(random.chance(0.1) ? FAR : NEAR);
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (chunk.length < left) {
        left -= chunk.length;
        client.write(chunk);
        return;
      }
      cutConnections += 1;
      const part = chunk.subarray(0, left);
      left = Number.POSITIVE_INFINITY;
      upstream.destroy();
      client.write(part, () => client.destroy());
    });
    upstream.on('close', () => {
      // It ended before its cut: another connection takes it.
      if (left !== Number.POSITIVE_INFINITY) planned -= 1;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cutConnections() {
      return cutConnections;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function isEventRequest(chunk: Buffer): boolean {
  return /^GET \S*\/events[ ?]/m.test(chunk.toString('latin1'));
}
