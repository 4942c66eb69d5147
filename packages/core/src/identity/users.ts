import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { USERS, type UserRecord } from './records.ts';

/** An account to create. Only `email` and `username` are required. */
export interface NewUser {
  /** Unique. Stored without surrounding spaces and in lower case. */
  readonly email: string;
  /** For display. */
  readonly username: string;
  readonly firstName?: string | null;
  readonly lastName?: string | null;
  readonly isAdmin?: boolean;
  readonly tier?: UserRecord['tier'];
  /** Micro-credits granted at the first sign-in. */
  readonly startingCredits?: number;
  /**
   * 24 lower-case hexadecimal characters. Default: a new id. A host with its own accounts can choose the id to link
   * both.
   */
  readonly id?: string;
}

/**
 * Creates a user account.
 * @returns undefined if the e-mail address or the id is taken.
 * @throws RangeError for an id in another format.
 * @example
 * const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
 * if (user === undefined) throw new Error('The e-mail address is taken.');
 */
export async function createUser(
  services: { readonly store: Store; readonly clock: Clock; readonly ids: Ids },
  input: NewUser,
): Promise<UserRecord | undefined> {
  if (input.id !== undefined && !/^[0-9a-f]{24}$/.test(input.id)) {
    throw new RangeError(
      `id: expected 24 lower-case hexadecimal characters, got ${JSON.stringify(input.id)}. ` +
        'Map the ids of other accounts, for example with a hash.',
    );
  }
  const user: UserRecord = {
    id: input.id ?? services.ids.next(),
    email: input.email.trim().toLowerCase(),
    username: input.username,
    firstName: input.firstName ?? null,
    lastName: input.lastName ?? null,
    organizationId: null,
    isAdmin: input.isAdmin ?? false,
    disabled: false,
    tokenVersion: 0,
    tier: input.tier ?? 'free',
    preferences: {},
    ...(input.startingCredits !== undefined && { startingCredits: input.startingCredits }),
    createdAt: services.clock.now(),
  };
  return (await services.store.collection(USERS).insert(user)) ? user : undefined;
}
