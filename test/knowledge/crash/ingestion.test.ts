import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUser, toFetchHandler } from '@questline/core';
import { LAKE_FILES, type LakeFileRecord } from '@questline/core/internal';
import { createRandom } from '@questline/testing';
import { afterAll, expect, it } from 'vitest';
import { forkScript } from '../../support/children/fork.ts';
import { documentId, type Moment, openWorkspace, PICTURE_EVERY } from './workspace.ts';

const DOCUMENTS = 1000;
const KILLS = 3;
const GRANT = 9_000_000_000_000;

const folder = mkdtempSync(join(tmpdir(), 'questline-ingestion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function begin(path: string, moment?: Moment): ChildProcess {
  const child = forkScript(join(import.meta.dirname, 'ingestion.child.ts'));
  child.send({ path, moment });
  return child;
}

/** Starts a process and kills it at the given moment. */
async function endAt(path: string, moment: Moment): Promise<void> {
  const child = begin(path, moment);
  await new Promise<void>((reached) => {
    child.on('message', (message) => message === 'reached' && reached());
  });
  await end(child);
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

it(`${DOCUMENTS} documents survive processes killed during ingestion: each reaches a final state, no chunk is duplicated, none is charged twice`, {
  timeout: 900_000,
}, async () => {
  const path = join(folder, 'lakes.db');
  const { services, api, close } = await openWorkspace(path, () => undefined);
  const { store, ledger, vectors } = services;
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await ledger.grant({ account, amount: GRANT, key: 'start', reason: 'start' });
  const token = await services.tokens.sign({ id: user.id, tokenVersion: user.tokenVersion, typ: 'access' });
  const handle = toFetchHandler(api);
  const post = async (way: string, body?: object): Promise<{ id: string }> => {
    const answer = await handle(
      new Request(`http://questline.test/api/v1/data-lakes${way}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    return (await answer?.json()) as { id: string };
  };
  const { id: lakeId } = await post('', { name: 'Papers' });
  // No worker runs here: the killed processes do all the work.
  for (let number = 1; number <= DOCUMENTS; number += 1) await post(`/${lakeId}/files/${documentId(number)}`);

  const files = store.collection(LAKE_FILES);
  const done = async (): Promise<number> => DOCUMENTS - (await files.count({ lakeId, status: 'indexing' }));
  const untilDone = async (wanted: number): Promise<void> => {
    while ((await done()) < wanted) await sleep(20);
  };
  const random = createRandom(7);
  const doneAtKills: number[] = [];
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const child = begin(path);
    await untilDone(Math.floor((kill * DOCUMENTS) / (KILLS + 1)) + random.below(50));
    await end(child);
    doneAtKills.push(await done());
  }
  await endAt(path, 'before-settling');
  await endAt(path, 'after-settling');
  const last = begin(path);
  await untilDone(DOCUMENTS);
  await end(last);

  const all: readonly LakeFileRecord[] = await files.find({ lakeId });
  expect(all).toHaveLength(DOCUMENTS);
  const ready = all.filter(({ status }) => status === 'ready');
  const failed = all.filter(({ status }) => status === 'failed');
  expect(failed).toHaveLength(DOCUMENTS / PICTURE_EVERY);
  expect(new Set(failed.map(({ error }) => error))).toEqual(
    new Set(['Text extraction does not support files of the type image/png.']),
  );
  expect(ready).toHaveLength(DOCUMENTS - failed.length);

  const pieces = ready.reduce((sum, { chunkCount }) => sum + chunkCount, 0);
  expect(await vectors.count({ lakeId })).toBe(pieces);
  for (const { id, chunkCount, vectorizedCount } of ready) {
    expect(vectorizedCount).toBe(chunkCount);
    expect(await vectors.count({ lakeId, fileId: id })).toBe(chunkCount);
  }

  const charges = await ledger.charges({ account }, 5000);
  const settled = charges.filter(({ status }) => status === 'settled');
  // Each document is one call with one charge, and no hold remains.
  expect(settled).toHaveLength(ready.length);
  const { posted, held } = await ledger.balance(account);
  expect(held).toBe(0);
  expect(GRANT - posted).toBe(settled.reduce((sum, { amount }) => sum + amount, 0));
  const entries = await ledger.entries(account, { limit: 5000 });
  expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  console.info(
    `ingestion: ${DOCUMENTS} documents, killed when ${doneAtKills.join(', ')} had ended: ${ready.length} ready, ${failed.length} failed, ${pieces} chunks, ${settled.length} charges`,
  );
  await close();
});
