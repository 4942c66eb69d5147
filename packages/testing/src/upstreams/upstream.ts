import type { IncomingMessage } from 'node:http';
import type { ScriptSource } from './script.ts';

/** A request as the upstream received it. */
export interface UpstreamRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The body, parsed when it is JSON, else its text. */
  readonly body: unknown;
  /** The raw body, e.g. a form with files. */
  readonly bytes: Buffer;
  /** `performance.now()` when the request had been read. */
  readonly receivedAt: number;
  /** `performance.now()` when the client left before the answer was finished; undefined while it has not. */
  disconnectedAt: number | undefined;
  /** Resolves with `disconnectedAt` when the client disconnects before the end of the response. */
  readonly disconnected: Promise<number>;
  /** Bytes written to the connection, and whether its buffer is full. */
  written: number;
  blocked: boolean;
  /** The number of the connection: shows whether it is reused. */
  readonly connection: number;
}

/** A local server of a provider's streaming protocol, controlled by the test. */
export interface Upstream {
  /** `http://127.0.0.1:port`, without a path. */
  readonly origin: string;
  /** The `baseUrl` for a provider. */
  readonly baseUrl: string;
  /** Everything received, oldest first. */
  readonly requests: readonly UpstreamRequest[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly openConnections: number;
  /** Changes the script of the next requests. */
  use(script: ScriptSource): void;
  /** Returns the request with this index, from 0; waits for it if necessary. */
  request(number: number): Promise<UpstreamRequest>;
  /** Breaks open connections and stops listening. */
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly script?: ScriptSource;
  /** 0: any free one. */
  readonly port?: number;
}
