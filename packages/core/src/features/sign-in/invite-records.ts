import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** Permits registration while registration is closed. Its code is never stored in clear text: the store alone grants no access. */
export interface RegistrationInviteRecord extends StoredRecord {
  /** SHA-256 of the code, hexadecimal. Absent while the code is in clear text. */
  readonly codeHash?: string | undefined;
  /** The code, encrypted for this record, for display. Absent without an encryption key. */
  readonly sealedCode?: string | undefined;
  /** In clear text, from an earlier version, until `hideClearCodes` has run. */
  readonly code?: string | undefined;
  /** Remaining uses. `null`: unlimited. */
  readonly usesLeft: number | null;
  /** Micro-credits for an account that registers with it. */
  readonly startingCredits: number;
  readonly createdBy: string;
  readonly createdAt: number;
}

export const REGISTRATION_INVITES = defineCollection<RegistrationInviteRecord>({
  name: 'registration_invites',
  secretFields: { codeHash: true, sealedCode: true, code: true },
  columns: { code: 'text', codeHash: 'text', usesLeft: 'integer', createdAt: 'integer' },
  unique: [['code'], ['codeHash']],
  indexes: [['createdAt']],
});
