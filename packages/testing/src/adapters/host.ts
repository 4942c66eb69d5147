import type { Mountable } from '@questline/core';
import type { Subject } from '../suite.ts';
import type { Connection } from './connection.ts';

/** The host application of a case. */
export interface HostSetup {
  /** The mounted api, in front of the host's own routes unless `mountedAfter` is set. */
  readonly api: Mountable;
  /** Routes of the host. Each answers 200 with the text `the host: <method> <path>`. */
  readonly ownRoutes?: readonly OwnRoute[];
  /** The api is mounted after the host's own routes, and before its 404 handler. */
  readonly mountedAfter?: boolean;
  /** Mounted below this path, e.g. `/ai`. Default: at the root. */
  readonly mountPath?: string;
  /** Mounted as one route at `POST /ask/:id` of the host's own router instead. */
  readonly asRoute?: boolean;
  /** A body parser in front: for JSON, for any type as bytes, or for text. */
  readonly bodyParser?: 'json' | 'raw' | 'text';
  /** Compression in front, also of small responses. */
  readonly compression?: boolean;
  /** CORS for `https://app.example` in front. */
  readonly cors?: boolean;
  /** The host trusts one proxy. */
  readonly trustProxy?: boolean;
  /** The host adds `X-Host: yes` to every response, in a hook or middleware. */
  readonly stamp?: boolean;
}

export interface OwnRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/**
 * A host application that listens on 127.0.0.1. Its own routes:
 * - `GET /host` -> 200 `the host`
 * - `POST /host/echo`, a JSON body parsed its own way -> 200 with the same JSON
 * - `GET /host/fails` throws; its error handler answers 500 `the host failed`
 * - everything else: 404 `the host knows no such path`
 */
export interface Host {
  readonly port: number;
  /** Errors that reached the host's error handler or error event. */
  readonly errors: readonly unknown[];
  /** The status of every response in a hook or middleware of the host. */
  readonly seen: readonly number[];
  close(): Promise<void>;
}

/** One requirement of every adapter. Throws if it is violated. */
export interface AdapterCase {
  readonly name: string;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Starts hosts and connections for a case. */
export interface Stage extends Subject {
  start(setup: HostSetup): Promise<StartedHost>;
}

export interface StartedHost extends Host {
  /** Sends one request on a new connection. @returns the whole response. */
  ask(request: Question): Promise<Answer>;
  connect(): Promise<Connection>;
}

export interface Question {
  /** Default `GET`. */
  readonly method?: string;
  /** With the query. */
  readonly path: string;
  /** In sending order; a list sends the header once per item. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; a repeated header is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}
