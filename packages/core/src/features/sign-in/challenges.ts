import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { removeAll } from '../../ports/remove-where.ts';
import { defineCollection, type Store, type StoredRecord } from '../../ports/store.ts';
import { type StoreWrite, writeAll, writesTo } from '../../ports/write-all.ts';
import { isEqual, type PendingTokens } from './pending-tokens.ts';

const LIFE_MS = 10 * 60_000;
const MAX_TRIES = 5;

/** The answers to a mailed code, from the first one on. */
export interface ChallengeRecord extends StoredRecord {
  /** Failed attempts. */
  readonly tries: number;
  /** Incremented with each answer: a pending token is valid for one. */
  readonly serial: number;
  readonly expiresAt: number;
}

export const CHALLENGES = defineCollection<ChallengeRecord>({
  name: 'sign_in_challenges',
  columns: { tries: 'integer', serial: 'integer', expiresAt: 'integer' },
  unique: [],
  indexes: [['expiresAt']],
});

/** One answer to a challenge. */
export type Answered =
  | { readonly kind: 'void' }
  | { readonly kind: 'wrong'; readonly attemptsLeft: number; readonly pendingToken: string }
  /** The code is used; `keepOpen` keeps it valid, with the returned token. */
  | { readonly kind: 'right'; keepOpen(): Promise<string> };

export interface Challenges {
  /** Stores nothing. @returns the code for the mail, and the pending token. */
  begin(email: string): { readonly code: string; readonly pendingToken: string };
  /**
   * Of any number of answers with one token, exactly one is checked.
   * @param along reads and expectations of the same step. Void if one of them does not match.
   */
  answer(email: string, pendingToken: string, code: string, along?: readonly StoreWrite[]): Promise<Answered>;
  /** Deletes expired challenges. @returns their number. */
  sweep(): Promise<number>;
}

const toChallenges = writesTo(CHALLENGES);

export function createChallenges(services: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pendingTokens: PendingTokens;
}): Challenges {
  const { store, clock, ids, pendingTokens } = services;
  const challenges = store.collection(CHALLENGES);

  return {
    begin(email) {
      const challengeId = ids.next();
      const expiresAt = clock.now() + LIFE_MS;
      return {
        code: pendingTokens.toCode(challengeId),
        pendingToken: pendingTokens.sign({ challengeId, serial: 0, expiresAt }, email),
      };
    },

    async answer(email, token, code, along = []) {
      const pending = pendingTokens.verify(token, email);
      const now = clock.now();
      if (pending === undefined || pending.expiresAt <= now) return { kind: 'void' };
      const { challengeId: id, serial, expiresAt } = pending;
      let tries = 1;
      // Consumes the token and counts an attempt in one step, before the code is checked.
      const isCounted = await writeAll(store, [
        ...along,
        ...(serial === 0
          ? [toChallenges.insert({ id, tries, serial: 1, expiresAt })]
          : [
              toChallenges.read({ id }, 1, ([before]) => {
                tries += before?.tries ?? 0;
              }),
              toChallenges.add(id, { serial: 1, tries: 1 }, { serial, tries: { lt: MAX_TRIES } }),
            ]),
      ]);
      if (!isCounted) return { kind: 'void' };
      const next = (): string =>
        pendingTokens.sign({ challengeId: id, serial: serial + 1, expiresAt }, email);
      if (!isEqual(code, pendingTokens.toCode(id))) {
        return { kind: 'wrong', attemptsLeft: MAX_TRIES - tries, pendingToken: next() };
      }
      return {
        kind: 'right',
        async keepOpen() {
          await challenges.add(id, { tries: -1 });
          return next();
        },
      };
    },

    sweep: () => removeAll(challenges, { expiresAt: { lte: clock.now() } }),
  };
}
