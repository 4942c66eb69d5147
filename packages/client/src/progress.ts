import type { Fetch, Transport } from './operation.ts';

/** The progress of a request body. */
export interface Progress {
  /** Bytes that were sent. */
  readonly loaded: number;
  /** Bytes of the whole body, without the framing of a form. Undefined: unknown. */
  readonly total: number | undefined;
}

/** The parts of XMLHttpRequest in use. It has no type where there are no pages. */
interface Xhr {
  readonly upload: {
    onprogress: ((event: Progress & { readonly lengthComputable: boolean }) => void) | null;
  };
  readonly status: number;
  readonly response: ArrayBuffer | null;
  responseType: string;
  withCredentials: boolean;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}

/**
 * A transport that reports the progress of uploads. Browsers: XMLHttpRequest, unless the client has its own `fetch`. Elsewhere: the
 * bytes that the connection has accepted.
 * @example
 * await client.transcribeAtOnce({ body: { file } }, { transport: progress(({ loaded }) => show(loaded)) });
 */
export function progress(onProgress: (progress: Progress) => void): Transport {
  const create = (globalThis as { XMLHttpRequest?: new () => Xhr }).XMLHttpRequest;
  return (fetch) => {
    if (create !== undefined && fetch === undefined)
      return (url, init) => sendXhr(new create(), url, init, onProgress);
    return countBytes(fetch ?? ((...args) => globalThis.fetch(...args)), onProgress);
  };
}

function sendXhr(
  xhr: Xhr,
  url: string,
  init: RequestInit,
  onProgress: (progress: Progress) => void,
): Promise<Response> {
  const { method = 'GET', headers, body, signal, credentials } = init;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      xhr.abort();
      reject(signal?.reason);
    };
    const settle = (act: () => void): void => {
      signal?.removeEventListener('abort', stop);
      act();
    };
    xhr.open(method, url);
    xhr.responseType = 'arraybuffer';
    xhr.withCredentials = credentials === 'include';
    new Headers(headers).forEach((value, name) => {
      xhr.setRequestHeader(name, value);
    });
    xhr.upload.onprogress = ({ loaded, total, lengthComputable }) =>
      onProgress({ loaded, total: lengthComputable ? total : undefined });
    xhr.onload = () => settle(() => resolve(toResponse(xhr)));
    xhr.onerror = () => settle(() => reject(new TypeError('the upload failed')));
    if (signal?.aborted === true) return stop();
    signal?.addEventListener('abort', stop);
    xhr.send(body);
  });
}

function toResponse(xhr: Xhr): Response {
  const lines = xhr.getAllResponseHeaders().split(/[\r\n]+/);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1)];
  });
  const hasBody = ![204, 205, 304].includes(xhr.status);
  return new Response(hasBody ? xhr.response : null, {
    status: xhr.status,
    headers: headers.filter(([name]) => name !== ''),
  });
}

function countBytes(fetch: Fetch, onProgress: (progress: Progress) => void): Fetch {
  return async (url, init) => {
    const { body, headers: encoded } = new Response(init.body);
    if (body === null) return fetch(url, init);
    const headers = new Headers(init.headers);
    const type = encoded.get('content-type');
    if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
    const total = getSize(init.body);
    // A bucket does not accept a body without its length.
    if (total !== undefined && !(init.body instanceof FormData)) headers.set('content-length', String(total));
    const counted = toPieces(body, (loaded) => onProgress({ loaded, total }));
    return fetch(url, { ...init, headers, body: counted, duplex: 'half' });
  };
}

/** A source may be one large chunk: progress needs smaller ones. Bytes. */
const MAX_PIECE = 65_536;

/** @param onPiece called with the bytes so far, when the connection takes a piece. */
function toPieces(
  source: ReadableStream<Uint8Array>,
  onPiece: (loaded: number) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let chunk = new Uint8Array();
  let loaded = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (chunk.length === 0) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          chunk = new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
        }
        const piece = chunk.subarray(0, MAX_PIECE);
        chunk = chunk.subarray(piece.length);
        loaded += piece.length;
        controller.enqueue(piece);
        onPiece(loaded);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function getSize(body: unknown): number | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body).length;
  if (body instanceof Blob) return body.size;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return body.byteLength;
  if (!(body instanceof FormData)) return undefined;
  let size = 0;
  body.forEach((value) => {
    size += getSize(value) ?? 0;
  });
  return size;
}
