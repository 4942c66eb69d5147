import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { NewMemento } from './extract.ts';
import { MEMENTOS, type MementoRecord, MOST_MEMENTOS } from './records.ts';
import { likeness, wordsOf } from './words.ts';

/** From here on two say the same. */
const SAME = 0.8;

/**
 * Writes down what is new and notes what was said again; beyond the bound the stalest go. May be run again by the
 * transaction it is part of.
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
    const words = wordsOf(text);
    const fingerprint = [...words].sort().join(' ');
    if (fingerprint === '') continue;
    const place = known.findIndex((one) => likeness(words, wordsOf(one.text)) >= SAME);
    const same = known[place];
    // What was said last is what holds now.
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
    // Another turn of the same user may have been quicker.
    if (await mementos.insert(memento)) known.unshift(memento);
  }
  if (known.length <= MOST_MEMENTOS) return;
  const stale = await mementos.find(
    { ownerId },
    { order: { field: 'updatedAt', direction: 'asc' }, limit: known.length - MOST_MEMENTOS },
  );
  for (const { id } of stale) await mementos.take(id, { ownerId });
}
