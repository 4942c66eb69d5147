import { USERS } from '../../identity/records.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import { removeAll } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { SHARING_INVITES } from './records.ts';

export function personalInvites({ store }: { readonly store: Store }): PersonalData {
  const invites = store.collection(SHARING_INVITES);
  return {
    // Invites to what the user owned are among those that the user sent.
    async eraseTraces(userId) {
      const email = (await store.collection(USERS).get(userId))?.email ?? '';
      const named = { anyOf: [{ invitedBy: userId }, { acceptedBy: userId }, { email }] };
      await removeAll(invites, named);
    },
  };
}
