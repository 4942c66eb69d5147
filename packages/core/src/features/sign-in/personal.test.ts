import { expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { SERVICE_ACTOR } from '../../operations/audit.ts';
import type { PersonalRecord } from '../../operations/personal-data.ts';
import { registrationInviteAudit } from './audit.ts';
import { EXTERNAL_IDS } from './external-ids.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './invite-records.ts';
import { personalSignIn } from './personal.ts';
import { FIRST_ADMIN } from './registration.ts';

const toInvite = (id: string, createdBy: string): RegistrationInviteRecord => ({
  ...{ id, codeHash: id, usesLeft: 3, startingCredits: 5, createdBy, createdAt: 1 },
});

async function setUp() {
  const store = createMemoryStore();
  const invites = store.collection(REGISTRATION_INVITES);
  await invites.insert(toInvite('a', 'ada'));
  await invites.insert(toInvite('b', 'bob'));
  await store.collection(FIRST_ADMIN).insert({ id: 'first-account', userId: 'ada' });
  return { store, invites, personal: personalSignIn({ store }) };
}

it('exports the invites of a user, and keeps the id of the host', async () => {
  const { personal } = await setUp();
  const found: PersonalRecord[] = [];
  for await (const one of personal.findKept?.('ada') ?? []) found.push(one);
  expect(found).toEqual([{ shape: REGISTRATION_INVITES, record: toInvite('a', 'ada') }]);
  expect(personal.kept).toEqual([EXTERNAL_IDS]);
});

it('removes a deleted user from its invites, which stay valid, and from no others', async () => {
  const { store, invites, personal } = await setUp();
  await personal.eraseTraces?.('ada', new Set());
  expect(await invites.find({})).toEqual([toInvite('a', ''), toInvite('b', 'bob')]);
  expect(await store.collection(FIRST_ADMIN).find({})).toEqual([{ id: 'first-account', userId: '' }]);
});

it('remembers the first administrator when another user is deleted', async () => {
  const { store, personal } = await setUp();
  await personal.eraseTraces?.('bob', new Set());
  expect(await store.collection(FIRST_ADMIN).find({})).toEqual([{ id: 'first-account', userId: 'ada' }]);
});

it('records who created or deleted which invite', () => {
  const invite = toInvite('a', 'ada');
  const target = { target: { type: 'registration_invite', id: 'a' }, targetOwner: 'ada' };
  expect(registrationInviteAudit.toEntries({ after: invite }, SERVICE_ACTOR)).toEqual([
    {
      ...target,
      action: 'registration_invite.created',
      changes: [
        { field: 'usesLeft', after: 3 },
        { field: 'startingCredits', after: 5 },
      ],
    },
  ]);
  expect(registrationInviteAudit.toEntries({ before: invite }, SERVICE_ACTOR)).toEqual([
    {
      ...target,
      action: 'registration_invite.deleted',
      changes: [
        { field: 'usesLeft', before: 3 },
        { field: 'startingCredits', before: 5 },
      ],
    },
  ]);
});
