/**
 * P7: route lookup among all operations of the api: once for every operation by its path with IDs, and for
 * paths of the host. CPU of this process.
 */
import { createApi, createServices } from '@questline/core';
import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryStore,
  createSystemClock,
} from '@questline/core/memory';
import { createRouter } from '../packages/core/src/operations/router.ts';
import { median, reportAmount } from './support/report.ts';

const ROUNDS = 9;
const FINDS = 300_000;

const clock = createSystemClock();
const api = createApi(
  createServices(
    {
      store: createMemoryStore(),
      ledger: createMemoryLedger({ clock }),
      limiter: createMemoryLimiter(),
      mailer: { send: async () => undefined },
      models: [],
      clock,
    },
    { jwtSecret: 'b'.repeat(64) },
  ),
);
const router = createRouter(api.routes);
const ours = api.routes.map(({ operation: { method, path } }) => ({
  method,
  path: path.replaceAll(/\{\w+\}/g, '0123456789abcdef01234567'),
}));
const theirs = ['/', '/index.html', '/api/orders/17', '/assets/app.js'].map((path) => ({
  method: 'GET',
  path,
}));

/** CPU of one lookup, in microseconds. */
function getCost(
  asked: readonly { readonly method: string; readonly path: string }[],
  isOurs: boolean,
): number {
  const before = process.cpuUsage();
  let found = 0;
  for (let index = 0; index < FINDS; index += 1) {
    const { method, path } = asked[index % asked.length] ?? { method: '', path: '' };
    if (router.find(method, path)?.kind === 'route') found += 1;
  }
  const { user, system } = process.cpuUsage(before);
  if (found !== (isOurs ? FINDS : 0)) throw new Error(`${found} of ${FINDS} lookups found a route`);
  return (user + system) / FINDS;
}

for (const [what, asked] of [
  [`P7  lookup of a route, ${ours.length} operations`, ours],
  ['P7  lookup of a path of the host', theirs],
] as const) {
  const isOurs = asked === ours;
  getCost(asked, isOurs);
  const costs = Array.from({ length: ROUNDS }, () => getCost(asked, isOurs));
  reportAmount(what, median(costs), 'us', 1, `median of ${ROUNDS} rounds of ${FINDS}`);
}
