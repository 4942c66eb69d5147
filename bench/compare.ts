/**
 * Compares the hot paths of this checkout with those of another one, e.g. a worktree of an earlier commit:
 * `npm run bench:compare -- ../before`. CPU is the server process's own time; pairs alternate, and the median
 * of their ratios is reported, so that a change of the machine's speed affects both. `BENCH_ROUNDS` repeats them with new
 * processes.
 */
import { resolve } from 'node:path';
import { hammer, type Scenario } from './support/hammer.ts';
import { complete, type Load, openStreams } from './support/load.ts';
import { type Measured, start } from './support/process.ts';
import { median, percentile } from './support/report.ts';

const [other, ...words] = process.argv.slice(2);
if (other === undefined) {
  console.error('usage: npm run bench:compare -- <folder of the other checkout> [P1 P2 …]');
  process.exit(2);
}
const before = resolve(other);
/** Pairs of one round, and rounds of one comparison. */
const PAIRS = Number(process.env.BENCH_PAIRS ?? 41);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 1);
const CHAT = JSON.stringify({ message: 'Tell me a short story about a lighthouse keeper and a storm.' });
const upstream = await start('upstream', 'upstream.ts');

interface Comparison {
  readonly name: string;
  readonly file: string;
  readonly environment: Record<string, string>;
  /** Called once per server. @returns a function that sends the load. */
  prepare(server: Measured): Promise<(load: Load) => Promise<unknown>>;
  readonly warm: Load;
  readonly load: Load;
}

const completions = (name: string, file: string, script: string, warm: Load, load: Load): Comparison => ({
  name,
  file: `servers/${file}.ts`,
  environment: { UPSTREAM: `${upstream.url}/${script}/v1` },
  prepare:
    async ({ url }) =>
    (some) =>
      complete(url, some),
  warm,
  load,
});

const acknowledge: Scenario = async (ask) => {
  await ask('POST', '/api/chat', CHAT);
};

const chat = (
  name: string,
  environment: Record<string, string>,
  prepare: (server: Measured) => Promise<Scenario>,
): Comparison => ({
  name,
  file: 'servers/questline-chat.ts',
  environment,
  async prepare(server) {
    const scenario = await prepare(server);
    return (some) => hammer(server.url, some, scenario);
  },
  warm: { requests: 30_000, concurrency: 20 },
  load: { requests: 1000, concurrency: 20 },
});

async function preparePoll({ url }: Measured): Promise<Scenario> {
  let path = '';
  await hammer(url, { requests: 1, concurrency: 1 }, async (ask) => {
    const { id } = JSON.parse(await ask('POST', '/api/chat', CHAT)) as { id: string };
    path = `/api/v1/quests/${id}`;
  });
  return async (ask) => {
    await ask('GET', path);
  };
}

const warm: Load = { requests: 30_000, concurrency: 20 };
const burst: Load = { requests: 500, concurrency: 20 };
const COMPARISONS: readonly Comparison[] = [
  completions('P1  completions, 8 events, node listener', 'questline', 'burst8', warm, burst),
  completions('P2  completions, 8 events, Express', 'questline-express', 'burst8', warm, burst),
  completions(
    'P3  completions, 200 events in a burst',
    'questline',
    'burst200',
    { requests: 3000, concurrency: 20 },
    { requests: 100, concurrency: 20 },
  ),
  completions(
    'P3b completions, 100 chunks 20 ms apart',
    'questline',
    'paced',
    { requests: 600, concurrency: 200 },
    { requests: 200, concurrency: 200 },
  ),
  chat('P6  acknowledgement of a chat', { ENGINE: 'off' }, async () => acknowledge),
  chat('P6  poll of a quest', {}, preparePoll),
];

function isWanted(name: string): boolean {
  return words.length === 0 || words.some((word) => name.startsWith(word));
}

function report(name: string, ratio: number, details: string): void {
  console.log(`${name.padEnd(44)} ${ratio.toFixed(3)} x before   ${details}`);
}

interface Round {
  /** Microseconds of CPU per request, before and now. */
  readonly costs: readonly [number, number];
  readonly ratio: number;
}

async function measureRound({ file, environment, prepare, warm, load }: Comparison): Promise<Round> {
  const servers = [
    await start('before', file, environment, before),
    await start('now', file, environment),
  ] as const;
  const send = [await prepare(servers[0]), await prepare(servers[1])] as const;
  for (const some of send) await some(warm);
  const getCost = async (side: 0 | 1): Promise<number> => {
    const start = await servers[side].read();
    await send[side](load);
    return ((await servers[side].read()).cpu - start.cpu) / load.requests;
  };
  const costs: [number[], number[]] = [[], []];
  const ratios: number[] = [];
  for (let index = 0; index < PAIRS; index += 1) {
    for (const side of index % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      costs[side].push(await getCost(side));
    }
    ratios.push((costs[1].at(-1) ?? 0) / (costs[0].at(-1) ?? 1));
  }
  for (const server of servers) await server.stop();
  return { costs: [median(costs[0]), median(costs[1])], ratio: median(ratios) };
}

/** Two processes of the same code differ, too: several rounds, each with new processes. */
async function compare(comparison: Comparison): Promise<void> {
  const rounds: Round[] = [];
  for (let index = 0; index < ROUNDS; index += 1) rounds.push(await measureRound(comparison));
  const ratios = rounds.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const [then, now] = ([0, 1] as const).map((side) =>
    median(rounds.map(({ costs }) => costs[side])).toFixed(1),
  );
  report(
    comparison.name,
    median(ratios),
    `CPU ${now} us (before ${then} us); rounds ${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}`,
  );
}

/** P4: time to the first event in ms, for sequential requests. */
async function compareFirstEvent(): Promise<void> {
  const environment = { UPSTREAM: `${upstream.url}/burst8/v1` };
  const servers = [
    await start('before', 'servers/questline.ts', environment, before),
    await start('now', 'servers/questline.ts', environment),
  ];
  for (const { url } of servers) await complete(url, warm);
  const times: [number[], number[]] = [[], []];
  for (let index = 0; index < PAIRS; index += 1) {
    for (const [side, { url }] of servers.entries()) {
      times[side]?.push(...(await complete(url, { requests: 300, concurrency: 1 })).firstByte);
    }
  }
  for (const list of times) list.sort((a, b) => a - b);
  const [then, now] = times.map((list) => percentile(list, 0.5));
  report(
    'P4  time to the first event, p50',
    (now ?? 0) / (then ?? 1),
    `${now?.toFixed(2)} ms (before ${then?.toFixed(2)} ms)`,
  );
  for (const server of servers) await server.stop();
}

/** P5: memory of open streams, of live objects and resident, in KB per stream. */
async function measureMemory(checkout: string | undefined, count: number): Promise<[number, number]> {
  const environment = { UPSTREAM: `${upstream.url}/slow/v1` };
  const server = await start('questline', 'servers/questline.ts', environment, checkout, {
    measuresLive: true,
  });
  // The code and the buffers of the first streams are no cost of a stream.
  await (await openStreams(server.url, 200))();
  const atStart = { live: await server.readLive(), resident: (await server.read('memory')).rss };
  const close = await openStreams(server.url, count);
  await server.read('memory');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const live = (await server.readLive()) - atStart.live;
  const resident = (await server.read('memory')).rss - atStart.resident;
  await close();
  await server.stop();
  return [live / count / 1024, resident / count / 1024];
}

async function compareMemory(count: number): Promise<void> {
  const rounds: [number, number][][] = [];
  for (let index = 0; index < ROUNDS; index += 1) {
    rounds.push([await measureMemory(before, count), await measureMemory(undefined, count)]);
  }
  const middle = (side: 0 | 1, what: 0 | 1): number =>
    median(rounds.map((round) => round[side]?.[what] ?? 0));
  const describe = (side: 0 | 1): string =>
    `${middle(side, 0).toFixed(1)} KB, resident ${middle(side, 1).toFixed(1)} KB`;
  report(
    `P5  live memory per open stream, ${count} streams`,
    middle(1, 0) / middle(0, 0),
    `${describe(1)} (before ${describe(0)})`,
  );
}

for (const comparison of COMPARISONS) if (isWanted(comparison.name)) await compare(comparison);
if (isWanted('P4')) await compareFirstEvent();
if (isWanted('P5')) for (const count of [1000, 5000]) await compareMemory(count);
await upstream.stop();
