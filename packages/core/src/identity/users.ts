import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { USERS, type UserRecord } from './records.ts';

export interface NewUser {
  readonly email: string;
  readonly username: string;
  readonly firstName?: string | null;
  readonly lastName?: string | null;
  readonly isAdmin?: boolean;
  readonly tier?: UserRecord['tier'];
  /** Micro-credits granted at the first sign-in. */
  readonly startingCredits?: number;
  /** Default: a new one. A host with accounts of its own keeps the two together by choosing it: 24 lower-case hexadecimal characters. */
  readonly id?: string;
}

/** @returns undefined when the e-mail address or the id already has an account. */
export async function createUser(
  services: { readonly store: Store; readonly clock: Clock; readonly ids: Ids },
  wish: NewUser,
): Promise<UserRecord | undefined> {
  const user: UserRecord = {
    id: wish.id ?? services.ids.next(),
    email: wish.email.trim().toLowerCase(),
    username: wish.username,
    firstName: wish.firstName ?? null,
    lastName: wish.lastName ?? null,
    organizationId: null,
    isAdmin: wish.isAdmin ?? false,
    disabled: false,
    tokenVersion: 0,
    tier: wish.tier ?? 'free',
    preferences: {},
    ...(wish.startingCredits !== undefined && { startingCredits: wish.startingCredits }),
    createdAt: services.clock.now(),
  };
  return (await services.store.collection(USERS).insert(user)) ? user : undefined;
}
