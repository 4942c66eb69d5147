import { conflict } from '../errors.ts';
import type { Store } from '../ports/store.ts';
import { QUESTS } from '../quests/records.ts';
import { hasEnded } from '../quests/transitions.ts';
import { EXECUTION_PLACES } from './records.ts';

/**
 * Gives a run one of its user's places. A place is free when its run has ended or is gone; nobody has to give it back.
 * Of any number of callers at once no more get one than there are: each takes over with one guarded step.
 * @param store of the transaction that writes the run.
 * @throws ApiError 409 when all are taken.
 */
export async function takePlace(
  store: Store,
  userId: string,
  executionId: string,
  most: number,
): Promise<void> {
  const places = store.collection(EXECUTION_PLACES);
  const quests = store.collection(QUESTS);
  for (let number = 0; number < most; number += 1) {
    const id = `${userId}:${number}`;
    const place = await places.get(id);
    if (place === undefined) {
      if (await places.insert({ id, executionId })) return;
      continue;
    }
    const holder = await quests.get(place.executionId);
    if (holder !== undefined && !hasEnded(holder)) continue;
    const isOurs = await places.update(id, { executionId }, { executionId: place.executionId });
    if (isOurs !== undefined) return;
  }
  throw conflict(`${most} runs of yours are under way; wait until one has ended`);
}
