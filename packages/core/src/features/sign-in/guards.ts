import { createHmac } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import { removeAll } from '../../ports/remove-where.ts';
import { defineCollection, type Store, type StoredRecord } from '../../ports/store.ts';
import { type StoreWrite, writesTo } from '../../ports/write-all.ts';
import { ApiError } from '../../shared/errors.ts';

const DAY_MS = 86_400_000;
const REST_MS = 3_600_000;
/** Period in which a client stays known after a sign-in. */
const KNOWN_MS = 90 * DAY_MS;
const MAX_KNOWN = 10;
/** Attempts to remember a client while others sign in to the same account. */
const ATTEMPTS = 5;

/** The sign-in history of one address. Its id is a keyed hash of the e-mail address. */
export interface SignInGuardRecord extends StoredRecord {
  /** Wrong codes since `countedFrom`. */
  readonly wrong: number;
  readonly countedFrom: number;
  /** Until then only known clients may sign in. */
  readonly restUntil: number;
  /** Keyed hashes of client networks with a sign-in, newest first. */
  readonly clients: readonly { readonly hash: string; readonly at: number }[];
  readonly expiresAt: number;
}

export const SIGN_IN_GUARDS = defineCollection<SignInGuardRecord>({
  name: 'sign_in_guards',
  columns: { wrong: 'integer', countedFrom: 'integer', restUntil: 'integer', expiresAt: 'integer' },
  unique: [],
  indexes: [['expiresAt']],
});

/** The guard of one account in the steps of a sign-in. */
export interface GuardSteps {
  /** Expects that the account is not locked, and reads for `remember`. */
  readonly admit: readonly StoreWrite[];
  /** After `admit`: remembers the client. Undefined without a client. Has no effect if another sign-in was remembered since. */
  remember(): StoreWrite | undefined;
}

/** Counts wrong codes per account, and remembers the clients of its sign-ins. */
export interface SignInGuards {
  /** @returns whether the client signed in to this account within 90 days. */
  isKnown(email: string, client: string | undefined): Promise<boolean>;
  /** @throws ApiError 429 while the account is locked, unless the client is known. */
  admit(email: string, client: string | undefined): Promise<void>;
  /** `admit` for everyone but known clients of a locked account, and `succeeded`, as parts of other steps. */
  toSteps(email: string, client: string | undefined): GuardSteps;
  /** Counts a wrong code; from the daily limit on, each one locks the account for an hour. */
  failed(email: string): Promise<void>;
  succeeded(email: string, client: string | undefined): Promise<void>;
  sweep(): Promise<number>;
}

const toGuards = writesTo(SIGN_IN_GUARDS);

/** @param secret key of the hashes: the store contains neither addresses nor networks. */
export function createSignInGuards(
  services: { readonly store: Store; readonly clock: Clock },
  secret: Uint8Array,
  maxWrongPerDay: number,
): SignInGuards {
  const { clock } = services;
  const guards = services.store.collection(SIGN_IN_GUARDS);
  const key = createHmac('sha256', secret).update('sign-in-guards').digest();
  const hash = (kind: string, text: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([kind, text]))
      .digest('base64url');
  const toId = (email: string): string => hash('email', email);
  const isKnownTo = (guard: SignInGuardRecord | undefined, client: string | undefined): boolean => {
    if (guard === undefined || client === undefined) return false;
    const wanted = hash('client', client);
    return guard.clients.some((one) => one.hash === wanted && one.at + KNOWN_MS > clock.now());
  };
  const create = (email: string): SignInGuardRecord => {
    const now = clock.now();
    return {
      id: toId(email),
      wrong: 0,
      countedFrom: now,
      restUntil: 0,
      clients: [],
      expiresAt: now + KNOWN_MS,
    };
  };

  const withClient = (guard: SignInGuardRecord, client: string) => {
    const now = clock.now();
    const wanted = hash('client', client);
    const others = guard.clients.filter((one) => one.hash !== wanted);
    return {
      clients: [{ hash: wanted, at: now }, ...others].slice(0, MAX_KNOWN),
      // Always later than before, so that an update with it as its guard detects another sign-in.
      expiresAt: Math.max(now + KNOWN_MS, guard.expiresAt + 1),
    };
  };

  return {
    isKnown: async (email, client) =>
      client !== undefined && isKnownTo(await guards.get(toId(email)), client),

    async admit(email, client) {
      const guard = await guards.get(toId(email));
      const now = clock.now();
      if (guard === undefined || guard.restUntil <= now || isKnownTo(guard, client)) return;
      const seconds = Math.ceil((guard.restUntil - now) / 1000);
      throw new ApiError(429, 'Too many wrong codes for this account. Try again later.', {
        headers: { 'Retry-After': String(seconds) },
      });
    },

    toSteps(email, client) {
      const id = toId(email);
      let guard: SignInGuardRecord | undefined;
      const read = toGuards.read({ id }, 1, ([found]) => {
        guard = found;
      });
      return {
        admit: [
          toGuards.expectNone(id, { restUntil: { gt: clock.now() } }),
          ...(client === undefined ? [] : [read]),
        ],
        remember() {
          if (client === undefined) return undefined;
          if (guard !== undefined) {
            return toGuards.update(id, withClient(guard, client), { expiresAt: guard.expiresAt });
          }
          const created = create(email);
          return toGuards.insert({ ...created, ...withClient(created, client) });
        },
      };
    },

    async failed(email) {
      const now = clock.now();
      const id = toId(email);
      await guards.insert(create(email));
      const isNewDay = await guards.update(
        id,
        { wrong: 1, countedFrom: now },
        { countedFrom: { lte: now - DAY_MS } },
      );
      const guard = isNewDay ?? (await guards.add(id, { wrong: 1 }));
      if (guard !== undefined && guard.wrong >= maxWrongPerDay) {
        await guards.update(id, { restUntil: now + REST_MS });
      }
    },

    async succeeded(email, client) {
      if (client === undefined) return;
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        await guards.insert(create(email));
        const guard = await guards.get(toId(email));
        if (guard === undefined) continue;
        const unchanged = { expiresAt: guard.expiresAt };
        if ((await guards.update(guard.id, withClient(guard, client), unchanged)) !== undefined) return;
      }
    },

    sweep: () => removeAll(guards, { expiresAt: { lte: clock.now() } }),
  };
}
