import { fromCredits } from '../../credits/amounts.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import { getKept } from './invite-codes.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './invite-records.ts';

const CODE_LENGTH = 20;

export interface NewRegistrationInvites {
  readonly count: number;
  /** Each is valid for any number of accounts, instead of one. */
  readonly unlimitedUse: boolean;
  /** Credits for an account that registers with it. */
  readonly startingCredits: number;
  readonly createdBy: string;
}

/** An invite in the response: without an encryption key, the code is not shown again. */
export interface IssuedRegistrationInvite {
  readonly record: RegistrationInviteRecord;
  readonly code: string;
}

/** Creates all invites or none. */
export async function issueRegistrationInvites(
  services: {
    readonly store: Store;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly secretBox?: SecretBox;
  },
  { count, unlimitedUse, startingCredits, createdBy }: NewRegistrationInvites,
): Promise<readonly IssuedRegistrationInvite[]> {
  const { store, clock, ids, secretBox } = services;
  const issued = Array.from({ length: count }, (): IssuedRegistrationInvite => {
    const id = ids.next();
    const code = ids.secret(CODE_LENGTH);
    const record = {
      id,
      ...getKept(code, id, secretBox),
      usesLeft: unlimitedUse ? null : 1,
      startingCredits: fromCredits(startingCredits),
      createdBy,
      createdAt: clock.now(),
    };
    return { record, code };
  });
  await store.transaction(async (inner) => {
    for (const { record } of issued) await inner.collection(REGISTRATION_INVITES).insert(record);
  });
  return issued;
}
