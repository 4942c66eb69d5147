import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** Lets somebody register while registration is closed. Its code is nowhere in clear: whoever reads the store has none. */
export interface RegistrationInviteRecord extends StoredRecord {
  /** SHA-256 of the code, hexadecimal. Absent while the code stands in clear. */
  readonly codeHash?: string | undefined;
  /** The code, encrypted for this record: to be shown again. Absent where there is no key to encrypt with. */
  readonly sealedCode?: string | undefined;
  /** In clear, as an earlier version kept it, until `hideClearCodes` has been there. */
  readonly code?: string | undefined;
  /** `null`: any number. */
  readonly usesLeft: number | null;
  /** Micro-credits for who registers with it. */
  readonly startingCredits: number;
  readonly createdBy: string;
  readonly createdAt: number;
}

export const REGISTRATION_INVITES = defineCollection<RegistrationInviteRecord>({
  name: 'registration_invites',
  columns: { code: 'text', codeHash: 'text', usesLeft: 'integer', createdAt: 'integer' },
  unique: [['code'], ['codeHash']],
  indexes: [['createdAt']],
});
