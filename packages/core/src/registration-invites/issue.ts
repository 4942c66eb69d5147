import { fromCredits } from '../credits/amounts.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
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

/** Makes invites, all of them or none. */
export async function issueRegistrationInvites(
  services: { readonly store: Store; readonly clock: Clock; readonly ids: Ids },
  { count, unlimitedUse, startingCredits, createdBy }: NewRegistrationInvites,
): Promise<readonly RegistrationInviteRecord[]> {
  const { store, clock, ids } = services;
  const invites = Array.from({ length: count }, (): RegistrationInviteRecord => {
    return {
      id: ids.next(),
      code: ids.secret(CODE_LENGTH),
      usesLeft: unlimitedUse ? null : 1,
      startingCredits: fromCredits(startingCredits),
      createdBy,
      createdAt: clock.now(),
    };
  });
  await store.transaction(async (inner) => {
    for (const invite of invites) await inner.collection(REGISTRATION_INVITES).insert(invite);
  });
  return invites;
}
