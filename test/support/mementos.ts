import { MEMENTOS, type MementoRecord } from '@questline/core/internal';
import type { TestApp } from './test-app.ts';

/** Stores a memento of the app's user. */
export async function addMemento(
  { services, user }: TestApp,
  input: Partial<MementoRecord> & Pick<MementoRecord, 'id' | 'text'>,
): Promise<MementoRecord> {
  const now = services.clock.now();
  const memento: MementoRecord = {
    ownerId: user.id,
    fingerprint: input.text,
    isStanding: false,
    sessionId: '5'.repeat(24),
    createdAt: now,
    updatedAt: now,
    ...input,
  };
  await services.store.collection(MEMENTOS).insert(memento);
  return memento;
}
