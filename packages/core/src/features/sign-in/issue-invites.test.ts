import { createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { createSecretBox } from '../../models/secret-box.ts';
import type { Store } from '../../ports/store.ts';
import { codeOfInvite } from './invite-codes.ts';
import { REGISTRATION_INVITES } from './invite-records.ts';
import { issueRegistrationInvites } from './issue-invites.ts';

const ids = createFakeIds();
const BOX = createSecretBox(new Uint8Array(32).fill(7), ids);

async function issue(store: Store, count: number, unlimitedUse: boolean) {
  const services = { store: delayed(store), ids, clock: { now: () => 50 } as never, secretBox: BOX };
  const input = { count, unlimitedUse, startingCredits: 3, createdBy: 'root' };
  return issueRegistrationInvites(services, input);
}

it('stores the number of invites that was asked for, each with a code of 20 characters', async () => {
  const store = createMemoryStore();
  const issued = await issue(store, 3, false);
  expect(new Set(issued.map(({ code }) => code)).size).toBe(3);
  for (const { record, code } of issued) {
    expect([code.length, codeOfInvite(record, BOX)]).toEqual([20, code]);
    expect(record).toMatchObject({
      ...{ usesLeft: 1, startingCredits: 3_000_000, createdBy: 'root', createdAt: 50 },
    });
  }
  const stored = await store.collection(REGISTRATION_INVITES).find({});
  expect(stored).toEqual(issued.map(({ record }) => record).sort((a, b) => (a.id < b.id ? -1 : 1)));
});

it('limits no uses of an unlimited one', async () => {
  const [issued] = await issue(createMemoryStore(), 1, true);
  expect(issued?.record.usesLeft).toBeNull();
});
