import { emailAddress } from '../../contract/email.ts';
import { fromCredits } from '../../credits/amounts.ts';
import type { HostAccount } from '../../identity/host-callers.ts';
import type { ModelLists } from '../../identity/model-lists.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import { createUser } from '../../identity/users.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HostIdentity } from '../../ports/identity.ts';
import type { Ids } from '../../ports/ids.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import { forbidden } from '../../shared/errors.ts';
import { hashSecret } from '../../shared/secrets.ts';
import type { MembershipCheck } from '../organizations/membership.ts';
import { EXTERNAL_IDS, type ExternalIdRecord } from './external-ids.ts';
import { grantStartingCredits } from './registration.ts';

const MAX_NAME = 100;
/** Attempts while other processes create or delete the same account. */
const ATTEMPTS = 5;

export interface HostAccountServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly adminSettings: AdminSettingsReader;
  readonly isMember: MembershipCheck;
  readonly modelLists: ModelLists;
}

/**
 * Returns the function that finds the account of a host user, and creates it at the first request: one account and one
 * grant of the initial credits for any number of parallel requests in any number of processes.
 */
export function createHostAccounts(
  services: HostAccountServices,
): (identity: HostIdentity) => Promise<HostAccount> {
  const { store, ledger, isMember, modelLists } = services;
  const links = store.collection(EXTERNAL_IDS);
  const users = store.collection(USERS);

  const find = async (identity: HostIdentity): Promise<UserRecord> => {
    const id = hashSecret(identity.externalId);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const link = (await links.get(id)) ?? (await create(services, id, identity));
      const user = link && (await users.get(link.userId));
      if (link === undefined || user === undefined) continue;
      if (!link.isWelcomed) {
        await grantStartingCredits(ledger, user);
        await links.update(id, { isWelcomed: true });
      }
      return user;
    }
    throw new Error('the account of the identity is created and deleted at the same time');
  };

  return async (identity) => {
    const { id, disabled, tier } = await find(identity);
    const { organizationId } = identity;
    if (organizationId && !(await isMember(id, organizationId))) {
      throw forbidden('You are not a member of the organization that pays for your calls');
    }
    const lists = organizationId
      ? await modelLists.ofOrganization(organizationId)
      : modelLists.ofUser({ tier });
    return { userId: id, isDisabled: disabled, modelLists: lists };
  };
}

/** @returns undefined if another request has created it. */
async function create(
  { store, clock, ids, adminSettings }: HostAccountServices,
  id: string,
  identity: HostIdentity,
): Promise<ExternalIdRecord | undefined> {
  const { defaultFreeCredits } = await adminSettings.current();
  const userId = ids.next();
  const link = { id, externalId: identity.externalId, userId, isWelcomed: false, createdAt: clock.now() };
  return store.transaction(async (inner) => {
    if (!(await inner.collection(EXTERNAL_IDS).insert(link))) return undefined;
    const profile = {
      id: userId,
      username: getName(identity),
      startingCredits: fromCredits(defaultFreeCredits),
    };
    const services = { store: inner, clock, ids };
    const email = emailAddress.safeParse(identity.email).data;
    const user =
      (email !== undefined && (await createUser(services, { ...profile, email }))) ||
      // The address of another account does not link to it: only the host has verified it.
      (await createUser(services, { ...profile, email: placeholderEmail(userId) }));
    // Rolls back the transaction.
    if (user === undefined) throw new Error('the account could not be inserted');
    return link;
  });
}

/** Unique, and never delivered: RFC 2606 reserves the domain. */
function placeholderEmail(userId: string): string {
  return `${userId}@users.invalid`;
}

function getName({ name, email }: HostIdentity): string {
  const text = (name?.trim() || email?.split('@')[0]?.trim() || 'User').replaceAll(
    /\p{Cc}|\p{Surrogate}/gu,
    '',
  );
  return [...text].slice(0, MAX_NAME).join('') || 'User';
}
