import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { MESSAGES, type SessionRecord } from './records.ts';

const PAGE = 500;

/** Copies what was said, in its order. */
export async function copyMessages(
  services: { readonly store: Store; readonly ids: Ids },
  from: SessionRecord,
  to: SessionRecord,
): Promise<void> {
  const messages = services.store.collection(MESSAGES);
  let after: { value: number; id: string } | undefined;
  for (;;) {
    const page = await messages.find(
      { sessionId: from.id, ownerId: from.ownerId },
      {
        order: { field: 'createdAt', direction: 'asc' },
        limit: PAGE,
        ...(after !== undefined && { after }),
      },
    );
    for (const { role, content, createdAt } of page) {
      await messages.insert({
        id: services.ids.next(),
        sessionId: to.id,
        ownerId: to.ownerId,
        role,
        content,
        createdAt,
      });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { value: last.createdAt, id: last.id };
  }
}
