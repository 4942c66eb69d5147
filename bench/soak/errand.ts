import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@questline/testing';
import { must } from './client.ts';
import type { Regular, Town } from './people.ts';

/** What one client goes through, from its first request to the end of what it asked for. */
export interface Errand {
  readonly name: string;
  /** Of all the errands' weights together. */
  readonly weight: number;
  /** @returns how it ended, in a word. Rejects when it went otherwise than it may. */
  run(town: Town, person: Regular, random: Random): Promise<string>;
}

const LONGEST_MS = 60_000;

/** Asks again and again until it is done. @throws when that takes too long. */
export async function until<T>(look: () => Promise<T | undefined>, everyMs = 250): Promise<T> {
  for (const ends = Date.now() + LONGEST_MS; Date.now() < ends; ) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(everyMs);
  }
  throw new Error(`did not end within ${LONGEST_MS} ms`);
}

export async function endOfQuest({ client }: Town, { key }: Regular, id: string): Promise<string> {
  return until(async () => {
    const wish = { credential: key };
    const quest = must(
      await client.ask<{ status: string; type: string }>('GET', `/api/v1/quests/${id}`, wish),
    );
    if (quest.status === 'stopped') return 'stopped';
    if (quest.status !== 'done') return undefined;
    if (quest.type === 'error') throw new Error('the quest failed');
    return 'done';
  });
}

/** A session with everything in it. */
export const forget = async ({ client }: Town, { key }: Regular, sessionId: string): Promise<void> => {
  must(await client.ask('DELETE', `/api/sessions/${sessionId}`, { credential: key }));
};

export async function newSession({ client }: Town, { key }: Regular): Promise<string> {
  const wish = { credential: key, body: { name: 'For a while' } };
  return must(await client.ask<{ id: string }>('POST', '/api/v1/sessions', wish)).id;
}
