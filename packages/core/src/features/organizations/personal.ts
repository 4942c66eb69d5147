import type { DeletionCleanup } from '../../operations/deletion.ts';
import { findAll, type PersonalData } from '../../operations/personal-data.ts';
import type { Store } from '../../ports/store.ts';
import { disband } from './deletion.ts';
import { ORGANIZATIONS } from './records.ts';
import { transferTo } from './transfer.ts';

export function personalOrganizations({
  store,
  deletion,
}: {
  readonly store: Store;
  readonly deletion: DeletionCleanup;
}): PersonalData {
  return {
    kept: [ORGANIZATIONS],
    // An organization passes to an administrator, or another member; without members it is deleted.
    async eraseTraces(userId) {
      for await (const { id } of findAll(store, ORGANIZATIONS, { ownerId: userId })) {
        const isGone = await store.transaction(async (inner) => {
          const organization = await inner.collection(ORGANIZATIONS).get(id, { ownerId: userId });
          if (organization === undefined) return false;
          const { readerIds = [], writerIds = [] } = organization;
          const heir = [...writerIds, ...readerIds].find((one) => one !== userId);
          if (heir !== undefined) {
            await transferTo(inner, organization, heir, { staysMember: false });
            return false;
          }
          await inner.collection(ORGANIZATIONS).take(id);
          await disband(inner, organization);
          return true;
        });
        if (isGone) await deletion.organization(id);
      }
    },
  };
}
