import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on loopback that simulates network failures. */
export interface TcpProxy {
  readonly port: number;
  /** Closes every connection and accepts no new ones. */
  refuse(): Promise<void>;
  /** Resets every connection; accepts new ones. */
  reset(): void;
  /** Blocks both directions without closing the connections. */
  freeze(): void;
  /** Connections from before and during the freeze continue with the sent data, or are lost. */
  unfreeze(old: 'revive' | 'lose'): void;
  /** Accepts connections again after `refuse`. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly down: Socket;
  readonly up: Socket;
}

export async function createTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let isFrozen = false;
  let port = 0;

  const flow = ({ down, up }: Pair): void => {
    down.pipe(up);
    up.pipe(down);
  };
  const stop = ({ down, up }: Pair): void => {
    for (const socket of [down, up]) {
      socket.unpipe();
      socket.pause();
    }
  };

  const onConnection = (down: Socket): void => {
    const up = connect(target);
    const pair = { down, up };
    pairs.add(pair);
    const end = () => {
      // A frozen proxy forwards nothing, not even the end of a connection.
      if (isFrozen || !pairs.delete(pair)) return;
      down.destroy();
      up.destroy();
    };
    for (const socket of [down, up]) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    if (isFrozen) stop(pair);
    else flow(pair);
  };

  let server: Server;
  const listen = async (): Promise<void> => {
    server = createServer(onConnection).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) port = address.port;
  };
  const cut = (): void => {
    for (const { down, up } of pairs) {
      down.resetAndDestroy();
      up.destroy();
    }
    pairs.clear();
  };
  const stopListening = async (): Promise<void> => {
    cut();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };

  await listen();
  return {
    get port() {
      return port;
    },
    refuse: stopListening,
    reset: cut,
    freeze() {
      isFrozen = true;
      for (const pair of pairs) stop(pair);
    },
    unfreeze(old) {
      isFrozen = false;
      // A lost connection stays open at the server, as after a network failure.
      if (old === 'revive') for (const pair of pairs) flow(pair);
    },
    accept: listen,
    async close() {
      isFrozen = false;
      await stopListening();
    },
  };
}
