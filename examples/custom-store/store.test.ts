import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser, USERS } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createFakeClock, fakeTime, storeSuite } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { openJournalStore } from './store.ts';

const freshFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'journal-store-'));

storeSuite({
  name: 'a journal in a file',
  create: async () => {
    const folder = await freshFolder();
    const store = await openJournalStore(join(folder, 'journal.jsonl'));
    return {
      store,
      time: fakeTime(createFakeClock()),
      async close() {
        await store.close();
        await rm(folder, { recursive: true });
      },
    };
  },
});

describe('journal', () => {
  it('restores all complete commits after a crash', async () => {
    const folder = await freshFolder();
    const path = join(folder, 'journal.jsonl');
    const first = await openJournalStore(path);
    const services = { store: first, clock: createSystemClock(), ids: createIds() };
    const ada = await createUser(services, { email: 'ada@example.com', username: 'ada' });
    await first.close();
    await appendFile(path, '{"users":{"torn":{"id":"torn"');

    const second = await openJournalStore(path);
    expect(await second.collection(USERS).find({})).toEqual([ada]);
    await createUser({ ...services, store: second }, { email: 'bob@example.com', username: 'bob' });
    await second.close();
    const third = await openJournalStore(path);
    expect(await third.collection(USERS).count({})).toBe(2);
    await third.close();
    await rm(folder, { recursive: true });
  });
});
