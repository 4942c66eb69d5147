import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import { measureRecord, type StorageQuotas, takeStorage } from '../storage/usage.ts';
import { MESSAGES, type MessageRecord, type SessionRecord } from './records.ts';

const PAGE = 500;

/** Copies the messages in order. @throws ApiError 422 beyond the quota; the messages copied so far remain. */
export async function copyMessages(
  services: { readonly store: Store; readonly ids: Ids; readonly storageQuotas: StorageQuotas },
  from: SessionRecord,
  to: SessionRecord,
): Promise<void> {
  const messages = services.store.collection(MESSAGES);
  let after: { value: number; id: string } | undefined;
  let copied = 0;
  for (;;) {
    const page = await messages.find(
      { sessionId: from.id, ownerId: from.ownerId },
      {
        order: { field: 'createdAt', direction: 'asc' },
        limit: PAGE,
        ...(after !== undefined && { after }),
      },
    );
    const copies = page.map(
      ({ role, content, createdAt }, at): MessageRecord => ({
        id: services.ids.next(),
        sessionId: to.id,
        ownerId: to.ownerId,
        role,
        content,
        bytes: measureRecord(content),
        number: copied + at + 1,
        createdAt,
      }),
    );
    const bytes = copies.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
    await services.store.transaction(async (inner) => {
      if (bytes > 0) {
        await takeStorage(inner, { ownerId: to.ownerId, kind: 'sessions', bytes }, services.storageQuotas);
      }
      for (const copy of copies) await inner.collection(MESSAGES).insert(copy);
    });
    copied += copies.length;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { value: last.createdAt, id: last.id };
  }
}
