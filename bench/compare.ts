/**
 * Compares the hot paths of this checkout with those of another one, e.g. a worktree of an earlier commit:
 * `npm run bench:compare -- ../before`. CPU is the server process's own time. Two processes of the same code differ by some
 * percent, so each round starts new ones, the order of the two checkouts alternates, and the rounds of all figures alternate:
 * a slow minute of the machine affects all of them. Within a round the two processes alternate in short windows, because other
 * programs of the machine slow down both windows of a pair alike: the ratio of a round is the median of those of its pairs.
 * Reported is the median of the ratios of `BENCH_ROUNDS` rounds, and the interval that contains the median of infinitely many
 * rounds with a probability of 95 %.
 */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Comparison, createComparisons, WARM } from './support/comparisons.ts';
import { complete, openStreams } from './support/load.ts';
import { type Measured, pin, start } from './support/process.ts';
import { median } from './support/report.ts';

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
const PAIRS = Number(process.env.BENCH_PAIRS ?? 24);
/** The core of the measured process, and that of its clients and its provider. */
const [SERVER_CORE, OTHER_CORE] = [0, 1];
const upstream = await start('upstream', 'upstream.ts');
for (const pid of [process.pid, upstream.pid]) pin(pid, OTHER_CORE);

type Pair = readonly [before: number, now: number];

/** One figure: a measurement of both checkouts, repeated in rounds. */
interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly rounds: number;
  /** @param isSwapped whether the other order of the checkouts is used. */
  measure(isSwapped: boolean): Promise<readonly Pair[]>;
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
  for (const { pid } of servers) pin(pid, SERVER_CORE);
  try {
    return await use(servers);
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Measures two servers in turn. */
async function alternate(
  count: number,
  isSwapped: boolean,
  measure: (side: 0 | 1) => Promise<number>,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let pair = 0; pair < count; pair += 1) {
    if ((pair % 2 === 1) === isSwapped) pairs.push([await measure(0), await measure(1)]);
    else {
      const now = await measure(1);
      pairs.push([await measure(0), now]);
    }
  }
  return pairs;
}

/** Microseconds of CPU per request. */
const compareCost = ({
  name,
  file,
  environment,
  prepare,
  warm,
  load,
  pairs = PAIRS,
}: Comparison): Figure => ({
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
        return alternate(pairs, isSwapped, async (side) => {
          const from = await servers[side].read();
          await send[side](load);
          return ((await servers[side].read()).cpu - from.cpu) / load.requests;
        });
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
        return alternate(PAIRS, isSwapped, async (side) =>
          median((await complete(servers[side].url, { requests: 75, concurrency: 1 })).firstByte),
        );
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
  measure: async (isSwapped) => [
    await onBoth(isSwapped, async (checkout) => {
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
  ],
});

/** P7: microseconds of one lookup of a route, as the benchmark of each checkout reports it. */
const lookup: Figure = {
  name: 'P7  lookup of a route',
  unit: 'us',
  rounds: MEMORY_ROUNDS,
  measure: async (isSwapped) => [
    await onBoth(isSwapped, async (checkout) => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--conditions=@questline/source', 'bench/run.ts', 'router'],
        { cwd: checkout },
      );
      return Number(/([\d.]+) us/.exec(stdout)?.[1] ?? Number.NaN);
    }),
  ],
};

/** The positions of the ends of the 95 % interval of a median, in sorted values. */
function getInterval(count: number): readonly [number, number] {
  const low = Math.max(0, Math.floor((count - 1.96 * Math.sqrt(count)) / 2));
  return [low, count - 1 - low];
}

const getRatio = (pairs: readonly Pair[]): number => median(pairs.map(([then, now]) => now / then));

function report({ name, unit }: Figure, rounds: readonly (readonly Pair[])[]): void {
  const ratios = rounds.map(getRatio).sort((a, b) => a - b);
  const [then, now] = ([0, 1] as const).map((side) =>
    median(rounds.flat().map((pair) => pair[side])).toFixed(2),
  );
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
const results = new Map<Figure, (readonly Pair[])[]>(figures.map((figure) => [figure, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const figure of figures) {
    if (round >= figure.rounds) continue;
    const pairs = await figure.measure(round % 2 === 1);
    results.get(figure)?.push(pairs);
    console.error(`round ${round + 1}: ${figure.name}: ${getRatio(pairs).toFixed(3)}`);
  }
}
for (const [figure, rounds] of results) report(figure, rounds);
await upstream.stop();
