import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isWebToolError } from '@questline/core/ports';
import { later } from './set-up.ts';

/** Options for tools that call `serveSite`, whose address is private. */
export const here = { isAllowedAddress: (address: string): boolean => address === '127.0.0.1' };

interface Site {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
}

export async function serveSite(listener: RequestListener): Promise<Site> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  later(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** A site with one answer. The client may keep its connections for ten minutes. */
export function serveText(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string | string[]>> = {},
  status = 200,
): Promise<Site> {
  return serveSite((_request, response) => {
    response.writeHead(status, { 'keep-alive': 'timeout=600', ...headers }).end(body);
  });
}

/** The kind and the message of a failure of the web. */
export async function toFailure(work: Promise<unknown>): Promise<readonly [string, string]> {
  const error = await work.then(
    () => new Error('none'),
    (reason: unknown) => reason,
  );
  if (isWebToolError(error)) return [error.kind, error.message];
  throw error;
}

/** Resolves when a site has lost the connection of a request. */
export async function toClose(request: IncomingMessage | undefined): Promise<void> {
  if (request === undefined || request.socket.destroyed) return;
  // A reset of the connection is an end, too.
  request.socket.on('error', () => undefined);
  await new Promise<void>((resolve) => request.socket.once('close', () => resolve()));
}
