import { findAll, type PersonalData } from '../../operations/personal-data.ts';
import type { Store } from '../../ports/store.ts';
import { EXTERNAL_IDS } from './external-ids.ts';
import { REGISTRATION_INVITES } from './invite-records.ts';
import { FIRST_ADMIN } from './registration.ts';

export function personalSignIn({ store }: { readonly store: Store }): PersonalData {
  const invites = store.collection(REGISTRATION_INVITES);
  return {
    // Deleted last, together with the account, so that a repeated call finds the user.
    kept: [EXTERNAL_IDS],
    async *findKept(userId) {
      for await (const invite of findAll(store, REGISTRATION_INVITES, {})) {
        if (invite.createdBy === userId) yield { shape: REGISTRATION_INVITES, record: { ...invite } };
      }
    },
    // Invites belong to the workspace: they stay valid, without their creator.
    async eraseTraces(userId) {
      for await (const { id, createdBy } of findAll(store, REGISTRATION_INVITES, {})) {
        if (createdBy === userId) await invites.update(id, { createdBy: '' });
      }
      // The row itself stays: without it the next account would become administrator.
      for await (const row of findAll(store, FIRST_ADMIN, {})) {
        if (row.userId === userId) await store.collection(FIRST_ADMIN).update(row.id, { userId: '' });
      }
    },
  };
}
