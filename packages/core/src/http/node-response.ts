import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { headersWithLength, isBodiless, UNEXPECTED } from './answer.ts';
import type { ApiResponse } from './message.ts';
import { onLeave } from './node-request.ts';
import { type BodySink, discard, isStreamed, Pump } from './pump.ts';

/** Writes an answer. Never throws; an answer that cannot be written any more is given up, its stream ended. */
export function sendNodeResponse(
  response: ApiResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  // The client has left, or the host has answered in our place, e.g. after a timeout of its own.
  if (outgoing.destroyed || outgoing.headersSent) {
    discard(response.body);
    return;
  }
  try {
    send(response, incoming, outgoing);
  } catch {
    // A header that cannot be written: thrown before anything was sent.
    discard(response.body);
    if (outgoing.headersSent) outgoing.destroy();
    else send(UNEXPECTED, incoming, outgoing);
  }
}

function send(response: ApiResponse, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { status, headers, body } = response;
  const head = incoming.method === 'HEAD';
  if (!isStreamed(body)) {
    outgoing.writeHead(status, headersWithLength(response, head));
    if (body === undefined || head || isBodiless(status)) outgoing.end();
    else outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  if (head || isBodiless(status)) {
    discard(body);
    outgoing.end();
    return;
  }
  const pump = new Pump(body, new ResponseSink(outgoing, () => pump.resume()));
  onLeave(incoming, outgoing, () => pump.leave());
  void pump.run();
  sendHeadSoon(pump, outgoing);
}

/** Sends the head by itself when this turn of the event loop brings no body: else it would wait for the first event. */
export function sendHeadSoon(pump: Pump, outgoing: ServerResponse): void {
  setImmediate(sendHead, pump, outgoing);
}

function sendHead(pump: Pump, outgoing: ServerResponse): void {
  if (!pump.written && !outgoing.destroyed) outgoing.flushHeaders();
}

/** The code of RFC 9113, 7. Without one, a stream that is destroyed looks complete to its client. */
const HTTP2_INTERNAL_ERROR = 2;

/** Breaks the connection off, so that no client takes what it has for the whole. */
export function breakOff(outgoing: ServerResponse): void {
  // What was written before is still handed to the operating system in this turn.
  setImmediate(() => {
    // On HTTP/1.0 a body ends with its connection, and looks complete unless the connection is reset.
    const endsWithConnection = outgoing.chunkedEncoding === false && !outgoing.hasHeader('content-length');
    if (endsWithConnection) outgoing.socket?.resetAndDestroy();
    if ('stream' in outgoing) (outgoing.stream as ServerHttp2Stream).close(HTTP2_INTERNAL_ERROR);
    outgoing.destroy();
  });
}

class ResponseSink implements BodySink {
  readonly #outgoing: ServerResponse;
  readonly #drained: () => void;
  #listening = false;
  #headOut = false;

  constructor(outgoing: ServerResponse, drained: () => void) {
    this.#outgoing = outgoing;
    this.#drained = drained;
  }

  write(chunk: string | Uint8Array): boolean {
    // Destroyed by the host: `close` has not been heard yet, and writing would be an error nobody listens for.
    if (this.#outgoing.destroyed || this.#outgoing.writableEnded) return true;
    if (this.#headOut && typeof chunk === 'string' && writeFrame(this.#outgoing, chunk)) return true;
    this.#headOut = true;
    if (this.#outgoing.write(chunk)) return true;
    if (!this.#listening) {
      this.#listening = true;
      // Once for all: compression puts its own `on` here, which a `once` would never get off again.
      this.#outgoing.on('drain', this.#drained);
    }
    return false;
  }

  end(rest: string): void {
    if (this.#outgoing.destroyed || this.#outgoing.writableEnded) return;
    if (rest === '') this.#outgoing.end();
    else this.#outgoing.end(rest);
  }

  fail(): void {
    breakOff(this.#outgoing);
  }
}

// Importing it by name would make Node load its whole fetch for the sake of `node:http`'s other names: 40 ms at the start.
const { write: plainWrite } = process.getBuiltinModule('node:http').OutgoingMessage.prototype;

/**
 * Writes one frame of a chunked body as one string. `node:http` hands the system four pieces for it, which makes up a
 * third of what a paced stream costs. Only where nothing is in between or waiting: no middleware has put its own `write`
 * here, the message has the connection to itself, and everything before has been taken.
 * @returns false when the frame has to go the usual way.
 */
function writeFrame(outgoing: ServerResponse, text: string): boolean {
  const { socket } = outgoing;
  if (socket === null || !outgoing.chunkedEncoding || outgoing.write !== plainWrite) return false;
  if (outgoing.writableLength > 0 || !socket.writable) return false;
  // Whether this fills the connection shows at the next write: that one goes the usual way, and waits.
  socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  return true;
}
