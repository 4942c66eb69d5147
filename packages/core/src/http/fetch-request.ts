import { type ApiBody, type ApiHeaders, type ApiRequest, BodyTooLarge } from '../contract/message.ts';
import type { FetchInfo } from './fetch.ts';
import { readByHost } from './node-body.ts';

/** Wraps a `Request` and reads its parts lazily. */
export class FetchRequest implements ApiRequest {
  readonly #request: Request;
  readonly #target: string;
  readonly #info: FetchInfo;
  readonly mountPath: string;
  readonly params?: Readonly<Record<string, string>>;
  #headers: ApiHeaders | undefined;
  #body: FetchBody | undefined;
  #leaving: AbortController | undefined;

  constructor(request: Request, target: string, mountPath: string, info: FetchInfo) {
    this.#request = request;
    this.#target = target;
    this.mountPath = mountPath;
    this.#info = info;
    if (info.params !== undefined) this.params = info.params;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    const mark = this.#target.indexOf('?');
    return mark < 0 ? this.#target : this.#target.slice(0, mark);
  }

  get query(): string {
    const mark = this.#target.indexOf('?');
    return mark < 0 ? '' : this.#target.slice(mark + 1);
  }

  get headers(): ApiHeaders {
    this.#headers ??= Object.fromEntries(this.#request.headers);
    return this.#headers;
  }

  get body(): ApiBody {
    this.#body ??= new FetchBody(this.#request, this.#info);
    return this.#body;
  }

  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      this.#leaving = new AbortController();
      const { signal } = this.#request;
      if (signal.aborted) this.leave();
      else signal.addEventListener('abort', () => this.leave());
    }
    return this.#leaving.signal;
  }

  get remoteAddress(): string | undefined {
    return this.#info.remoteAddress;
  }

  get protocol(): 'http' | 'https' {
    return this.#request.url.startsWith('https:') ? 'https' : 'http';
  }

  /** Hosts report a disconnect through the request's signal or by cancelling the response body. */
  leave(): void {
    this.#leaving?.abort();
  }
}

class FetchBody implements ApiBody {
  readonly #request: Request;
  readonly #info: FetchInfo;
  #whole: Promise<Uint8Array> | undefined;

  constructor(request: Request, info: FetchInfo) {
    this.#request = request;
    this.#info = info;
  }

  get parsed(): unknown {
    return this.#info.parsed;
  }

  bytes(limit: number): Promise<Uint8Array> {
    this.#whole ??= this.#read(limit);
    return this.#whole;
  }

  async *stream(): AsyncGenerator<Uint8Array, void> {
    if (this.#request.bodyUsed) {
      yield this.bytes(Number.POSITIVE_INFINITY);
      return;
    }
    const reader = this.#request.body?.getReader();
    if (reader === undefined) return;
    try {
      for (;;) {
        const step = await reader.read();
        if (step.done) return;
        yield step.value;
      }
    } finally {
      letThrough(reader);
    }
  }

  async #read(limit: number): Promise<Uint8Array> {
    const { headers, bodyUsed } = this.#request;
    const declared = Number(headers.get('content-length'));
    if (declared > limit) throw new BodyTooLarge(limit);
    if (bodyUsed) {
      const empty = declared === 0 && !headers.has('transfer-encoding');
      return empty ? new Uint8Array(0) : readByHost(this.#info.parsed, limit);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.stream()) {
      size += chunk.length;
      if (size > limit) throw new BodyTooLarge(limit);
      chunks.push(chunk);
    }
    const [first] = chunks;
    return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
  }
}

/** Drains the body. On some hosts, cancelling it would close the connection before the response. */
function letThrough(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.read().then(
    ({ done }) => {
      if (!done) letThrough(reader);
    },
    () => undefined,
  );
}
