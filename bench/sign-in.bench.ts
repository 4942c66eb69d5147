/**
 * Checks that response times do not reveal accounts. Known, unknown and disabled addresses alternate, so that
 * other load on the machine affects all three equally. Reports the difference of the medians in milliseconds.
 */
import { COLLECTIONS, createApi, createServices, createUser, toFetchHandler, USERS } from '@questline/core';
import {
  createIds,
  createMemoryLimiter,
  createMemoryMailer,
  createSystemClock,
} from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { median } from './support/report.ts';

const CALLS = Number(process.env.BENCH_CALLS ?? 500);
const GOAL_MS = 5;

const clock = createSystemClock();
const ids = createIds({ clock });
const database = createSqliteDatabase({ path: ':memory:' });
await migrate(database, { collections: COLLECTIONS });
const ports = {
  ...createSqlPorts(database, { clock, ids }),
  limiter: createMemoryLimiter(),
  mailer: createMemoryMailer(),
  models: [],
  clock,
  ids,
};
const services = createServices(ports, { jwtSecret: 'a'.repeat(64) });
const handle = toFetchHandler(createApi(services));

const KINDS = ['known', 'unknown', 'disabled'] as const;
for (let at = 0; at < CALLS; at += 1) {
  await createUser(services, { email: `known-${at}@example.com`, username: 'known' });
  const banned = await createUser(services, { email: `disabled-${at}@example.com`, username: 'disabled' });
  if (banned !== undefined) await services.store.collection(USERS).update(banned.id, { disabled: true });
}

let address = 0;
async function timed(path: string, body: object): Promise<{ readonly ms: number; readonly body: object }> {
  address += 1;
  const request = new Request(`http://questline.test${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const started = performance.now();
  const answer = await handle(request, { remoteAddress: `client-${address}` });
  const text = (await answer?.text()) ?? '{}';
  return { ms: performance.now() - started, body: JSON.parse(text) as object };
}

const sent = KINDS.map((): number[] => []);
const tried = KINDS.map((): number[] => []);
for (let at = 0; at < CALLS; at += 1) {
  for (let turn = 0; turn < KINDS.length; turn += 1) {
    // Rotate the order.
    const index = (at + turn) % KINDS.length;
    const email = `${KINDS[index]}-${at}@example.com`;
    const asked = await timed('/api/otc/send', { email });
    const answer = await timed('/api/otc/verify', { ...asked.body, email, code: 'wrong' });
    sent[index]?.push(asked.ms);
    tried[index]?.push(answer.ms);
  }
}
await database.close();

for (const [what, times] of [
  ['request of a code', sent],
  ['a wrong code', tried],
] as const) {
  const medians = times.map(median);
  const distance = Math.max(...medians) - Math.min(...medians);
  const verdict = distance <= GOAL_MS ? 'met' : 'MISSED';
  const summary = KINDS.map((kind, index) => `${kind} ${medians[index]?.toFixed(3)}`).join(', ');
  console.log(
    `${what.padEnd(20)} difference ${distance.toFixed(3)} ms   goal <= ${GOAL_MS} ms   ${verdict}   ${summary}`,
  );
}
