import type { Store } from '../../ports/store.ts';
import { type StoreWrite, writesTo } from '../../ports/write-all.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { hasEnded } from '../../runs/states.ts';
import { conflict } from '../../shared/errors.ts';
import { EXECUTION_SLOTS, type ExecutionSlotRecord } from './records.ts';

/** Duration in milliseconds for which `reserveSlot` keeps a slot without its run. */
const RESERVED_MS = 60_000;

/** A run that needs one of the user's slots. */
export interface SlotRequest {
  readonly userId: string;
  readonly executionId: string;
  /** The number of slots. */
  readonly most: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Acquires one of the user's run slots. A slot is free when its run has ended or is gone; no release is necessary.
 * Of any number of concurrent callers, at most as many succeed as slots exist: each takeover is one guarded step.
 * @param store the transaction that inserts the run.
 * @throws ApiError 409 when all slots are in use.
 */
export function acquireSlot(store: Store, request: SlotRequest): Promise<void> {
  return takeSlot(store, request, undefined);
}

/**
 * `acquireSlot` before the step that inserts the run, which may be in another database than the user's slots. Without the
 * run, the slot is free again after a minute.
 */
export function reserveSlot(store: Store, request: SlotRequest): Promise<void> {
  return takeSlot(store, request, request.now + RESERVED_MS);
}

async function takeSlot(
  store: Store,
  { userId, executionId, most, now }: SlotRequest,
  heldUntil: number | undefined,
): Promise<void> {
  const slots = store.collection(EXECUTION_SLOTS);
  const quests = store.collection(QUESTS);
  for (let number = 0; number < most; number += 1) {
    const id = `${userId}:${number}`;
    const place = await slots.get(id);
    if (place === undefined) {
      if (await slots.insert({ id, executionId, ...(heldUntil !== undefined && { heldUntil }) })) return;
      continue;
    }
    if (isInUse(place, await quests.get(place.executionId), now)) continue;
    const isOurs = await slots.update(id, { executionId, heldUntil }, { executionId: place.executionId });
    if (isOurs !== undefined) return;
  }
  throw conflict(`You have the maximum of ${most} active runs; wait until one has ended`);
}

function isInUse(
  { heldUntil = 0 }: ExecutionSlotRecord,
  holder: QuestRecord | undefined,
  now: number,
): boolean {
  return holder === undefined ? heldUntil > now : !hasEnded(holder);
}

/**
 * Finds a free slot. @returns the writes that acquire it, which have no effect if another run does so first; undefined if
 * all slots are in use.
 */
export async function findSlot(
  store: Store,
  { userId, executionId, most, now }: SlotRequest,
): Promise<readonly StoreWrite[] | undefined> {
  const ids = Array.from({ length: most }, (_, number) => `${userId}:${number}`);
  const places = await store.collection(EXECUTION_SLOTS).find({ id: { in: ids } }, { limit: most });
  const toSlots = writesTo(EXECUTION_SLOTS);
  const unused = ids.find((id) => !places.some((place) => place.id === id));
  if (unused !== undefined) return [toSlots.insert({ id: unused, executionId })];
  const holders = await store
    .collection(QUESTS)
    .find({ id: { in: places.map((place) => place.executionId) } }, { limit: most });
  const free = places.find((place) => {
    const holder = holders.find(({ id }) => id === place.executionId);
    return !isInUse(place, holder, now);
  });
  // A run that has ended does not begin again.
  const change = { executionId, heldUntil: undefined };
  return free && [toSlots.update(free.id, change, { executionId: free.executionId })];
}
