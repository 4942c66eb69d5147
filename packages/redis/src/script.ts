import { createHash } from 'node:crypto';
import { isReplyError, type RedisClient } from './client.ts';

/** A Lua script: it runs atomically. */
export interface Script {
  /** @param keys in one slot of a cluster. */
  run(
    client: RedisClient,
    keys: string | readonly string[],
    parts: readonly (string | number)[],
  ): Promise<unknown>;
}

/** Sent as its hash; as source only to a server without it, such as a restarted or flushed one. */
export function defineScript(source: string): Script {
  const hash = createHash('sha1').update(source).digest('hex');
  return {
    async run(client, keys, parts) {
      const named = typeof keys === 'string' ? [1, keys] : [keys.length, ...keys];
      try {
        return await client.call('EVALSHA', hash, ...named, ...parts);
      } catch (error) {
        if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return client.call('EVAL', source, ...named, ...parts);
      }
    },
  };
}
