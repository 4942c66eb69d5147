import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** A fact about a user. It never appears in another user's prompts. */
export interface MementoRecord extends StoredRecord {
  readonly ownerId: string;
  /** One sentence. */
  readonly text: string;
  /** The text in normalized form: of two mementos with the same form, one is kept. */
  readonly fingerprint: string;
  /** How the user wants to be answered: part of every turn, on any topic. */
  readonly isStanding: boolean;
  /** The session that mentioned it. */
  readonly sessionId: string;
  readonly createdAt: number;
  /** Time of the last mention. */
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

/** Maximum mementos per user. Beyond it the least recently mentioned is deleted. */
export const MAX_MEMENTOS = 200;
