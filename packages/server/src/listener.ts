import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError } from './cli-error.ts';

/** A bound port. */
export interface Listener {
  /** The actual port, also when the system chose it. */
  readonly port: number;
  /** For upgrades of connections. */
  readonly server: Server;
  /** Starts to answer; earlier requests wait for this. */
  serve(listener: RequestListener): void;
  /** Stops accepting connections. Resolves when every open request has been answered. */
  drain(): Promise<void>;
  /** Closes the connections that are still open. */
  destroy(): void;
}

/**
 * Binds the port before anything else, so that a start on a port in use changes nothing.
 * @throws CliError that names PORT or --host when it cannot be bound.
 */
export async function listen(port: number, host: string | undefined): Promise<Listener> {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  let current: RequestListener = (incoming, outgoing) => {
    waiting.push([incoming, outgoing]);
  };
  let draining = false;
  const server = createServer((incoming, outgoing) => {
    if (draining) {
      // An open keep-alive connection would keep the process from exiting.
      outgoing.shouldKeepAlive = false;
    }
    outgoing.once('close', () => {
      if (draining) server.closeIdleConnections();
    });
    current(incoming, outgoing);
  });
  await bind(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    server,
    serve(listener) {
      current = listener;
      for (const [incoming, outgoing] of waiting.splice(0)) listener(incoming, outgoing);
    },
    drain() {
      draining = true;
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
    destroy: () => server.closeAllConnections(),
  };
}

function bind(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(asMistake(error, port, host)));
    server.listen({ port, ...(host !== undefined && { host }) }, () => resolve());
  });
}

function asMistake(error: NodeJS.ErrnoException, port: number, host: string | undefined): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new CliError([
        `PORT: ${port} is in use by another program; set another port, or 0 for any free port`,
      ]);
    case 'EACCES':
      return new CliError([`PORT: ${port} needs more rights than this user has; set a port from 1024 up`]);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CliError([`--host: ${host} is not an address of this machine`]);
    default:
      return error;
  }
}
