import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ApiBody, ApiHeaders, ApiRequest } from '../contract/message.ts';
import type { StopSignal } from '../shared/stop-signal.ts';
import { NodeBody } from './node-body.ts';
import { NodeConnection, onLeave } from './node-connection.ts';

/** Request data from a framework, which takes precedence over `node:http`. Read lazily. */
export interface HostRequest {
  /** The client address from the framework, after its trusted-proxy rules. */
  readonly ip?: string | undefined;
  /** `http` or `https`, from the framework. */
  readonly protocol?: string | undefined;
  /** The result of the framework's body parser, if one ran. */
  readonly body?: unknown;
}

export interface NodeRequestOptions {
  /** The mount path; empty at the root. */
  readonly mountPath?: string;
  /** Path and query below the mount point. Default: the message's own URL. */
  readonly target?: string;
  readonly host?: HostRequest;
  /** The body stream of the framework. Default: the message itself. */
  readonly source?: Readable;
  readonly params?: Readonly<Record<string, string>> | undefined;
}

/** Wraps a request of `node:http`. Parses, reads and creates everything lazily. */
export class NodeRequest implements ApiRequest {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #target: string;
  readonly #source: Readable | undefined;
  readonly #host: HostRequest | undefined;
  readonly mountPath: string;
  readonly params?: Readonly<Record<string, string>>;
  #body: NodeBody | undefined;
  #signal: AbortSignal | undefined;
  #connection: StopSignal | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, options: NodeRequestOptions = {}) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    // Read now, because frameworks restore the original URL while a streamed response is still running.
    this.#target = originForm(options.target ?? incoming.url ?? '/');
    this.#source = options.source;
    this.#host = options.host;
    this.mountPath = options.mountPath ?? '';
    if (options.params !== undefined) this.params = options.params;
  }

  get method(): string {
    return this.#incoming.method ?? 'GET';
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
    return this.#incoming.headers;
  }

  get body(): ApiBody {
    this.#body ??= new NodeBody(this.#incoming, this.#source ?? this.#incoming, this.#host);
    return this.#body;
  }

  get signal(): AbortSignal {
    this.#signal ??= abortedOnLeave(this.#incoming, this.#outgoing);
    return this.#signal;
  }

  get connection(): StopSignal {
    this.#connection ??= new NodeConnection(this.#incoming, this.#outgoing);
    return this.#connection;
  }

  get remoteAddress(): string | undefined {
    return this.#host?.ip || this.#incoming.socket.remoteAddress;
  }

  get protocol(): 'http' | 'https' {
    const encrypted = this.#host?.protocol === 'https' || 'encrypted' in this.#incoming.socket;
    return encrypted ? 'https' : 'http';
  }
}

/** Proxies may send `GET http://host/path`; keeps only the path. */
function originForm(target: string): string {
  const first = target.charCodeAt(0);
  if (first === 47 /* / */) return target;
  if (target === '' || first === 63 /* ? */) return `/${target}`;
  const authority = target.indexOf('://');
  if (authority < 0) return target;
  const rest = target.slice(authority + 3);
  const path = rest.search(/[/?]/);
  return path < 0 ? '/' : originForm(rest.slice(path));
}

function abortedOnLeave(incoming: IncomingMessage, outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  onLeave(incoming, outgoing, () => controller.abort());
  return controller.signal;
}
