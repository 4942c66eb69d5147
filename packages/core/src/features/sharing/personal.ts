import { USERS } from '../../identity/records.ts';
import { findAll, type PersonalData } from '../../operations/personal-data.ts';
import type { Store } from '../../ports/store.ts';
import { SHARING_INVITES } from './records.ts';

export function personalInvites({ store }: { readonly store: Store }): PersonalData {
  const invites = store.collection(SHARING_INVITES);
  return {
    async erased({ columns }, resourceId) {
      if (!('readerIds' in columns)) return;
      for await (const { id } of findAll(store, SHARING_INVITES, { resourceId })) await invites.take(id);
    },
    async eraseTraces(userId) {
      const email = (await store.collection(USERS).get(userId))?.email ?? '';
      const named = { anyOf: [{ invitedBy: userId }, { acceptedBy: userId }, { email }] };
      for await (const { id } of findAll(store, SHARING_INVITES, named)) await invites.take(id);
    },
  };
}
