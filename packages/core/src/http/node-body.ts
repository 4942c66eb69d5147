import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { type ApiBody, BodyTooLarge } from '../contract/message.ts';
import type { HostRequest } from './node-request.ts';

/** A request body of `node:http`, unread or already read by the host. */
export class NodeBody implements ApiBody {
  readonly #incoming: IncomingMessage;
  readonly #source: Readable;
  readonly #host: HostRequest | undefined;
  #whole: Promise<Uint8Array> | undefined;

  constructor(incoming: IncomingMessage, source: Readable, host: HostRequest | undefined) {
    this.#incoming = incoming;
    this.#source = source;
    this.#host = host;
  }

  get parsed(): unknown {
    // Some parsers set an empty object for bodies that they did not read.
    if (!this.#source.readableDidRead || this.#whole !== undefined) return undefined;
    const body = this.#host?.body;
    return body === this.#source ? undefined : body;
  }

  bytes(limit: number): Promise<Uint8Array> {
    this.#whole ??= this.#read(limit);
    return this.#whole;
  }

  async *stream(): AsyncGenerator<Uint8Array, void> {
    const source = this.#source;
    if (source.readableDidRead) {
      yield this.bytes(Number.POSITIVE_INFINITY);
      return;
    }
    try {
      for await (const chunk of source.iterator({ destroyOnReturn: false })) yield chunk;
    } finally {
      source.resume();
    }
  }

  async #read(limit: number): Promise<Uint8Array> {
    const { headers, httpVersionMajor } = this.#incoming;
    const declared = Number(headers['content-length'] ?? 0);
    if (declared > limit) throw new BodyTooLarge(limit);
    if (declared === 0 && httpVersionMajor === 1 && headers['transfer-encoding'] === undefined) {
      return new Uint8Array(0);
    }
    if (this.#source.readableDidRead) return readByHost(this.#host?.body, limit);
    const length = this.#source === this.#incoming ? declared : undefined;
    // The body in the packet of the headers is parsed after them, before microtasks run.
    if (length !== undefined && !this.#incoming.complete) await undefined;
    return readArrived(this.#source, limit, length) ?? collect(this.#source, limit);
  }
}

/** Returns bytes or text from the host's parser. */
export function readByHost(body: unknown, limit: number): Uint8Array {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (!(bytes instanceof Uint8Array)) throw new Error('the host has read the body and kept no bytes');
  if (bytes.length > limit) throw new BodyTooLarge(limit);
  return bytes;
}

/**
 * Returns a body that arrived together with its headers, as most do: one read costs less than the events of the stream.
 * @param length the announced length, if the source has the bytes as they were sent.
 * @returns undefined if it has not arrived, is too large or is being read.
 */
function readArrived(source: Readable, limit: number, length: number | undefined): Uint8Array | undefined {
  const { complete, readableFlowing, readableEncoding, readableLength, destroyed } =
    source as Partial<IncomingMessage> & Readable;
  if (destroyed || readableFlowing !== null || readableEncoding !== null) return undefined;
  if (complete !== true && readableLength !== length) return undefined;
  return readableLength === 0 || readableLength > limit ? undefined : source.read();
}

/** Reads up to the limit and discards the rest, so that the connection stays usable. */
function collect(source: Readable, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const settle = () => {
      source.removeListener('data', onData).removeListener('end', onEnd).removeListener('close', onClose);
    };
    const onData = (chunk: Uint8Array) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      settle();
      source.resume();
      reject(new BodyTooLarge(limit));
    };
    const onEnd = () => {
      settle();
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size));
    };
    const onClose = () => reject(new Error('the client left before its body was complete'));
    source.on('data', onData).on('end', onEnd).on('close', onClose);
    // `close` follows every error and settles this promise. Without a listener, a stream error would crash the
    // process.
    source.on('error', () => undefined);
    if (source.destroyed) onClose();
  });
}
