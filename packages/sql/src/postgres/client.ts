type Listeners = {
  (event: 'error', listener: (error: Error) => void): unknown;
  (event: 'end', listener: () => void): unknown;
  (event: 'notification', listener: (message: { channel: string }) => void): unknown;
};

/** What is asked of a connection of `pg`. */
export interface PostgresClient {
  query(config: { text: string; values?: unknown[]; name?: string }): Promise<{ rows: unknown[] }>;
  /** Several statements in one text, where `query` takes one only. */
  exec?(text: string): Promise<unknown>;
  readonly on?: Listeners;
  readonly removeListener?: Listeners;
}

export interface PooledClient extends PostgresClient {
  /** `true` ends the connection instead of giving it back. */
  release(destroy?: boolean): void;
}

/** What is asked of a pool: `pg.Pool` has it all. */
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
  /** PGlite's `query` takes one statement only; this takes several. */
  exec?(text: string): Promise<unknown>;
}
