/**
 * The required part of a client; `Redis` and `Cluster` of ioredis 5 and 6 implement it. The client stays the
 * host's: this package does not change its options, scripts or subscriptions, and never closes it.
 */
export interface RedisClient {
  readonly isCluster: boolean;
  call(command: string, ...parts: (string | number)[]): Promise<unknown>;
  duplicate(...overrides: never[]): unknown;
}

/** A client that can subscribe. */
export interface RedisSubscriber extends RedisClient {
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  on(event: 'ready' | 'error', listener: (error?: unknown) => void): unknown;
  off(event: 'message', listener: (channel: string, message: string) => void): unknown;
  off(event: 'ready' | 'error', listener: (error?: unknown) => void): unknown;
}

/** An error response of the server, as opposed to a connection error. Detected by name: every copy of the parser has its own class. */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
