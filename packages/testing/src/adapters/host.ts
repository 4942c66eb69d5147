import type { Mountable } from '@questline/core';
import type { Subject } from '../suite.ts';
import type { Connection } from './connection.ts';

/** How a case wants the host application to be. */
export interface HostSetup {
  /** What is mounted, in front of the host's own routes. */
  readonly api: Mountable;
  /** Mounted below this path, e.g. `/ai`. Default: at the root. */
  readonly mountPath?: string;
  /** Mounted as one route at `POST /ask/:id` of the host's own router instead. */
  readonly asRoute?: boolean;
  /** A body parser runs in front: for JSON, for any type as bytes, or for text. */
  readonly bodyParser?: 'json' | 'raw' | 'text';
  /** Compression runs in front, also for answers of a few bytes. */
  readonly compression?: boolean;
  /** CORS for `https://app.example` runs in front. */
  readonly cors?: boolean;
  /** The host believes one proxy in front of it. */
  readonly trustProxy?: boolean;
  /** The host puts `X-Host: yes` on every answer, from a hook or middleware of its own. */
  readonly stamp?: boolean;
}

/**
 * A host application that listens on 127.0.0.1. Beside what is mounted it has, all its own:
 * - `GET /host` -> 200 `the host`
 * - `POST /host/echo`, a JSON body parsed its own way -> 200 with the same JSON
 * - `GET /host/fails` throws; its error handler answers 500 `the host failed`
 * - everything else: 404 `the host knows no such path`
 */
export interface Host {
  readonly port: number;
  /** What reached the host's own error handler, or its error event. */
  readonly errors: readonly unknown[];
  /** The status of every answer, as a hook or middleware of the host's own saw it. */
  readonly seen: readonly number[];
  close(): Promise<void>;
}

/** One promise every adapter keeps. Throws when it is broken. */
export interface AdapterCase {
  readonly name: string;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Starts hosts and connections for a case. */
export interface Stage extends Subject {
  start(setup: HostSetup): Promise<StartedHost>;
}

export interface StartedHost extends Host {
  /** One request on a connection of its own, the whole answer. */
  ask(request: Question): Promise<Answer>;
  connect(): Promise<Connection>;
}

export interface Question {
  /** Default `GET`. */
  readonly method?: string;
  /** As it is sent, query included. */
  readonly path: string;
  /** In the order they are sent; a list sends the header once per item. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; a repeated header is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}
