import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeHostileFiles } from '../../../packages/documents/test/hostile.ts';
import { makeWord } from '../../../packages/documents/test/make.ts';
import type { MemoryCeiling } from './ceiling.ts';
import { createHostileClient, type HostileClient, signIn } from './client.ts';
import { type ServerProcess, startServerProcess } from './server.ts';

export interface HostileReport {
  readonly documents: number;
  /** Size of the smallest and the largest one, in bytes. */
  readonly sizes: readonly [number, number];
  /** Number of documents by destination and result. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Latencies of reading another user's small document, in ms, sorted. */
  readonly bystander: { readonly lake: readonly number[]; readonly chat: readonly number[] };
  /** Unexpected ends of the server. */
  readonly crashes: number;
  readonly kernelKills: number;
  /** Peak in bytes, page cache included. */
  readonly peakMemory: number;
  /** Time until the last document ended, in ms. */
  readonly tookMs: number;
}

export interface HostileRunOptions {
  readonly documents: number;
  /** Factor of the sizes: 1 means up to 30 MB. */
  readonly scale: number;
  readonly ceiling: MemoryCeiling;
  /** Aborts the run with an error that lists the pending requests. */
  readonly signal?: AbortSignal;
  readonly print?: (line: string) => void;
}

const POLL_MS = 25;
/** Concurrent hostile documents, in chats and in lakes each. */
const CHATS = 8;
/** Below the rate limit of the key. */
const ATTACK_POLL_MS = 250;
const PAUSE_MS = 500;
/** Minimum of small documents to read in lakes and in chats each, without a kill meanwhile. */
const MIN_BYSTANDERS = 2;
const ENDED = ['complete', 'completed', 'done', 'failed', 'error', 'cancelled', 'canceled'];

/**
 * One user sends a server hostile documents, alternately in a chat and a data lake, while the reads of
 * another user's small ones are measured. Halfway the server is killed and restarted.
 */
export async function runHostileDocuments(options: HostileRunOptions): Promise<HostileReport> {
  const { documents, scale, ceiling, print = () => undefined } = options;
  // One failure aborts all loops.
  const failure = new AbortController();
  const signal =
    options.signal === undefined ? failure.signal : AbortSignal.any([options.signal, failure.signal]);
  const underWay = new Map<string, string>();
  const failing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  };
  const folder = mkdtempSync(join(tmpdir(), 'questline-hostile-'));
  const kinds: { path: string; kind: string; name: string; mimeType: string }[] = [];
  let [smallest, largest] = [Number.POSITIVE_INFINITY, 0];
  // Created before the start, because it takes processor time.
  for (const { bytes, ...about } of makeHostileFiles(documents, scale)) {
    const path = join(folder, `hostile-${kinds.length}`);
    writeFileSync(path, bytes);
    kinds.push({ ...about, path });
    smallest = Math.min(smallest, bytes.length);
    largest = Math.max(largest, bytes.length);
  }
  print(`${documents} documents of ${smallest} to ${largest} bytes`);

  let server: ServerProcess = await startServerProcess(folder, ceiling);
  let crashes = 0;
  let isOver = false;
  let isKilled = false;
  const watch = async () => {
    while (!isOver) {
      await pause(PAUSE_MS);
      if (server.isAlive || isKilled) continue;
      crashes += 1;
      print('the server ended unexpectedly');
      server = await startServerProcess(folder, ceiling);
    }
  };
  const watching = failing(watch());
  const current = () => server;
  try {
    const createClient = (credential: string, pollMs?: number) =>
      createHostileClient({
        server: current,
        signal,
        underWay,
        credential,
        ...(pollMs !== undefined && { pollMs }),
      });
    const signInAs = (email: string) => signIn({ server: current, signal, underWay }, email);
    const admin = createClient((await signInAs(server.email)).token);
    for (const [key, value] of [
      ['allowOpenRegistration', true],
      ['defaultFreeCredits', 1_000_000],
    ]) {
      await admin.call('PUT', '/api/settings/update', { key, value });
    }
    const mallory = createClient((await signInAs('mallory@example.com')).key, ATTACK_POLL_MS);
    const bob = createClient((await signInAs('bob@example.com')).key);
    const lakes = new Map([
      [mallory, await makeLake(mallory, 'Hers')],
      [bob, await makeLake(bob, 'His')],
    ]);
    const outcomes: Record<string, number> = {};
    const bystander = { lake: [] as number[], chat: [] as number[] };
    const began = performance.now();
    let next = 0;
    let given = 0;

    const attack = async (): Promise<void> => {
      for (let number = next++; number < kinds.length; number = next++) {
        const { path, kind, ...about } = kinds[number] ?? { path: '', kind: '', name: '', mimeType: '' };
        const fileId = await mallory.upload({ ...about, bytes: readFileSync(path) });
        given += 1;
        const where = number % 2 === 0 ? 'chat' : 'lake';
        let end = 'blocked at upload';
        if (fileId !== undefined) {
          end =
            where === 'chat'
              ? await chatWith(mallory, fileId)
              : await addToLake(mallory, lakes.get(mallory) ?? '', fileId);
        }
        outcomes[`${where}: ${end}`] = (outcomes[`${where}: ${end}`] ?? 0) + 1;
        print(`${String(number).padStart(3)} ${kind.padEnd(34)} ${where}: ${end}`);
      }
    };

    const runBystander = async (): Promise<void> => {
      const isEnough = () => Math.min(bystander.lake.length, bystander.chat.length) >= MIN_BYSTANDERS;
      for (let number = 0; !isOver || !isEnough(); number += 1) {
        const bytes = makeWord([`Note ${number} of Bob's, about nothing in particular.`]);
        const about = { name: 'note.docx', mimeType: WORD, bytes };
        const fileId = await bob.upload(about);
        if (fileId === undefined) throw new Error('the small document was blocked');
        const server = current();
        const start = performance.now();
        const isRead = await (number % 2 === 0
          ? addToLake(bob, lakes.get(bob) ?? '', fileId).then((end) => end === 'ready')
          : chatWith(bob, fileId).then((end) => end === 'read'));
        if (!isRead) throw new Error('the small document was not read');
        // Exclude the start time of a killed server.
        if (server === current())
          bystander[number % 2 === 0 ? 'lake' : 'chat'].push(performance.now() - start);
        await pause(PAUSE_MS);
      }
    };

    const kill = async () => {
      while (given < documents / 2) await pause(POLL_MS, undefined, { signal });
      isKilled = true;
      await server.kill();
      print('killed');
      server = await startServerProcess(folder, ceiling);
      isKilled = false;
    };

    const bystanderRun = failing(runBystander());
    await Promise.all([...Array.from({ length: CHATS }, () => failing(attack())), failing(kill())]);
    const tookMs = performance.now() - began;
    isOver = true;
    await Promise.all([bystanderRun, watching]);
    const sorted = (times: number[]) => times.sort((a, b) => a - b);
    return {
      documents,
      sizes: [smallest, largest],
      outcomes,
      bystander: { lake: sorted(bystander.lake), chat: sorted(bystander.chat) },
      crashes,
      kernelKills: ceiling.kills(),
      peakMemory: ceiling.peak(),
      tookMs,
    };
  } catch (error) {
    const waits = [...underWay].map(([request, answer]) => `${request}: ${answer}`);
    throw new Error(`the run was aborted; last answers:\n${waits.join('\n')}`, {
      cause: signal.reason ?? error,
    });
  } finally {
    isOver = true;
    isKilled = true;
    failure.abort();
    await server.kill();
    // Reader processes end shortly after their server.
    await pause(PAUSE_MS);
    ceiling.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

async function makeLake(client: HostileClient, name: string): Promise<string> {
  return (await client.call<{ id: string }>('POST', '/api/v1/data-lakes', { name })).body.id;
}

/** @returns the final status of the file. */
async function addToLake(client: HostileClient, lakeId: string, fileId: string): Promise<string> {
  const path = `/api/v1/data-lakes/${lakeId}/files/${fileId}`;
  await client.call('POST', path, {});
  for (;;) {
    const { body } = await client.call<{ ingestion_status: string }>('GET', path);
    if (!['indexing', 'not_ingested'].includes(body.ingestion_status)) return body.ingestion_status;
    await pause(client.pollMs);
  }
}

interface QuestView {
  readonly status: string;
  readonly attachmentDelivery?: { readonly delivered: number };
}

/** @returns whether the model received the file. */
async function chatWith(client: HostileClient, fileId: string): Promise<string> {
  const { status, body } = await client.call<{ id: string }>('POST', '/api/chat', {
    message: 'Look',
    fileIds: [fileId],
  });
  if (status >= 400) return `refused with ${status}`;
  for (;;) {
    const { body: quest } = await client.call<QuestView>('GET', `/api/v1/quests/${body.id}`);
    const { attachmentDelivery } = quest;
    if (attachmentDelivery !== undefined) return attachmentDelivery.delivered === 1 ? 'read' : 'left out';
    if (ENDED.includes(quest.status)) return quest.status;
    await pause(client.pollMs);
  }
}
