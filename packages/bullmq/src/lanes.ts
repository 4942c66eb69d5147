import type { createRedisBackend, IQueueBackend } from 'bullmq';

/**
 * Which owners of a kind have work, and when to check each one: a sorted set per kind, in the server's time. An owner that
 * was just served moves behind the others that are due.
 */
export interface Lanes {
  /** Owners that are due, the longest waiting first, for each of the kinds. Empty name: jobs without an owner. */
  due(pages: readonly LanePage[]): Promise<readonly (readonly string[])[]>;
  /** Schedules a check of an owner in at most this many milliseconds. */
  lookAfter(kind: string, owner: string, delayMs: number): Promise<void>;
  /** Called before a job is added: if the process then crashes, the job is found anyway. */
  expect(kind: string, owner: string): Promise<void>;
  /**
   * After a look at an owner: schedules the next one, behind the others if a job is due, and removes an owner without
   * jobs. @returns whether a job is due.
   */
  served(kind: string, owner: string): Promise<boolean>;
  /** All owners of a kind that may have jobs. */
  all(kind: string): Promise<readonly string[]>;
}

/** Up to `limit` owners of a kind. */
export interface LanePage {
  readonly kind: string;
  readonly limit: number;
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
    // KEYS[1] begins the key of each kind. Of each kind: name, limit, and '1' at the first look of this process: jobs of an
    // older version are in the lane without an owner, and in no set.
    lua: `${NOW}
local found = {}
for at = 1, #ARGV, 3 do
  local key = KEYS[1] .. ARGV[at]
  if ARGV[at + 2] == '1' then redis.call('ZADD', key, 'NX', now, '${MARK}') end
  found[#found + 1] = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, ARGV[at + 1])
end
return found`,
  },
  questlineLanesLook: {
    numberOfKeys: 1,
    lua: `${NOW}return redis.call('ZADD', KEYS[1], ARGV[3], now + ARGV[2], ARGV[1])`,
  },
  questlineLanesServed: {
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
if after == nil and ARGV[4] == '' then after = ${EXPECTED_MS} end
if after ~= nil then
  redis.call('ZADD', KEYS[1], now + after, ARGV[1])
  return after == 0 and 1 or 0
end
redis.call('ZREM', KEYS[1], ARGV[1])
for _, name in ipairs({'meta', 'events', 'stalled', 'stalled-check', 'marker', 'id', 'pc'}) do
  redis.call('DEL', ARGV[3] .. name)
end
return 0`,
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
  const toName = encodeURIComponent;
  const getKey = (kind: string): string => root.toKey(`lanes:${toName(kind)}`);
  const look = async (kind: string, owner: string, delayMs: number, how: 'LT' | 'NX') => {
    await run('questlineLanesLook', [getKey(kind), MARK + owner, Math.max(0, delayMs), how]);
  };

  return {
    async due(pages) {
      const values = pages.flatMap(({ kind, limit }) => [toName(kind), limit, known.has(kind) ? 0 : 1]);
      const found = (await run('questlineLanesDue', [getKey(''), ...values])) as string[][];
      for (const { kind } of pages) known.add(kind);
      return found.map((members) => members.map((member) => member.slice(MARK.length)));
    },
    lookAfter: (kind, owner, delayMs) => look(kind, owner, delayMs, 'LT'),
    expect: (kind, owner) => look(kind, owner, EXPECTED_MS, 'NX'),
    async served(kind, owner) {
      const queue = backend(kind, owner);
      const keys = ['wait', 'prioritized', 'delayed', 'active'].map((name) => queue.toKey(name));
      const values = [MARK + owner, Date.now(), queue.toKey(''), owner];
      return (await run('questlineLanesServed', [getKey(kind), ...keys, ...values])) === 1;
    },
    async all(kind) {
      const client = await root.client;
      const owners = (await client.zrange(getKey(kind), 0, -1)).map((member) => member.slice(MARK.length));
      return [...new Set(['', ...owners])];
    },
  };
}
