import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer, Question } from './host.ts';
import { within } from './waiting.ts';

export type Head = Omit<Answer, 'body'>;

/** One raw HTTP/1.1 connection, for behaviour that client libraries hide. */
export class Connection {
  readonly #socket: Socket;
  #unread = Buffer.alloc(0);
  #closed = false;
  #wake: () => void = () => undefined;

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, '127.0.0.1');
    await within(once(socket, 'connect'), 'the connection');
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#unread = Buffer.concat([this.#unread, bytes]);
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  /** A whole request. Text and bytes get a `Content-Length`, unless one is given. */
  send({ method = 'GET', path, headers = {}, body }: Question): void {
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: test.example'];
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    for (const [name, value] of Object.entries(headers)) {
      for (const one of typeof value === 'string' ? [value] : value) lines.push(`${name}: ${one}`);
    }
    const framed = names.includes('content-length') || names.includes('transfer-encoding');
    if (body !== undefined && !framed) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
    this.write(`${lines.join('\r\n')}\r\n\r\n`);
    if (body !== undefined) this.write(body);
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** One chunk of a chunked body; an empty one ends it. */
  writeChunk(bytes: string): void {
    this.write(`${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`);
  }

  /** Closes the connection. */
  leave(): void {
    this.#socket.destroy();
  }

  /** Stops reading, like a client that is slower than the server. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  async head(): Promise<Head> {
    const end = await this.#find('\r\n\r\n');
    const [first = '', ...lines] = this.#take(end + 4)
      .toString('latin1')
      .trimEnd()
      .split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    return { status: Number(first.split(' ')[1]), headers };
  }

  /** The next chunk of a chunked body, undefined at its end. Throws when the connection ends before. */
  async chunk(): Promise<Buffer | undefined> {
    const end = await this.#find('\r\n');
    const size = Number.parseInt(this.#take(end + 2).toString('latin1'), 16);
    const bytes = await this.#exactly(size + 2);
    return size === 0 ? undefined : bytes.subarray(0, size);
  }

  /** The whole answer to one request. */
  async answer(method = 'GET'): Promise<Answer> {
    const head = await this.head();
    return { ...head, body: await this.#body(head, method) };
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#closed) await this.#more();
  }

  async #body({ status, headers }: Head, method: string): Promise<Buffer> {
    if (method === 'HEAD' || status === 204 || status === 304) return Buffer.alloc(0);
    const length = headers['content-length'];
    if (length !== undefined) return this.#exactly(Number(length));
    if (headers['transfer-encoding'] !== 'chunked') {
      await this.closed();
      return this.#take(this.#unread.length);
    }
    const chunks: Buffer[] = [];
    for (let chunk = await this.chunk(); chunk !== undefined; chunk = await this.chunk()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async #find(mark: string): Promise<number> {
    for (;;) {
      const found = this.#unread.indexOf(mark);
      if (found >= 0) return found;
      await this.#moreOrFail();
    }
  }

  async #exactly(size: number): Promise<Buffer> {
    while (this.#unread.length < size) await this.#moreOrFail();
    return this.#take(size);
  }

  #take(size: number): Buffer {
    const taken = this.#unread.subarray(0, size);
    this.#unread = this.#unread.subarray(size);
    return taken;
  }

  async #moreOrFail(): Promise<void> {
    if (this.#closed) throw new BrokenOff();
    await this.#more();
  }

  #more(): Promise<void> {
    const arrival = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return within(arrival, 'more bytes from the server');
  }
}

/** The server closed the connection before its answer was complete. */
class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
}
