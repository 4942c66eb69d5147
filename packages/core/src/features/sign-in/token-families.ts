import { USERS, type UserRecord } from '../../identity/records.ts';
import type { AccessTokens, VerifiedToken } from '../../identity/tokens.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { removeAll } from '../../ports/remove-where.ts';
import { defineCollection, type Store, type StoredRecord } from '../../ports/store.ts';
import { type StoreWrite, writesTo } from '../../ports/write-all.ts';
import { hashSecret } from '../../shared/secrets.ts';

/** Grace period: a client that lost the response may send the same refresh token again. */
const GRACE_MS = 30_000;
/** Maximum ended sign-ins in a user record; beyond it every token of the user is revoked. */
const MAX_ENDED = 50;

/** One sign-in: a chain of refresh tokens. */
export interface TokenFamilyRecord extends StoredRecord {
  readonly userId: string;
  /** Id of the newest refresh token. */
  readonly sequence: number;
  readonly rotatedAt: number;
  readonly expiresAt: number;
}

export const TOKEN_FAMILIES = defineCollection<TokenFamilyRecord>({
  name: 'token_families',
  columns: { userId: 'text', sequence: 'integer', expiresAt: 'integer' },
  unique: [],
  indexes: [['expiresAt']],
});

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A sign-in that begins with a write of another step. */
export interface NewFamily {
  readonly write: StoreWrite;
  /** After the write. */
  sign(): Promise<Tokens>;
}

export interface TokenFamilies {
  begin(user: UserRecord): Promise<Tokens>;
  prepare(user: UserRecord): NewFamily;
  /**
   * Exchanges a refresh token, once. A second use within 30 s returns the same successor; a later use revokes the
   * whole family.
   * @param token as presented: identifies the family of a token without a family id.
   * @returns undefined for a token that was used before, or whose sign-in has ended.
   */
  rotate(user: UserRecord, claims: VerifiedToken, token: string): Promise<Tokens | undefined>;
  /** Deletes expired families. @returns their number. */
  sweep(): Promise<number>;
}

export function createTokenFamilies(services: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: AccessTokens;
  /** Call after revoking a user's tokens. */
  readonly forgetUser: (userId: string) => void;
}): TokenFamilies {
  const { store, clock, ids, tokens } = services;
  const families = store.collection(TOKEN_FAMILIES);

  const sign = async (
    { id, tokenVersion }: UserRecord,
    family: string,
    sequence: number,
    renewableUntil: number,
  ): Promise<Tokens> => {
    const claims = { id, tokenVersion, family, renewableUntil };
    const [accessToken, refreshToken] = await Promise.all([
      tokens.sign({ ...claims, typ: 'access' }),
      tokens.sign({ ...claims, typ: 'refresh', sequence }),
    ]);
    return { accessToken, refreshToken };
  };

  const create = ({ id: userId }: UserRecord, id: string): TokenFamilyRecord => {
    const now = clock.now();
    const expiresAt = now + tokens.lifetimes.refresh * 1000;
    return { id, userId, sequence: 0, rotatedAt: now, expiresAt };
  };

  const start = async (user: UserRecord, family: string): Promise<Tokens | undefined> => {
    const record = create(user, family);
    return (await families.insert(record)) ? sign(user, family, 0, record.expiresAt) : undefined;
  };

  /** @param tokenEnd the expiry of a token that could begin the sign-in again. */
  const end = async (family: string, userId: string, tokenEnd = 0): Promise<void> => {
    await families.take(family);
    const now = clock.now();
    await store.transaction(async (inner) => {
      const users = inner.collection(USERS);
      const user = await users.get(userId);
      if (user === undefined) return;
      const running = (user.endedFamilies ?? []).filter(({ until }) => until > now);
      if (running.length >= MAX_ENDED) {
        await users.update(userId, { endedFamilies: [], tokenVersion: user.tokenVersion + 1 });
        return;
      }
      const ended = { id: family, until: Math.max(now + tokens.lifetimes.access * 1000, tokenEnd) };
      await users.update(userId, { endedFamilies: [...running, ended] });
    });
    services.forgetUser(userId);
  };

  return {
    async begin(user) {
      const begun = await start(user, ids.next());
      if (begun === undefined) throw new Error('duplicate family id');
      return begun;
    },

    prepare(user) {
      const record = create(user, ids.next());
      return {
        write: writesTo(TOKEN_FAMILIES).insert(record),
        sign: () => sign(user, record.id, 0, record.expiresAt),
      };
    },

    async rotate(user, claims, token) {
      const now = clock.now();
      const family = claims.family ?? hashSecret(token);
      if (user.endedFamilies?.some(({ id }) => id === family) === true) return undefined;
      const begun = claims.family === undefined ? await start(user, family) : undefined;
      if (begun !== undefined) return begun;
      // A token without a family starts one at its first use, which counts as its rotation.
      const sequence = claims.family === undefined ? -1 : (claims.sequence ?? 0);
      const next = sequence + 1;
      const expiresAt = now + tokens.lifetimes.refresh * 1000;
      const rotated =
        sequence < 0
          ? undefined
          : await families.update(
              family,
              { sequence: next, rotatedAt: now, expiresAt },
              { userId: user.id, sequence },
            );
      if (rotated !== undefined) return sign(user, family, next, expiresAt);
      const known = await families.get(family);
      if (known === undefined || known.userId !== user.id) return undefined;
      if (known.sequence === next && now - known.rotatedAt <= GRACE_MS) {
        return sign(user, family, next, known.expiresAt);
      }
      await end(family, user.id, claims.family === undefined ? claims.expiresAt : undefined);
      return undefined;
    },

    sweep: () => removeAll(families, { expiresAt: { lte: clock.now() } }),
  };
}
