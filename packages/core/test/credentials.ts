import { createFakeClock, createFakeIds } from '@questline/testing';
import { issueApiKey, type NewApiKey } from '../src/identity/api-keys.ts';
import { createAuthenticator } from '../src/identity/credentials.ts';
import { API_KEYS, USERS } from '../src/identity/records.ts';
import { createAccessTokens } from '../src/identity/tokens.ts';
import { createUser } from '../src/identity/users.ts';
import { createMemoryPublisher } from '../src/memory/publisher.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { Store } from '../src/ports/store.ts';

export const TTL_MS = 1500;
export const FAILURE = new Error('the store has failed');
export const BAD_KEY = {
  status: 401,
  message: 'Authentication failed. Provide a valid API key or JWT token.',
};
export const BAD_TOKEN = { status: 401, message: 'Invalid or expired token' };

/** Reads of the store wait while they are held. */
function holdable(store: Store) {
  let gate: Promise<void> | undefined;
  let open = (): void => undefined;
  const counts = { reads: 0 };
  const held: Store = {
    ...store,
    collection(definition) {
      const collection = store.collection(definition);
      const wait = async <T>(read: Promise<T>): Promise<T> => {
        counts.reads += 1;
        const found = await read;
        await gate;
        return found;
      };
      return {
        ...collection,
        get: (id, guard) => wait(collection.get(id, guard)),
        find: (filter, options) => wait(collection.find(filter, options)),
      };
    },
  };
  return {
    ...{ held, counts },
    hold() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    release() {
      gate = undefined;
      open();
    },
  };
}

/** An authenticator with a user, on a memory store whose reads can be held. */
export async function openAuthenticator(start?: number) {
  const clock = createFakeClock(start);
  const plain = createMemoryStore();
  const { held: store, ...reads } = holdable(plain);
  const ids = createFakeIds();
  const tokens = createAccessTokens(new Uint8Array(32).fill(7), clock, { access: 600, refresh: 3600 });
  const errors: unknown[] = [];
  const publisher = createMemoryPublisher();
  const services = {
    ...{ store, clock, tokens, publisher },
    modelLists: {
      ofUser: ({ tier }: { tier: string }) =>
        tier === 'pro' ? [{ source: 'plan', models: ['p'] } as const] : [],
      ofOrganization: async (id: string) => [{ source: 'organization', models: [id] } as const],
      ofOrganizations: async (ids: readonly string[]) =>
        new Map(ids.map((id) => [id, [{ source: 'organization', models: [id] } as const]])),
    },
    onError: (error: unknown) => errors.push(error),
  };
  const authenticator = createAuthenticator(services);
  const users = plain.collection(USERS);
  const keys = plain.collection(API_KEYS);
  const addUser = async (email: string) => {
    const user = await createUser({ store: plain, clock, ids }, { email, username: 'x' });
    if (user === undefined) throw new Error('the address is taken');
    return user;
  };
  const user = await addUser('ada@example.com');
  const issue = (input: Partial<NewApiKey> = {}) =>
    issueApiKey(
      { store: plain, clock, ids, authenticator },
      { userId: user.id, name: 'CI', scopes: ['me:read'], ...input },
    );
  const signFor = (claims: object = {}) =>
    tokens.sign({ id: user.id, tokenVersion: 0, typ: 'access', ...claims });
  const tryKey = (key: string) => authenticator.authenticate({ 'x-api-key': key }, 'key-or-token');
  const ask = async (headers: Record<string, string>, auth: 'token' | 'key-or-token' = 'key-or-token') =>
    authenticator.authenticate(headers, auth);
  return {
    ...{ clock, plain, reads, ids, tokens, services, authenticator, users, keys, errors, publisher },
    ...{ addUser, user, issue, signFor, tryKey, ask },
  };
}
