import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { ApiResponse } from '../contract/message.ts';
import { hasLength, headersWithLength, isBodiless, UNEXPECTED } from './answer.ts';
import { onLeave } from './node-connection.ts';
import { type BodySink, discard, isStreamed, Pump } from './pump.ts';

/** Writes a response. Never throws; if the response cannot be written, its body stream is cancelled. */
export function sendNodeResponse(
  response: ApiResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  // The client disconnected, or the host has responded, e.g. after its own timeout.
  if (outgoing.destroyed || outgoing.headersSent) {
    discard(response.body);
    return;
  }
  try {
    send(response, incoming, outgoing);
  } catch {
    // An invalid header throws before anything is sent.
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
  const pump = new Pump(body, new ResponseSink(outgoing, hasLength(headers), () => pump.resume()));
  onLeave(incoming, outgoing, () => pump.leave());
  void pump.run();
  sendHeadSoon(pump, outgoing);
}

/** Sends the headers if no body arrives in this tick; otherwise they would wait for the first event. */
export function sendHeadSoon(pump: Pump, outgoing: ServerResponse): void {
  setImmediate(sendHead, pump, outgoing);
}

function sendHead(pump: Pump, outgoing: ServerResponse): void {
  if (!pump.written && !outgoing.destroyed) outgoing.flushHeaders();
}

/** Error code of RFC 9113, section 7. Without one, a destroyed stream looks complete to the client. */
const HTTP2_INTERNAL_ERROR = 2;

/**
 * Aborts the connection, so that the client detects a truncated response.
 * @param isSized whether the head announced the length of the body. The headers given to `writeHead` cannot be asked for.
 */
export function breakOff(outgoing: ServerResponse, isSized = outgoing.hasHeader('content-length')): void {
  // Earlier writes still reach the operating system in this tick.
  setImmediate(() => {
    // On HTTP/1.0 the end of the connection ends the body, so only a reset shows the truncation.
    if (outgoing.chunkedEncoding === false && !isSized) outgoing.socket?.resetAndDestroy();
    if ('stream' in outgoing) (outgoing.stream as ServerHttp2Stream).close(HTTP2_INTERNAL_ERROR);
    outgoing.destroy();
  });
}

class ResponseSink implements BodySink {
  readonly #outgoing: ServerResponse;
  readonly #isSized: boolean;
  readonly #drained: () => void;
  #listening = false;
  #headOut = false;

  constructor(outgoing: ServerResponse, isSized: boolean, drained: () => void) {
    this.#outgoing = outgoing;
    this.#isSized = isSized;
    this.#drained = drained;
  }

  write(chunk: string | Uint8Array): boolean {
    // Destroyed by the host: `close` is not emitted yet, and a write would cause an unhandled error.
    if (this.#outgoing.destroyed || this.#outgoing.writableEnded) return true;
    if (this.#headOut && typeof chunk === 'string' && writeFrame(this.#outgoing, chunk)) return true;
    this.#headOut = true;
    if (this.#outgoing.write(chunk)) return true;
    if (!this.#listening) {
      this.#listening = true;
      // Registered with `on`: compression replaces `on`, so it could not remove a `once` listener.
      this.#outgoing.on('drain', this.#drained);
    }
    return false;
  }

  end(rest: string): void {
    if (this.#outgoing.destroyed || this.#outgoing.writableEnded) return;
    if (rest === '') this.#outgoing.end();
    else if (!endWithFrame(this.#outgoing, rest)) this.#outgoing.end(rest);
  }

  fail(): void {
    breakOff(this.#outgoing, this.#isSized);
  }
}

// A named import would make Node load its fetch implementation, because `node:http` exports it: 40 ms at start.
const { write: plainWrite, end: plainEnd } = process.getBuiltinModule('node:http').OutgoingMessage.prototype;

/**
 * Writes one chunked frame as one string. `node:http` makes four writes, a third of the cost of a slow stream. Used
 * only if no middleware replaced `write`, the response owns the connection, and nothing is buffered.
 * @returns false if the frame needs a normal write.
 */
function writeFrame(outgoing: ServerResponse, text: string): boolean {
  const { socket } = outgoing;
  if (socket === null || !outgoing.chunkedEncoding || outgoing.write !== plainWrite) return false;
  if (outgoing.writableLength > 0 || !socket.writable) return false;
  // Backpressure shows at the next write, which is a normal write and waits.
  socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  return true;
}

/**
 * Ends a chunked response with its last frame as one string, together with the head if that is not sent yet.
 * `node:http` makes five writes. Used only if no middleware replaced `write` or `end`, and without trailers.
 * @returns false if the frame needs a normal end.
 */
function endWithFrame(outgoing: ServerResponse, text: string): boolean {
  if (!outgoing.chunkedEncoding || outgoing.write !== plainWrite || outgoing.end !== plainEnd) return false;
  if (outgoing.hasHeader('trailer')) return false;
  // The head is built and stays as it is: without this, `end` would frame the frames.
  outgoing.chunkedEncoding = false;
  outgoing.end(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`);
  return true;
}
