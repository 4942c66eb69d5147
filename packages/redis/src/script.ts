import { createHash } from 'node:crypto';
import { isReplyError, type RedisClient } from './client.ts';

/** A Lua script on one key: it runs atomically. */
export interface Script {
  run(client: RedisClient, key: string, parts: readonly (string | number)[]): Promise<unknown>;
}

/** Sent as its hash; as source only to a server without it, such as a restarted or flushed one. */
export function defineScript(source: string): Script {
  const hash = createHash('sha1').update(source).digest('hex');
  return {
    async run(client, key, parts) {
      try {
        return await client.call('EVALSHA', hash, 1, key, ...parts);
      } catch (error) {
        if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return client.call('EVAL', source, 1, key, ...parts);
      }
    },
  };
}
