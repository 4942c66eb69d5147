import { fromCredits } from '../../credits/amounts.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import { createUser } from '../../identity/users.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import { defineCollection, type Store, type StoredRecord } from '../../ports/store.ts';
import { inviteWithCode } from './invite-codes.ts';
import { REGISTRATION_INVITES } from './invite-records.ts';
import { isEqual } from './pending-tokens.ts';

/** The row that identifies the first admin. */
export interface FounderRecord extends StoredRecord {
  readonly userId: string;
}

export const FIRST_ADMIN = defineCollection<FounderRecord>({
  name: 'founders',
  columns: {},
  unique: [],
  indexes: [],
});

const FIRST_ADMIN_ID = 'first-account';

export interface RegistrationInput {
  readonly email: string;
  readonly username: string;
  readonly inviteCode?: string | undefined;
}

/**
 * Creates the account of a verified e-mail address. The first one of an empty store becomes administrator, and needs the
 * setup code, if one is configured, in place of the invite; every other one
 * needs open registration or an invite with a remaining use, which the same transaction consumes.
 * @returns undefined when registration is closed, `taken` when the address has got an account concurrently.
 */
export async function register(
  services: {
    readonly store: Store;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly adminSettings: AdminSettingsReader;
    readonly setupCode: string | undefined;
  },
  { email, username, inviteCode }: RegistrationInput,
): Promise<UserRecord | 'taken' | undefined> {
  const { store, clock, ids } = services;
  const { allowOpenRegistration, defaultFreeCredits } = await services.adminSettings.current();
  const id = ids.next();
  return store.transaction(async (inner) => {
    const isEmpty = (await inner.collection(USERS).find({}, { limit: 1 })).length === 0;
    if (isEmpty && !hasSetupCode(services.setupCode, inviteCode)) return undefined;
    const isFirst =
      isEmpty && (await inner.collection(FIRST_ADMIN).insert({ id: FIRST_ADMIN_ID, userId: id }));
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
    // Rolls back the transaction.
    if (user === undefined) throw new Error('the account could not be inserted');
    return user;
  });
}

/**
 * Grants the initial credits of an account, under one key: once for any number of attempts.
 */
export async function grantStartingCredits(
  ledger: CreditLedger,
  { id, startingCredits = 0 }: Pick<UserRecord, 'id' | 'startingCredits'>,
): Promise<void> {
  if (startingCredits === 0) return;
  const account = `user:${id}`;
  await ledger.grant({ account, amount: startingCredits, key: 'registration', reason: 'registration' });
}

/** Typed by users: case, blanks and dashes are ignored. */
function hasSetupCode(wanted: string | undefined, given: string | undefined): boolean {
  const normalize = (text: string) => text.replaceAll(/[\s-]/g, '').toUpperCase();
  return wanted === undefined || isEqual(normalize(wanted), normalize(given ?? ''));
}

/** @returns the micro-credits of the invite; undefined when it is unknown or used up. */
async function spendInvite(store: Store, code: string | undefined): Promise<number | undefined> {
  if (code === undefined) return undefined;
  const invites = store.collection(REGISTRATION_INVITES);
  const [invite] = await invites.find(inviteWithCode(code), { limit: 1 });
  if (invite === undefined || invite.usesLeft === null) return invite?.startingCredits;
  const spent = await invites.add(invite.id, { usesLeft: -1 }, { usesLeft: { gt: 0 } });
  return spent?.startingCredits;
}
