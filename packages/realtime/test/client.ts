import { setImmediate as turn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** A socket with its received messages. */
export interface Client {
  readonly socket: WebSocket;
  /** Messages not read yet: objects, or text that is not JSON. */
  readonly heard: unknown[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  send(frame: object | string | Uint8Array): void;
  subscribe(sessionId: string): void;
  unsubscribe(sessionId: string): void;
  /** The next message. Rejects if the socket closes first. */
  next(): Promise<unknown>;
  /** Resolves when the server has handled everything that was sent. Other messages stay in `heard`. */
  settled(): Promise<void>;
}

export async function openClient(
  url: string,
  protocols: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const socket = new WebSocket(url, [...protocols], { maxPayload: 0, headers });
  onTestFinished(() => socket.terminate());
  const heard: unknown[] = [];
  let wake = (): void => undefined;
  let isClosed = false;
  socket.on('message', (data) => {
    const text = String(data);
    heard.push(text.startsWith('{') ? JSON.parse(text) : text);
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      isClosed = true;
      wake();
      resolve({ code, reason: String(reason) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve).once('error', reject);
  });
  socket.on('error', () => undefined);

  const send: Client['send'] = (frame) => {
    const isRaw = typeof frame === 'string' || frame instanceof Uint8Array;
    socket.send(isRaw ? frame : JSON.stringify(frame));
  };
  const query = (action: string, sessionId: string): void =>
    send({ action, data: { query: 'session', filters: { sessionId } } });
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      if (isClosed) throw new Error('the socket is closed');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };

  return {
    socket,
    heard,
    closed,
    send,
    subscribe: (sessionId) => query('subscribe_query', sessionId),
    unsubscribe: (sessionId) => query('unsubscribe_query', sessionId),
    async next() {
      await until(() => heard.length > 0);
      return heard.shift();
    },
    async settled() {
      send({ action: 'heartbeat' });
      await until(() => heard.includes('pong'));
      heard.splice(heard.indexOf('pong'), 1);
    },
  };
}

/** The status and body of a rejected handshake. */
export function refusal(
  url: string,
  protocols: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number | undefined; readonly body: string; readonly challenge: unknown }> {
  const socket = new WebSocket(url, [...protocols], { headers });
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.terminate();
      reject(new Error('expected a rejected handshake'));
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += String(chunk);
      });
      response.once('end', () => {
        resolve({ status: response.statusCode, body, challenge: response.headers['www-authenticate'] });
      });
    });
  });
}

/** Waits for a condition, not for time. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}
