/**
 * The cost of operations on PostgreSQL among 1,000 and among 1,000,000 records of others: `npm run bench:growth`, or with
 * another number. Each operation runs in turn in both workspaces of one database. Reports the median times, the pages and the
 * rows that the statements of one request read, and the ratios. Exits with 1 if an operation takes or reads more than 1.5 times
 * as long or as many rows, or more than twice the pages: an index of a million entries is two pages deeper.
 */
import { median } from '../support/report.ts';
import { type MeasuredOperation, OPERATIONS } from './operations.ts';
import { openWorkspace, type Reads, type Workspace } from './workspace.ts';

const URL = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';
const FEW = 1000;
const MANY = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 60;
/** Times that do not count. */
const WARM_UP = 10;
const MAX_TIME = 1.5;
const MAX_ROWS = 1.5;
const MAX_PAGES = 2;
/** Pages and rows of an operation that reads almost nothing: each word of a search is some pages deep. */
const ALLOWANCE = 20;

interface Cost extends Reads {
  readonly ms: number;
}

const small = await openWorkspace(URL, FEW);
const began = performance.now();
const large = await openWorkspace(URL, MANY);
try {
  console.log(`filled ${MANY} records in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  console.log(
    `${'operation'.padEnd(34)} ${'ms'.padStart(16)} ${'ratio'.padStart(6)} ${'pages'.padStart(14)} ${'rows'.padStart(14)}`,
  );
  for (const operation of OPERATIONS) report(operation.name, await compare(operation));
} finally {
  await small.close();
  await large.close();
}

async function compare(operation: MeasuredOperation): Promise<readonly [Cost, Cost]> {
  const sides: readonly [Workspace, Workspace] = [small, large];
  const times = new Map<Workspace, number[]>(sides.map((side) => [side, []]));
  for (const side of sides) await side.prepare();
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const took = await side.time(operation);
      if (round >= WARM_UP) times.get(side)?.push(took);
    }
  }
  const toCost = async (side: Workspace): Promise<Cost> => ({
    ms: median(times.get(side) ?? []),
    ...(await side.explainLast()),
  });
  return [await toCost(small), await toCost(large)];
}

function report(name: string, [few, many]: readonly [Cost, Cost]): void {
  const isGrown =
    many.ms > few.ms * MAX_TIME ||
    many.rows > few.rows * MAX_ROWS + ALLOWANCE ||
    many.pages > few.pages * MAX_PAGES + ALLOWANCE;
  if (isGrown) process.exitCode = 1;
  console.log(
    [
      name.padEnd(34),
      `${few.ms.toFixed(2)} -> ${many.ms.toFixed(2)}`.padStart(16),
      (many.ms / few.ms).toFixed(2).padStart(6),
      `${few.pages} -> ${many.pages}`.padStart(14),
      `${few.rows} -> ${many.rows}`.padStart(14),
      isGrown ? 'MISSED' : '',
    ].join(' '),
  );
}
