import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@questline/testing';
import { must } from './client.ts';
import type { Regular, Workload } from './workload.ts';

/** One client's sequence of requests. */
export interface Scenario {
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  /** @returns the outcome, in one word. Rejects on an unexpected outcome. */
  run(workload: Workload, person: Regular, random: Random): Promise<string>;
}

const MAX_MS = 60_000;

/** Polls until the work is done. @throws after a timeout. */
export async function until<T>(look: () => Promise<T | undefined>, everyMs = 250): Promise<T> {
  for (const ends = Date.now() + MAX_MS; Date.now() < ends; ) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(everyMs);
  }
  throw new Error(`did not end within ${MAX_MS} ms`);
}

export async function endOfQuest({ client }: Workload, { key }: Regular, id: string): Promise<string> {
  return until(async () => {
    const request = { credential: key };
    const quest = must(
      await client.ask<{ status: string; type: string }>('GET', `/api/v1/quests/${id}`, request),
    );
    if (quest.status === 'stopped') return 'stopped';
    if (quest.status !== 'done') return undefined;
    if (quest.type === 'error') throw new Error('the quest failed');
    return 'done';
  });
}

/** A session with all kinds of content. */
export const forget = async ({ client }: Workload, { key }: Regular, sessionId: string): Promise<void> => {
  must(await client.ask('DELETE', `/api/sessions/${sessionId}`, { credential: key }));
};

export async function newSession({ client }: Workload, { key }: Regular): Promise<string> {
  const request = { credential: key, body: { name: 'For a while' } };
  return must(await client.ask<{ id: string }>('POST', '/api/v1/sessions', request)).id;
}
