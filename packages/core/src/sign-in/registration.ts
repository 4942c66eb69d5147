import { fromCredits } from '../credits/amounts.ts';
import { USERS, type UserRecord } from '../identity/records.ts';
import { createUser } from '../identity/users.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import { inviteWithCode } from '../registration-invites/codes.ts';
import { REGISTRATION_INVITES } from '../registration-invites/records.ts';
import type { Switches } from '../settings/admin.ts';

/** The one row that says who came first. */
export interface FounderRecord extends StoredRecord {
  readonly userId: string;
}

export const FOUNDERS = defineCollection<FounderRecord>({
  name: 'founders',
  columns: {},
  unique: [],
  indexes: [],
});

const THE_FIRST = 'first-account';

export interface Wish {
  readonly email: string;
  readonly username: string;
  readonly inviteCode?: string | undefined;
}

/**
 * Makes the account of somebody whose e-mail address is proven. The first one of an empty store administers it; any other
 * needs open registration or an invite with a use left, which is spent with it in one transaction.
 * @returns undefined when registration is closed to them, `taken` when the address got its account meanwhile.
 */
export async function register(
  services: { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly switches: Switches },
  { email, username, inviteCode }: Wish,
): Promise<UserRecord | 'taken' | undefined> {
  const { store, clock, ids } = services;
  const { allowOpenRegistration, defaultFreeCredits } = await services.switches.current();
  const id = ids.next();
  return store.transaction(async (inner) => {
    const isFirst =
      (await inner.collection(USERS).find({}, { limit: 1 })).length === 0 &&
      (await inner.collection(FOUNDERS).insert({ id: THE_FIRST, userId: id }));
    if ((await inner.collection(USERS).count({ email })) > 0) return 'taken';
    const invited = isFirst ? undefined : await spendInvite(inner, inviteCode);
    if (!isFirst && !allowOpenRegistration && invited === undefined) return undefined;
    const user = await createUser(
      { store: inner, clock, ids },
      {
        id,
        email,
        username,
        isAdmin: isFirst,
        startingCredits: fromCredits(defaultFreeCredits) + (invited ?? 0),
      },
    );
    // Nothing of this may stay without its account.
    if (user === undefined) throw new Error('the account could not be written');
    return user;
  });
}

/** @returns the micro-credits it brings; undefined when it is unknown or spent. */
async function spendInvite(store: Store, code: string | undefined): Promise<number | undefined> {
  if (code === undefined) return undefined;
  const invites = store.collection(REGISTRATION_INVITES);
  const [invite] = await invites.find(inviteWithCode(code), { limit: 1 });
  if (invite === undefined || invite.usesLeft === null) return invite?.startingCredits;
  const spent = await invites.add(invite.id, { usesLeft: -1 }, { usesLeft: { gt: 0 } });
  return spent?.startingCredits;
}
