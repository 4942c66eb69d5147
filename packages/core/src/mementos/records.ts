import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** Something worth remembering of a user. Nobody else's prompts ever see it. */
export interface MementoRecord extends StoredRecord {
  readonly ownerId: string;
  /** One sentence. */
  readonly text: string;
  /** The text as it is compared: of two that agree in it only one is kept. */
  readonly fingerprint: string;
  /** How the user wants to be answered: it concerns every turn, whatever it is about. */
  readonly isStanding: boolean;
  /** Where it was said. */
  readonly sessionId: string;
  readonly createdAt: number;
  /** When it was said last. */
  readonly updatedAt: number;
}

export const MEMENTOS = defineCollection<MementoRecord>({
  name: 'mementos',
  columns: { ownerId: 'text', text: 'text', fingerprint: 'text', createdAt: 'integer', updatedAt: 'integer' },
  unique: [['ownerId', 'fingerprint']],
  indexes: [
    ['ownerId', 'createdAt'],
    ['ownerId', 'updatedAt'],
  ],
});

/** Kept of one user. Beyond it the one that was not said for the longest time goes. */
export const MOST_MEMENTOS = 200;
