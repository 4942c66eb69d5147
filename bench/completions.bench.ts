/**
 * Compares the completions hot path with a bare server that parses and re-encodes the same upstream events.
 * CPU is the server process's own user and system time; pairs alternate, and the median of their ratios is
 * reported.
 */
import { complete, type Load, openStreams } from './support/load.ts';
import { type Measured, start } from './support/process.ts';
import { median, percentile, reportRatio } from './support/report.ts';

const PAIRS = Number(process.env.BENCH_PAIRS ?? 5);

const upstream = await start('upstream', 'upstream.ts');

async function pair(script: string, files: readonly [string, string]): Promise<[Measured, Measured]> {
  const environment = { UPSTREAM: `${upstream.url}/${script}/v1` };
  return [
    await start(files[0], `servers/${files[0]}.ts`, environment),
    await start(files[1], `servers/${files[1]}.ts`, environment),
  ];
}

interface Cost {
  readonly cpu: number;
  readonly perSecond: number;
}

async function getCost(server: Measured, load: Load): Promise<Cost> {
  const before = await server.read();
  const { seconds } = await complete(server.url, load);
  const after = await server.read();
  return { cpu: (after.cpu - before.cpu) / load.requests, perSecond: load.requests / seconds };
}

async function compare(
  goal: { what: string; script: string; files: readonly [string, string]; limit: number; perStream?: number },
  load: Load,
  warmUp: Load,
): Promise<void> {
  const [reference, ours] = await pair(goal.script, goal.files);
  for (const server of [reference, ours]) await complete(server.url, warmUp);
  const ratios: number[] = [];
  const costs: [Cost[], Cost[]] = [[], []];
  for (let index = 0; index < PAIRS; index++) {
    // Alternates the order, so that drift of the machine cancels out.
    const order = index % 2 === 0 ? [reference, ours] : [ours, reference];
    for (const server of order) costs[server === ours ? 1 : 0].push(await getCost(server, load));
    ratios.push((costs[1].at(-1)?.cpu ?? 0) / (costs[0].at(-1)?.cpu ?? 1));
  }
  const per = goal.perStream ?? 1;
  const unit = per === 1 ? 'request' : 'event';
  const cpu = costs.map((list) => (median(list.map((cost) => cost.cpu)) / per).toFixed(per === 1 ? 0 : 2));
  const rate = costs.map((list) => median(list.map((cost) => cost.perSecond)).toFixed(0));
  reportRatio(
    goal.what,
    median(ratios),
    goal.limit,
    `CPU per ${unit} ${cpu[1]} us (reference ${cpu[0]} us); streams/s ${rate[1]} (${rate[0]})`,
  );
  await reference.stop();
  await ours.stop();
}

// Warms up first, because a new server compiles its code, longer for longer paths. The result is the cost of
// a request after that.
const warm: Load = { requests: 30_000, concurrency: 20 };
const burst: Load = { requests: 2000, concurrency: 20 };

await compare(
  {
    what: 'P1  completions, 8 events, node listener / bare',
    script: 'burst8',
    files: ['bare', 'questline'],
    limit: 1.3,
  },
  burst,
  warm,
);
await compare(
  {
    what: 'P2  completions, 8 events, Express / bare Express',
    script: 'burst8',
    files: ['bare-express', 'questline-express'],
    limit: 1.2,
  },
  burst,
  warm,
);
await compare(
  {
    what: 'P3  completions, 200 events in a burst / bare',
    script: 'burst200',
    files: ['bare', 'questline'],
    limit: 0.8,
    perStream: 200,
  },
  { requests: 600, concurrency: 20 },
  { requests: 3000, concurrency: 20 },
);
await compare(
  {
    what: 'P3b completions, 100 chunks 20 ms apart, 200 streams / bare',
    script: 'paced',
    files: ['bare', 'questline'],
    limit: 0.9,
    perStream: 100,
  },
  { requests: 200, concurrency: 200 },
  { requests: 600, concurrency: 200 },
);

{
  const [reference, ours] = await pair('burst8', ['bare', 'questline']);
  for (const server of [reference, ours]) await complete(server.url, warm);
  const first: [number[], number[]] = [[], []];
  for (let index = 0; index < PAIRS; index++) {
    for (const [side, server] of [reference, ours].entries()) {
      const { firstByte } = await complete(server.url, { requests: 300, concurrency: 1 });
      first[side]?.push(...firstByte);
    }
  }
  for (const list of first) list.sort((a, b) => a - b);
  for (const [share, limit] of [
    [0.5, 0.5],
    [0.99, 2],
  ] as const) {
    const added = percentile(first[1], share) - percentile(first[0], share);
    console.log(
      `${`P4  time added to the first event, p${share * 100}`.padEnd(58)} ${added.toFixed(2)} ms  goal <= ${limit} ms  ${added <= limit ? 'met' : 'MISSED'}`,
    );
  }
  await reference.stop();
  await ours.stop();
}

for (const count of [1000, 5000]) {
  const [reference, ours] = await pair('slow', ['bare', 'questline']);
  const perStream: number[] = [];
  let delay = 0;
  for (const server of [reference, ours]) {
    // The code and the buffers of the first streams are no cost of a stream.
    await (await openStreams(server.url, 200))();
    const before = await server.read('memory');
    const close = await openStreams(server.url, count);
    await server.read('memory');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const after = await server.read('memory');
    perStream.push((after.rss - before.rss) / count);
    delay = after.delayP99;
    await close();
    await server.stop();
  }
  const [bare = 1, questline = 0] = perStream;
  reportRatio(
    `P5  memory per open stream, ${count} streams / bare`,
    questline / bare,
    1.5,
    `${(questline / 1024).toFixed(1)} KB (bare ${(bare / 1024).toFixed(1)} KB); event-loop delay p99 ${delay.toFixed(1)} ms (goal <= 20)`,
  );
}

await upstream.stop();
