import { toPage } from '@questline/core/internal';
import type { EventLog, Json } from '@questline/core/ports';
import { createLink, type RedisConnection, type RedisOptions } from './link.ts';
import { defineScript } from './script.ts';

/** Maximum batches of one page. */
const MAX_ENTRIES = 16;

/** One entry per batch, with the last sequence as its id. KEYS: stream. ARGV: attempt, after, count, keepMs, events. */
const append = defineScript(`
local head = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local last, attempt = 0, 0
if head then
  last = tonumber(string.match(head[1], '^%d+'))
  attempt = tonumber(head[2][2])
end
if last ~= tonumber(ARGV[2]) or attempt > tonumber(ARGV[1]) then return {0, last, attempt} end
local new = string.format('%.0f', last + tonumber(ARGV[3]))
redis.call('XADD', KEYS[1], new .. '-0', 'attempt', ARGV[1], 'events', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {1, tonumber(new), tonumber(ARGV[1])}
`);

/**
 * An event log in Redis streams, one key per stream; Redis expires them by its clock. A Redis that restarts without
 * persistence loses the streams: readers then get a snapshot from the store.
 */
export function createRedisEventLog(options: RedisOptions): EventLog {
  return eventLogOn(createLink(options));
}

export function eventLogOn(link: RedisConnection): EventLog {
  const getName = (stream: string) => link.getKey('events', stream);

  return {
    async append(stream, { attempt, after, events, keepMs }, options) {
      const name = getName(stream);
      const parts = [attempt, after, events.length, keepMs, JSON.stringify(events)];
      const reply = await link.run(name, (client) => append.run(client, name, parts), options);
      // Numbers may arrive as text: ioredis has an option for that.
      const [isAppended = 0, last = 0, latest = 0] = (reply as readonly unknown[]).map(Number);
      return { isAppended: isAppended === 1, last, attempt: latest };
    },

    async read(stream, after, options) {
      const name = getName(stream);
      const reply = await link.run(
        name,
        (client) => client.call('XRANGE', name, `${after}-0`, '+', 'COUNT', MAX_ENTRIES),
        options,
      );
      return toPage((reply as readonly Entry[]).map(toBatch), after);
    },

    /** Redis packs entries by itself. */
    async compact(stream, keepMs, options) {
      const name = getName(stream);
      await link.run(name, (client) => client.call('PEXPIRE', name, keepMs), options);
    },

    expire: async () => 0,
  };
}

type Entry = readonly [id: string, fields: readonly string[]];

function toBatch([id, fields]: Entry) {
  const last = Number(id.slice(0, id.indexOf('-')));
  const events = JSON.parse(fields[3] ?? '[]') as readonly Json[];
  return { first: last - events.length + 1, last, events };
}
