import type { Ids } from '../../ports/ids.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import type { NewMemento } from './extract.ts';
import { MAX_MEMENTOS, MEMENTOS, type MementoRecord } from './records.ts';
import { likeness, splitWords } from './words.ts';

/** Similarity from which two mementos count as the same. */
const SAME = 0.8;

/**
 * Stores new mementos and updates repeated ones; beyond the maximum, deletes the least recently mentioned. Safe to repeat
 * when its transaction is retried.
 */
export async function keepMementos(
  services: { readonly ids: Ids },
  store: Store,
  about: { readonly ownerId: string; readonly sessionId: string; readonly now: number },
  found: readonly NewMemento[],
): Promise<void> {
  if (found.length === 0) return;
  const { ownerId, sessionId, now } = about;
  const mementos = store.collection(MEMENTOS);
  const known = [...(await mementos.find({ ownerId }, { order: { field: 'updatedAt', direction: 'desc' } }))];
  for (const { text, isStanding } of found) {
    const words = splitWords(text);
    const fingerprint = [...words].sort().join(' ');
    if (fingerprint === '') continue;
    const place = known.findIndex((one) => likeness(words, splitWords(one.text)) >= SAME);
    const same = known[place];
    // The latest wording replaces the older one.
    if (same !== undefined && (await mementos.take(same.id, { ownerId })) !== undefined)
      known.splice(place, 1);
    const memento: MementoRecord = {
      id: same?.id ?? services.ids.next(),
      ownerId,
      text,
      fingerprint,
      isStanding: isStanding || same?.isStanding === true,
      sessionId,
      createdAt: same?.createdAt ?? now,
      updatedAt: now,
    };
    // A concurrent turn of the same user was faster.
    if (await mementos.insert(memento)) known.unshift(memento);
  }
  if (known.length <= MAX_MEMENTOS) return;
  const stale = await mementos.find(
    { ownerId },
    { order: { field: 'updatedAt', direction: 'asc' }, limit: known.length - MAX_MEMENTOS },
  );
  await removeWhere(mementos, { ownerId, id: { in: stale.map(({ id }) => id) } });
}
