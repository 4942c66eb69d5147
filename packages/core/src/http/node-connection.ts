import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StopSignal } from '../shared/stop-signal.ts';

/** The connection of a request: aborted when it closes before the response is complete. */
export class NodeConnection implements StopSignal {
  #reason: Error | undefined;
  #listeners: (() => void)[] = [];

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    onLeave(incoming, outgoing, () => this.#abort());
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): unknown {
    return this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    // Most connections have one listener; an empty array that grows takes room for 17.
    if (this.#listeners.length === 0) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  #abort(): void {
    this.#reason = new Error('the client has disconnected');
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/**
 * Calls `leave` if the connection closes before the response is complete. Observes the response, because a request
 * closes when its body has been read.
 */
export function onLeave(incoming: IncomingMessage, outgoing: ServerResponse, leave: () => void): void {
  if (outgoing.destroyed) {
    if (!isFinished(outgoing)) leave();
    return;
  }
  const { socket } = incoming;
  const closed = () => {
    socket.removeListener('close', closed);
    if (!isFinished(outgoing)) leave();
  };
  outgoing.once('close', closed);
  // The response to a pipelined request waits for earlier responses; until then Node 20 and 22 do not report to it
  // that the connection closed.
  if (outgoing.socket === null) socket.once('close', closed);
}

/** An HTTP/2 response is `finished` whenever it is closed. */
function isFinished(outgoing: ServerResponse): boolean {
  return outgoing.writableFinished && outgoing.writableEnded;
}
