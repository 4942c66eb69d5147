import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Caller, isApiError, type Services } from '@questline/core';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Connection, connect } from './connection.ts';
import { presentedBy } from './credential.ts';
import { CHECK_EVERY_MS, CLOSED, LIMITS } from './limits.ts';
import { refuse } from './refusals.ts';

export type RealtimeServices = Pick<
  Services,
  'agentEvents' | 'authenticator' | 'clock' | 'onError' | 'store'
>;

export interface RealtimeOptions {
  /** Default `/api/realtime`. */
  readonly path?: string;
}

export interface Realtime {
  /**
   * For a server's `upgrade` event. Takes what is meant for our path, and leaves everything else untouched.
   * @returns whether it was ours.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /**
   * Listens to a server's upgrades, beside whoever else does. Where nobody else does, an upgrade for another path is
   * answered 404, because it would wait for ever. @returns stops listening; open sockets stay.
   */
  attach(server: Server): () => void;
  /** Refuses new connections with 503, and closes the open ones with 1001. Resolves when all are closed. */
  close(): Promise<void>;
}

/**
 * The live updates of a workspace. Nothing happens before the first socket: no timer, no subscription.
 * @throws RangeError when the path is none.
 */
export function createRealtime(services: RealtimeServices, options: RealtimeOptions = {}): Realtime {
  const { path = '/api/realtime' } = options;
  if (!/^\/[^?#\s]*$/.test(path)) throw new RangeError(`createRealtime: path must begin with a slash`);
  const { clock } = services;
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: LIMITS.frameBytes,
    handleProtocols: (_offered, request) => presentedBy(request).protocol ?? false,
  });
  const open = new Map<Connection, Promise<void>>();
  const perUser = new Map<string, number>();
  let handshakes = 0;
  let isClosing = false;
  let cancelCheck: (() => void) | undefined;
  const report = (error: unknown): void => {
    services.onError({ operation: 'realtime', requestId: '', error });
  };

  /** @returns undefined when the credential is nobody's, or may not be here. @throws when that cannot be told. */
  const identify = async (credential: string): Promise<Caller | undefined> => {
    try {
      const caller = await services.authenticator.identify(credential);
      return mayConnect(caller) ? caller : undefined;
    } catch (error) {
      if (isApiError(error) && error.status === 401) return undefined;
      throw error;
    }
  };

  const checkAll = (): void => {
    cancelCheck = clock.timer(CHECK_EVERY_MS, () => {
      for (const connection of open.keys()) connection.check().catch(report);
      if (open.size > 0) checkAll();
      else cancelCheck = undefined;
    });
  };

  const admit = (socket: WebSocket, userId: string, credential: string): void => {
    const count = perUser.get(userId) ?? 0;
    const connection = connect(socket, services, () => identify(credential));
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        open.delete(connection);
        const left = (perUser.get(userId) ?? 1) - 1;
        if (left === 0) perUser.delete(userId);
        else perUser.set(userId, left);
        resolve();
      });
    });
    perUser.set(userId, count + 1);
    open.set(connection, closed);
    if (cancelCheck === undefined) checkAll();
    if (isClosing) connection.close(CLOSED.goingAway);
    else if (count >= LIMITS.socketsPerUser) connection.close(CLOSED.tooMany);
  };

  const shakeHands = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    // Until the library listens, somebody must: an error nobody hears ends the process.
    const ignore = (): void => void socket.destroy();
    socket.on('error', ignore);
    const { credential } = presentedBy(request);
    const caller = credential === undefined ? undefined : await identify(credential);
    if (caller === undefined || credential === undefined) return refuse(socket, 401, 'Authentication failed');
    if (isClosing) return refuse(socket, 503, 'The service is about to restart');
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      socket.off('error', ignore);
      admit(accepted, caller.userId, credential);
    });
  };

  const upgrade: Realtime['upgrade'] = (request, socket, head) => {
    if (pathOf(request) !== path) return false;
    if (isClosing || handshakes >= LIMITS.waitingHandshakes) {
      refuse(socket, 503, 'The service takes no more connections now');
      return true;
    }
    handshakes += 1;
    shakeHands(request, socket, head)
      .catch((error: unknown) => {
        report(error);
        refuse(socket, 503, 'The service is temporarily unavailable');
      })
      .finally(() => {
        handshakes -= 1;
      });
    return true;
  };

  return {
    upgrade,
    attach(server) {
      const listener = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
        const isOurs = upgrade(request, socket, head);
        if (!isOurs && server.listenerCount('upgrade') === 1) refuse(socket, 404, 'Not found');
      };
      server.on('upgrade', listener);
      return () => void server.off('upgrade', listener);
    },
    async close() {
      isClosing = true;
      cancelCheck?.();
      for (const connection of open.keys()) connection.close(CLOSED.goingAway);
      await Promise.all(open.values());
    },
  };
}

/** Everybody signed in; of keys, those that may talk to models. */
function mayConnect(caller: Caller): boolean {
  return (
    caller.kind === 'token' || caller.scopes.some((scope) => scope === 'ai:chat' || scope === 'ai:generate')
  );
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
