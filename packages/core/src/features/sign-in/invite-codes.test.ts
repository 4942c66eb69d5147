import { createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { createSecretBox } from '../../models/secret-box.ts';
import type { Store } from '../../ports/store.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { codeOfInvite, getKept, hideClearCodes, inviteWithCode } from './invite-codes.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './invite-records.ts';

const BOX = createSecretBox(new Uint8Array(32).fill(7), createFakeIds());
const toInvite = (id: string, more: Partial<RegistrationInviteRecord>): RegistrationInviteRecord => ({
  ...{ id, codeHash: hashSecret(id), usesLeft: 1, startingCredits: 0, createdBy: 'root', createdAt: 1 },
  ...more,
});

it('shows a code only with the encryption key, and only of its own invite', () => {
  const kept = getKept('CODE', 'a', BOX);
  expect(kept.codeHash).toBe(hashSecret('CODE'));
  expect(JSON.stringify(kept)).not.toContain('CODE');
  expect(codeOfInvite(toInvite('a', kept), BOX)).toBe('CODE');
  expect(codeOfInvite(toInvite('b', kept), BOX)).toBeNull();
  expect(codeOfInvite(toInvite('a', kept), undefined)).toBeNull();
  expect(getKept('CODE', 'a', undefined)).toEqual({ codeHash: hashSecret('CODE') });
  expect(codeOfInvite(toInvite('a', {}), BOX)).toBeNull();
  expect(codeOfInvite(toInvite('a', { code: 'OLD' }), BOX)).toBe('OLD');
});

it('fails when a code cannot be rewritten', async () => {
  const store = createMemoryStore();
  const invites = store.collection(REGISTRATION_INVITES);
  await invites.insert(toInvite('a', { code: 'CODE-a' }));
  let isAway = true;
  const collection = () => ({
    ...invites,
    update(...given: Parameters<typeof invites.update>) {
      if (!isAway) return invites.update(...given);
      isAway = false;
      return Promise.reject(new Error('away'));
    },
  });
  await expect(hideClearCodes({ store: { ...store, collection } as unknown as Store })).rejects.toThrow(
    'away',
  );
});

it('rewrites all codes in clear text, which stay valid', async () => {
  const store = createMemoryStore();
  const invites = store.collection(REGISTRATION_INVITES);
  for (const id of ['a', 'b']) await invites.insert(toInvite(id, { code: `CODE-${id}` }));
  await invites.insert(toInvite('c', getKept('CODE-c', 'c', BOX)));
  const find = async (code: string) => (await invites.find(inviteWithCode(code))).map(({ id }) => id);
  expect([await find('CODE-a'), await find('CODE-c'), await find('CODE-d')]).toEqual([['a'], ['c'], []]);
  await hideClearCodes({ store: delayed(store), secretBox: BOX });
  for (const id of ['a', 'b', 'c']) {
    const [invite] = await invites.find({ id });
    expect(invite?.code).toBeUndefined();
    expect([codeOfInvite(invite as RegistrationInviteRecord, BOX), await find(`CODE-${id}`)]).toEqual([
      `CODE-${id}`,
      [id],
    ]);
  }
});
