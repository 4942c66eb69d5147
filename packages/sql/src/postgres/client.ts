type Listeners = {
  (event: 'error', listener: (error: Error) => void): unknown;
  (event: 'end', listener: () => void): unknown;
  (
    event: 'notification',
    listener: (message: { channel: string; payload?: string | undefined }) => void,
  ): unknown;
};

/** The required part of a `pg` connection. */
export interface PostgresClient {
  query(config: { text: string; values?: unknown[]; name?: string }): Promise<{ rows: unknown[] }>;
  /** Runs several statements in one text, if `query` accepts only one. */
  exec?(text: string): Promise<unknown>;
  readonly on?: Listeners;
  readonly removeListener?: Listeners;
}

export interface PooledClient extends PostgresClient {
  /** `true` closes the connection instead of returning it. */
  release(destroy?: boolean): void;
}

/** The required part of a pool; `pg.Pool` implements it. */
export interface PostgresPool {
  connect(): Promise<PooledClient>;
  on?(event: 'connect', listener: (client: PooledClient) => void): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'connect', listener: (client: PooledClient) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
}

/** One connection in place of a pool: a connected `pg.Client`, or PGlite. */
export interface PostgresConnection {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** PGlite's `query` accepts one statement; this accepts several. */
  exec?(text: string): Promise<unknown>;
}
