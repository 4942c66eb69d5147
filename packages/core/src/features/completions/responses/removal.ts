import type { RemovalCheck, RetentionRule } from '../../../operations/retention.ts';
import { createTimedRetention } from '../../../operations/timed-retention.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Store } from '../../../ports/store.ts';
import type { QuestEvents } from '../../../runs/quest-events.ts';
import { QUESTS } from '../../../runs/records.ts';
import { stopQuest } from '../../../runs/transitions.ts';
import { giveStorageBack } from '../../storage/usage.ts';
import { RESPONSES, type ResponseRecord } from './records.ts';

const DELETED = 'The response was deleted.';
/** Days without a setting, as at the vendor. */
const DEFAULT_DAYS = 30;

export interface RemovalServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly eventLog: EventLog;
  readonly questEvents: QuestEvents;
}

/** Deletes a response, and stops its work. @param isInUse keeps it. @returns false if it was deleted concurrently or is in use. */
export async function removeResponse(
  { store, clock, eventLog, questEvents }: RemovalServices,
  { id, ownerId }: Pick<ResponseRecord, 'id' | 'ownerId'>,
  isInUse?: RemovalCheck['isInUse'],
): Promise<boolean> {
  const isDeleted = await store.transaction(async (inner) => {
    if (isInUse !== undefined && (await isInUse(inner))) return false;
    const taken = await inner.collection(RESPONSES).take(id, { ownerId });
    if (taken !== undefined) {
      await giveStorageBack(inner, { ownerId, kind: 'sessions', bytes: taken.bytes });
    }
    return taken !== undefined;
  });
  if (!isDeleted) return false;
  const quests = store.collection(QUESTS);
  if ((await stopQuest(quests, id, DELETED, clock.now())) !== undefined) questEvents.stopped(id);
  await quests.take(id);
  // The next sweep deletes the events.
  await eventLog.compact(id, 0);
  return true;
}

export function responseRetention(services: RemovalServices): RetentionRule {
  const responses = services.store.collection(RESPONSES);
  const remove = async (id: string, { before, isInUse }: RemovalCheck): Promise<boolean> => {
    const response = await responses.get(id, { createdAt: { lt: before } });
    return response !== undefined && removeResponse(services, response, isInUse);
  };
  return {
    kind: 'responses',
    defaultDays: DEFAULT_DAYS,
    ...createTimedRetention(services.store, { collection: responses, time: 'createdAt', remove }),
  };
}
