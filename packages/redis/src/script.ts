import { createHash } from 'node:crypto';
import { isReplyError, type RedisClient } from './client.ts';

/** A Lua script over one key: all of it happens, or none, with nothing else in between. */
export interface Script {
  run(client: RedisClient, key: string, parts: readonly (string | number)[]): Promise<unknown>;
}

/** Sent by its hash; in full only to a server that does not know it, such as a restarted or a flushed one. */
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
