import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Mistake } from './mistake.ts';

/** A port that is ours. */
export interface Listener {
  /** The port really listened on, also when the system chose it. */
  readonly port: number;
  /** For whoever takes connections over. */
  readonly server: Server;
  /** Answers from now on; what came before waits for this. */
  serve(listener: RequestListener): void;
  /** Takes no new connections. Resolves when every request under way has been answered. */
  drain(): Promise<void>;
  /** Breaks off what is still open. */
  destroy(): void;
}

/**
 * Takes the port before anything else is touched, so that a start on a taken port changes nothing.
 * @throws Mistake naming PORT when it cannot be had.
 */
export async function listen(port: number, host: string | undefined): Promise<Listener> {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  let current: RequestListener = (incoming, outgoing) => {
    waiting.push([incoming, outgoing]);
  };
  let draining = false;
  const server = createServer((incoming, outgoing) => {
    if (draining) {
      // A connection kept open for more would keep the process from ending.
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
      return new Mistake([
        `PORT: ${port} is in use by another program; set another one, or 0 for any free one`,
      ]);
    case 'EACCES':
      return new Mistake([`PORT: ${port} needs more rights than this user has; set one from 1024 up`]);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Mistake([`--host: ${host} is no address of this machine`]);
    default:
      return error;
  }
}
