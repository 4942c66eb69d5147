/**
 * What this package asks of a client: `Redis` and `Cluster` of ioredis 5 and 6 both have it. The client stays the
 * user's: its options, scripts and subscriptions are left alone, and it is never closed from here.
 */
export interface RedisClient {
  readonly isCluster: boolean;
  call(command: string, ...parts: (string | number)[]): Promise<unknown>;
  duplicate(...overrides: never[]): unknown;
}

/** A client that can hold subscriptions. */
export interface RedisSubscriber extends RedisClient {
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  on(event: 'ready' | 'error', listener: (error?: unknown) => void): unknown;
  off(event: 'message', listener: (channel: string, message: string) => void): unknown;
  off(event: 'ready' | 'error', listener: (error?: unknown) => void): unknown;
}

/** The server's own refusal of a command, as opposed to trouble on the way to it. Told by name: every copy of the parser has its own class. */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
