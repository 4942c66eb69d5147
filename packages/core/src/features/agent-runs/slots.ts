import type { Store } from '../../ports/store.ts';
import { type StoreWrite, writesTo } from '../../ports/write-all.ts';
import { QUESTS } from '../../runs/records.ts';
import { hasEnded } from '../../runs/transitions.ts';
import { conflict } from '../../shared/errors.ts';
import { EXECUTION_SLOTS } from './records.ts';

/**
 * Acquires one of the user's run slots. A slot is free when its run has ended or is gone; no release is necessary.
 * Of any number of concurrent callers, at most as many succeed as slots exist: each takeover is one guarded step.
 * @param store the transaction that inserts the run.
 * @throws ApiError 409 when all slots are in use.
 */
export async function acquireSlot(
  store: Store,
  userId: string,
  executionId: string,
  most: number,
): Promise<void> {
  const slots = store.collection(EXECUTION_SLOTS);
  const quests = store.collection(QUESTS);
  for (let number = 0; number < most; number += 1) {
    const id = `${userId}:${number}`;
    const place = await slots.get(id);
    if (place === undefined) {
      if (await slots.insert({ id, executionId })) return;
      continue;
    }
    const holder = await quests.get(place.executionId);
    if (holder !== undefined && !hasEnded(holder)) continue;
    const isOurs = await slots.update(id, { executionId }, { executionId: place.executionId });
    if (isOurs !== undefined) return;
  }
  throw conflict(`You have the maximum of ${most} active runs; wait until one has ended`);
}

/**
 * Finds a free slot. @returns the writes that acquire it, which have no effect if another run does so first; undefined if
 * all slots are in use.
 */
export async function findSlot(
  store: Store,
  userId: string,
  executionId: string,
  most: number,
): Promise<readonly StoreWrite[] | undefined> {
  const ids = Array.from({ length: most }, (_, number) => `${userId}:${number}`);
  const places = await store.collection(EXECUTION_SLOTS).find({ id: { in: ids } }, { limit: most });
  const toSlots = writesTo(EXECUTION_SLOTS);
  const unused = ids.find((id) => !places.some((place) => place.id === id));
  if (unused !== undefined) return [toSlots.insert({ id: unused, executionId })];
  const holders = await store
    .collection(QUESTS)
    .find({ id: { in: places.map((place) => place.executionId) } }, { limit: most });
  const free = places.find(
    (place) => !holders.some((holder) => holder.id === place.executionId && !hasEnded(holder)),
  );
  // A run that has ended does not begin again.
  return free && [toSlots.update(free.id, { executionId }, { executionId: free.executionId })];
}
