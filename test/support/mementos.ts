import { MEMENTOS, type MementoRecord } from '@questline/core';
import type { World } from './world.ts';

/** Writes something down that is remembered of the world's user. */
export async function addMemento(
  { services, user }: World,
  wish: Partial<MementoRecord> & Pick<MementoRecord, 'id' | 'text'>,
): Promise<MementoRecord> {
  const now = services.clock.now();
  const memento: MementoRecord = {
    ownerId: user.id,
    fingerprint: wish.text,
    isStanding: false,
    sessionId: '5'.repeat(24),
    createdAt: now,
    updatedAt: now,
    ...wish,
  };
  await services.store.collection(MEMENTOS).insert(memento);
  return memento;
}
