import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Caller, isApiError, type Services } from '@questline/core';
import type { IdentityRequest } from '@questline/core/ports';
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
   * Handles a server's `upgrade` event for our path; leaves other upgrades untouched.
   * @returns whether the upgrade was handled.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /**
   * Listens to a server's upgrades, beside other listeners. Without other listeners, an upgrade for another path is
   * answered with 404, because it would never be answered. @returns a function that stops listening; open sockets stay.
   */
  attach(server: Server): () => void;
  /** Refuses new connections with 503, and closes the open ones with 1001. Resolves when all are closed. */
  close(): Promise<void>;
}

/**
 * Realtime updates of a workspace. Before the first socket there is no timer and no subscription.
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

  /** @returns undefined when the credential is invalid or not permitted. @throws when it cannot be verified. */
  const identify = async (credential: string | IdentityRequest): Promise<Caller | undefined> => {
    try {
      const { authenticator } = services;
      const caller =
        typeof credential === 'string'
          ? await authenticator.identify(credential)
          : await authenticator.identifyHost?.(credential);
      if (caller === undefined) return undefined;
      return mayConnect(caller) ? caller : undefined;
    } catch (error) {
      if (isApiError(error) && (error.status === 401 || error.status === 403)) return undefined;
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

  const admit = (socket: WebSocket, userId: string, credential: string | IdentityRequest): void => {
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
    if (count >= LIMITS.socketsPerUser) connection.close(CLOSED.tooMany);
  };

  const shakeHands = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    // Until the library adds its listener: an error without a listener ends the process.
    const ignore = (): void => void socket.destroy();
    socket.on('error', ignore);
    const presented = presentedBy(request);
    const credential = presented.isEmpty ? toIdentityRequest(request) : presented.credential;
    const caller = credential === undefined ? undefined : await identify(credential);
    if (caller === undefined || credential === undefined) return refuse(socket, 401, 'Authentication failed');
    if (isClosing) return refuse(socket, 503, 'The service is about to restart');
    // Calls back at once, before anything can close.
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      socket.off('error', ignore);
      admit(accepted, caller.userId, credential);
    });
  };

  const upgrade: Realtime['upgrade'] = (request, socket, head) => {
    if (getPath(request) !== path) return false;
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

/** All signed-in users; with scopes, those that may talk to models. */
function mayConnect({ scopes }: Caller): boolean {
  return scopes === undefined || scopes.some((scope) => scope === 'ai:chat' || scope === 'ai:generate');
}

/** The part of a handshake that a host identifies its user by. */
function toIdentityRequest(request: IncomingMessage): IdentityRequest {
  const { method = 'GET', headers, socket } = request;
  return {
    method,
    path: getPath(request),
    headers,
    remoteAddress: socket.remoteAddress,
    protocol: 'encrypted' in socket ? 'https' : 'http',
  };
}

function getPath({ url = '/' }: IncomingMessage): string {
  return url.split('?')[0] ?? '';
}
