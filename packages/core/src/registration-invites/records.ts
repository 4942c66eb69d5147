import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** Lets somebody register while registration is closed. */
export interface RegistrationInviteRecord extends StoredRecord {
  readonly code: string;
  /** `null`: any number. */
  readonly usesLeft: number | null;
  /** Micro-credits for who registers with it. */
  readonly startingCredits: number;
  readonly createdBy: string;
  readonly createdAt: number;
}

export const REGISTRATION_INVITES = defineCollection<RegistrationInviteRecord>({
  name: 'registration_invites',
  columns: { code: 'text', usesLeft: 'integer', createdAt: 'integer' },
  unique: [['code']],
  indexes: [['createdAt']],
});
