import type { createRedisBackend, IQueueBackend } from 'bullmq';

/**
 * Which owners of a kind have work, and when to check each one: a sorted set per kind, in the server's time. An owner that
 * was just served moves behind the others that are due.
 */
export interface Lanes {
  /** Owners that are due, the longest waiting first. Empty name: jobs without an owner. */
  due(kind: string, limit: number): Promise<readonly string[]>;
  /** Schedules a check of an owner in at most this many milliseconds. */
  lookAfter(kind: string, owner: string, delayMs: number): Promise<void>;
  /** Called before a job is added: if the process then crashes, the job is found anyway. */
  expect(kind: string, owner: string): Promise<void>;
  served(kind: string, owner: string): Promise<void>;
  /** No job is due: schedules the next check, and removes an owner without jobs. */
  rest(kind: string, owner: string): Promise<void>;
  /** All owners of a kind that may have jobs. */
  all(kind: string): Promise<readonly string[]>;
}

export interface LanesOptions {
  readonly root: ReturnType<typeof createRedisBackend>;
  /** The queue of a lane. */
  backend(kind: string, owner: string): IQueueBackend;
}

/** Delay until a lane is checked for a job whose enqueuing process may have crashed. */
const EXPECTED_MS = 60_000;
/** Prefix of owner names: jobs without an owner have a lane, too. */
const MARK = '@';

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
`;
const SCRIPTS = {
  questlineLanesDue: {
    numberOfKeys: 1,
    lua: `${NOW}return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])`,
  },
  questlineLanesLook: {
    numberOfKeys: 1,
    lua: `${NOW}return redis.call('ZADD', KEYS[1], ARGV[3], now + ARGV[2], ARGV[1])`,
  },
  questlineLanesRest: {
    numberOfKeys: 5,
    // A delayed job's score is its time in milliseconds times 4096. ARGV[2] is the caller's clock.
    lua: `${NOW}
local after = nil
local function look(ms)
  if ms < 0 then ms = 0 end
  if after == nil or ms < after then after = ms end
end
if redis.call('LLEN', KEYS[2]) > 0 or redis.call('ZCARD', KEYS[3]) > 0 then look(0) end
local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
if first[2] then look(math.floor(tonumber(first[2]) / 4096) - tonumber(ARGV[2])) end
for _, id in ipairs(redis.call('LRANGE', KEYS[5], 0, -1)) do
  look(redis.call('PTTL', ARGV[3] .. id .. ':lock') + 1)
end
if after ~= nil then return redis.call('ZADD', KEYS[1], now + after, ARGV[1]) end
if ARGV[4] == '' then return redis.call('ZADD', KEYS[1], now + ${EXPECTED_MS}, ARGV[1]) end
redis.call('ZREM', KEYS[1], ARGV[1])
for _, name in ipairs({'meta', 'events', 'stalled', 'stalled-check', 'marker', 'id', 'pc'}) do
  redis.call('DEL', ARGV[3] .. name)
end`,
  },
} as const;

export function createLanes({ root, backend }: LanesOptions): Lanes {
  const known = new Set<string>();
  let defined: Promise<unknown> | undefined;

  const run = async (script: keyof typeof SCRIPTS, values: readonly (string | number)[]) => {
    const client = await root.client;
    defined ??= (async () => {
      for (const [name, definition] of Object.entries(SCRIPTS)) client.defineCommand(name, definition);
    })();
    await defined;
    return client.runCommand(script, [...values]) as Promise<unknown>;
  };
  const getKey = (kind: string): string => root.toKey(`lanes:${encodeURIComponent(kind)}`);
  const look = async (kind: string, owner: string, delayMs: number, how: 'LT' | 'NX' | 'XX') => {
    await run('questlineLanesLook', [getKey(kind), MARK + owner, Math.max(0, delayMs), how]);
  };

  return {
    async due(kind, limit) {
      // Jobs of an older version are in this lane and in no set.
      if (!known.has(kind)) await look(kind, '', 0, 'NX');
      known.add(kind);
      const found = (await run('questlineLanesDue', [getKey(kind), limit])) as string[];
      return found.map((member) => member.slice(MARK.length));
    },
    lookAfter: (kind, owner, delayMs) => look(kind, owner, delayMs, 'LT'),
    expect: (kind, owner) => look(kind, owner, EXPECTED_MS, 'NX'),
    served: (kind, owner) => look(kind, owner, 0, 'XX'),
    async rest(kind, owner) {
      const queue = backend(kind, owner);
      const keys = ['wait', 'prioritized', 'delayed', 'active'].map((name) => queue.toKey(name));
      const values = [MARK + owner, Date.now(), queue.toKey(''), owner];
      await run('questlineLanesRest', [getKey(kind), ...keys, ...values]);
    },
    async all(kind) {
      const client = await root.client;
      const owners = (await client.zrange(getKey(kind), 0, -1)).map((member) => member.slice(MARK.length));
      return [...new Set(['', ...owners])];
    },
  };
}
