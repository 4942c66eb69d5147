import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUser, issueApiKey } from '@questline/core';
import { FILES, type GenerationRecord, getGenerations } from '@questline/core/internal';
import { afterAll, expect, it } from 'vitest';
import { type ServerProcess, startServerProcess, stopServerProcess } from '../../support/server-process.ts';
import { openStudio } from './studio.ts';
import { type Address, openWorkspace, POLL_MS } from './workspace.ts';

const MANY = 500;
const AT_ONCE = 20;
const PRICE = 8_000_000;
const GRANT = 9_000_000_000_000;
const ENDED_WITHIN_MS = 240_000;

const CHILD = join(import.meta.dirname, 'crash.child.ts');
const folder = mkdtempSync(join(tmpdir(), 'questline-generations-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function tally(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

it(`${MANY} videos survive two kills: each is submitted once, none is lost, all are settled within two polls after completion`, {
  timeout: 600_000,
}, async () => {
  const studio = await openStudio();
  const address: Address = { folder, studio: studio.url };
  mkdirSync(join(folder, 'objects'), { recursive: true });
  const { services, close } = await openWorkspace(address, () => undefined);
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await services.ledger.grant({ account, amount: GRANT, key: 'start', reason: 'start' });
  const { key } = await issueApiKey(services, {
    userId: user.id,
    name: 'crash',
    scopes: ['ai:generate'],
    requestsPerMinute: 1_000_000,
    requestsPerDay: 1_000_000,
  });
  const generations = getGenerations(services.store);
  const all = (): Promise<readonly GenerationRecord[]> => generations.find({}, { limit: 1000 });
  const getStates = (records: readonly GenerationRecord[]) =>
    tally(records.map(({ state, step }) => (step === undefined ? state : `${state}, ${step}`)));
  const isLive = { state: { in: ['reserving', 'pending', 'running', 'storing'] } } as const;

  const servers = [await startServerProcess(CHILD, address)];
  const prompts = Array.from({ length: MANY }, (_, number) => `video ${number}`);
  const waiting = [...prompts];
  const accepted: string[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let prompt = waiting.shift(); prompt !== undefined; prompt = waiting.shift()) {
        const answer = await fetch(`${servers[0]?.url}/api/v1/video-generations`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ model: 'director', prompt }),
        });
        expect(answer.status).toBe(202);
        accepted.push(((await answer.json()) as { id: string }).id);
      }
    }),
  );
  await stopServerProcess(servers[0] as ServerProcess, 'SIGKILL');
  const atFirstKill = await all();

  servers.push(await startServerProcess(CHILD, address));
  const deadline = Date.now() + ENDED_WITHIN_MS;
  while (Date.now() < deadline && MANY - (await generations.count(isLive)) < MANY / 3) await sleep(20);
  await stopServerProcess(servers[1] as ServerProcess, 'SIGKILL');
  const atSecondKill = await all();

  servers.push(await startServerProcess(CHILD, address));
  const isBusy = async (): Promise<boolean> => {
    const { ready, delayed, leased } = await services.queue.counts();
    return ready + delayed + leased > 0 || (await generations.count(isLive)) > 0;
  };
  while (Date.now() < deadline && (await isBusy())) await sleep(100);
  await stopServerProcess(servers[2] as ServerProcess, 'SIGTERM');

  const records = await all();
  const asked = tally(studio.works.map(({ prompt }) => prompt));
  const getWork = new Map(studio.works.map((work) => [work.id, work]));
  const charges = await services.ledger.charges({ account }, 1000);
  const entries: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await services.ledger.entries(account, {
      limit: 500,
      ...(before !== undefined && { before }),
    });
    entries.push(...page.filter(({ kind }) => kind === 'charge').map(({ key: charged }) => charged));
    before = page.at(-1)?.id;
    if (page.length < 500) break;
  }
  const files = await services.store.collection(FILES).find({ ownerId: user.id }, { limit: 1000 });
  const balance = await services.ledger.balance(account);
  const succeeded = records.filter(({ state }) => state === 'succeeded');
  const late = succeeded.map(({ providerJobId = '', updatedAt }) => {
    const from = servers.map(({ listeningAt }) => listeningAt).filter((at) => at <= updatedAt);
    return updatedAt - Math.max(getWork.get(providerJobId)?.endsAt ?? 0, ...from);
  });
  const lost = records.filter(({ state, step }) => state === 'failed' && step === 'submitting');
  console.info(`at the first kill: ${JSON.stringify(getStates(atFirstKill))}`);
  console.info(`at the second kill: ${JSON.stringify(getStates(atSecondKill))}`);
  console.info(
    `at the end: ${JSON.stringify(getStates(records))}; ${studio.works.length} submissions, at most ` +
      `${Math.max(...Object.values(asked))} for one video; ${entries.length} charges; settled at most ` +
      `${Math.max(...late)} ms after its provider's end or the restart, two polls are ${2 * POLL_MS} ms`,
  );

  expect(new Set(accepted).size).toBe(MANY);
  expect(records.map(({ id }) => id).sort()).toEqual([...accepted].sort());
  expect(await services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  // The kills must hit submitted work; otherwise the test proves nothing.
  const met = new Set([...Object.keys(getStates(atFirstKill)), ...Object.keys(getStates(atSecondKill))]);
  expect([...met]).toEqual(expect.arrayContaining(['running, submitted']));
  // No video was submitted twice.
  expect(Object.entries(asked).filter(([, times]) => times > 1)).toEqual([]);
  // Each final state is the outcome of the provider, or the process died during submission.
  const dying = new Set(
    [...atFirstKill, ...atSecondKill].filter(({ step }) => step === 'submitting').map(({ id }) => id),
  );
  expect(lost.filter(({ id }) => !dying.has(id))).toEqual([]);
  for (const { id, state, providerJobId } of records) {
    const outcome = getWork.get(providerJobId ?? '')?.outcome ?? 'failed';
    expect([id, state]).toEqual([id, outcome === 'done' ? 'succeeded' : outcome]);
  }
  // One charge for each success, none for the rest, and no remaining hold.
  expect([...entries].sort()).toEqual(succeeded.map(({ id }) => id).sort());
  expect(charges.filter(({ status }) => status === 'reserved')).toEqual([]);
  expect(balance).toMatchObject({ held: 0, posted: GRANT - succeeded.length * PRICE });
  expect(files.map(({ id }) => id).sort()).toEqual(succeeded.map(({ file }) => file?.id ?? '').sort());
  expect(tally(files.map(({ status }) => status))).toEqual({ clean: succeeded.length });
  expect(Math.max(...late)).toBeLessThan(2 * POLL_MS);
  for (const { errors } of servers) {
    // Failures of the provider are reported to operators.
    expect(errors.filter((error) => !/videos: (?:failed|blocked)$/.test(error))).toEqual([]);
  }
  await close();
  await studio.close();
});
