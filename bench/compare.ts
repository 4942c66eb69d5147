/**
 * Compares the hot paths of this checkout with those of another one, e.g. a worktree of an earlier commit:
 * `npm run bench:compare -- ../before`. CPU is the server process's own time. Two processes of the same code differ by some
 * percent, so each round starts new ones, the order of the two checkouts alternates, and the rounds of all figures alternate:
 * a slow minute of the machine affects all of them. Other programs only add to the cost of a measurement, so the cost of a
 * process is the lower quartile of its measurements. Reported is the median of the ratios of `BENCH_ROUNDS` rounds, and the
 * interval that contains the median of infinitely many rounds with a probability of 95 %.
 */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Comparison, createComparisons, WARM } from './support/comparisons.ts';
import { complete, openStreams } from './support/load.ts';
import { type Measured, start } from './support/process.ts';
import { lowerQuartile, median } from './support/report.ts';

const [other, ...words] = process.argv.slice(2);
if (other === undefined) {
  console.error('usage: npm run bench:compare -- <folder of the other checkout> [P1 P2 …]');
  process.exit(2);
}
const before = resolve(other);
const here = resolve(import.meta.dirname, '..');
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
/** Rounds of P5, which is no time and so varies less. */
const MEMORY_ROUNDS = Math.ceil(ROUNDS / 8);
/** Pairs of measurements of one round. */
const PAIRS = Number(process.env.BENCH_PAIRS ?? 8);
const upstream = await start('upstream', 'upstream.ts');

type Pair = readonly [before: number, now: number];

/** One figure: a measurement of both checkouts, repeated in rounds. */
interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly rounds: number;
  /** @param isSwapped whether the other order of the checkouts is used. */
  measure(isSwapped: boolean): Promise<Pair>;
}

/** Calls `act` for both checkouts, one after the other. */
async function onBoth<T>(isSwapped: boolean, act: (checkout: string) => Promise<T>): Promise<[T, T]> {
  if (!isSwapped) return [await act(before), await act(here)];
  const now = await act(here);
  return [await act(before), now];
}

async function withServers<T>(
  isSwapped: boolean,
  open: (checkout: string) => Promise<Measured>,
  use: (servers: readonly [Measured, Measured]) => Promise<T>,
): Promise<T> {
  const servers = await onBoth(isSwapped, open);
  try {
    return await use(servers);
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Microseconds of CPU per request. */
const compareCost = ({ name, file, environment, prepare, warm, load }: Comparison): Figure => ({
  name,
  unit: 'us of CPU',
  rounds: ROUNDS,
  measure: (isSwapped) =>
    withServers(
      isSwapped,
      (checkout) => start(name, file, environment, checkout),
      async (servers) => {
        const send = [await prepare(servers[0]), await prepare(servers[1])] as const;
        for (const some of send) await some(warm);
        const costs: [number[], number[]] = [[], []];
        for (let pair = 0; pair < PAIRS; pair += 1) {
          for (const side of (pair % 2 === 0) === isSwapped ? ([1, 0] as const) : ([0, 1] as const)) {
            const from = await servers[side].read();
            await send[side](load);
            costs[side].push(((await servers[side].read()).cpu - from.cpu) / load.requests);
          }
        }
        return [lowerQuartile(costs[0]), lowerQuartile(costs[1])];
      },
    ),
});

/** P4: milliseconds to the first event, for requests one after the other. */
const firstEvent: Figure = {
  name: 'P4  time to the first event, p50',
  unit: 'ms',
  rounds: ROUNDS,
  measure: (isSwapped) =>
    withServers(
      isSwapped,
      (checkout) => start('P4', 'servers/questline.ts', { UPSTREAM: `${upstream.url}/burst8/v1` }, checkout),
      async (servers) => {
        for (const { url } of servers) await complete(url, WARM);
        const times: [number[], number[]] = [[], []];
        for (let pair = 0; pair < PAIRS; pair += 1) {
          for (const side of pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
            const { firstByte } = await complete(servers[side].url, { requests: 150, concurrency: 1 });
            times[side].push(median(firstByte));
          }
        }
        return [lowerQuartile(times[0]), lowerQuartile(times[1])];
      },
    ),
};

/** Until the server has seen which connections have opened and closed. */
const settle = (): Promise<void> => new Promise((then) => setTimeout(then, 3000));

/** P5: KB of live objects per open stream. */
const compareMemory = (count: number): Figure => ({
  name: `P5  live memory per open stream, ${count} streams`,
  unit: 'KB',
  rounds: MEMORY_ROUNDS,
  measure: (isSwapped) =>
    onBoth(isSwapped, async (checkout) => {
      const environment = { UPSTREAM: `${upstream.url}/slow/v1` };
      const server = await start('P5', 'servers/questline.ts', environment, checkout, { measuresLive: true });
      // The code and the buffers of the first streams are no cost of a stream.
      await (await openStreams(server.url, 200))();
      await settle();
      const atStart = await server.readLive();
      const close = await openStreams(server.url, count);
      await server.read('memory');
      await settle();
      const live = (await server.readLive()) - atStart;
      await close();
      await server.stop();
      return live / count / 1024;
    }),
});

/** P7: microseconds of one lookup of a route, as the benchmark of each checkout reports it. */
const lookup: Figure = {
  name: 'P7  lookup of a route',
  unit: 'us',
  rounds: MEMORY_ROUNDS,
  measure: (isSwapped) =>
    onBoth(isSwapped, async (checkout) => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--conditions=@questline/source', 'bench/run.ts', 'router'],
        { cwd: checkout },
      );
      return Number(/([\d.]+) us/.exec(stdout)?.[1] ?? Number.NaN);
    }),
};

/** The positions of the ends of the 95 % interval of a median, in sorted values. */
function getInterval(count: number): readonly [number, number] {
  const low = Math.max(0, Math.floor((count - 1.96 * Math.sqrt(count)) / 2));
  return [low, count - 1 - low];
}

function report({ name, unit }: Figure, pairs: readonly Pair[]): void {
  const ratios = pairs.map(([then, now]) => now / then).sort((a, b) => a - b);
  const [then, now] = ([0, 1] as const).map((side) => median(pairs.map((pair) => pair[side])).toFixed(2));
  const [low, high] = getInterval(ratios.length).map((at) => ratios[at]?.toFixed(3));
  const range = ratios.length > 1 ? `95 %: ${low} to ${high}; ${ratios.length} rounds; ` : '';
  console.log(`${name.padEnd(44)} ${median(ratios).toFixed(3)} x before   ${range}${now} ${unit} (${then})`);
}

const figures = [
  ...createComparisons(upstream.url).map(compareCost),
  firstEvent,
  ...[1000, 5000].map(compareMemory),
  lookup,
].filter(({ name }) => words.length === 0 || words.some((word) => name.startsWith(word)));
const results = new Map<Figure, Pair[]>(figures.map((figure) => [figure, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const figure of figures) {
    if (round >= figure.rounds) continue;
    const pair = await figure.measure(round % 2 === 1);
    results.get(figure)?.push(pair);
    console.error(`round ${round + 1}: ${figure.name}: ${(pair[1] / pair[0]).toFixed(3)}`);
  }
}
for (const [figure, pairs] of results) report(figure, pairs);
await upstream.stop();
