import { fromCredits } from '../credits/amounts.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { SecretBox } from '../provider-keys/secret-box.ts';
import { keptOf } from './codes.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './records.ts';

const CODE_LENGTH = 20;

export interface NewRegistrationInvites {
  readonly count: number;
  /** Each for any number of accounts, in place of one. */
  readonly unlimitedUse: boolean;
  /** Credits for who registers with it. */
  readonly startingCredits: number;
  readonly createdBy: string;
}

/** An invite as its maker sees it: without a key to encrypt with, the code is not shown again. */
export interface IssuedRegistrationInvite {
  readonly record: RegistrationInviteRecord;
  readonly code: string;
}

/** Makes invites, all of them or none. */
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
      ...keptOf(code, id, secretBox),
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
