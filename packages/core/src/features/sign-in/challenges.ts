import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { removeAll } from '../../ports/remove-where.ts';
import { defineCollection, type Store, type StoredRecord } from '../../ports/store.ts';
import { isEqual, type PendingTokens } from './pending-tokens.ts';

const LIFE_MS = 10 * 60_000;
const MAX_TRIES = 5;

/** A mailed, unused code. */
export interface ChallengeRecord extends StoredRecord {
  readonly codeHash: string;
  /** Failed attempts. */
  readonly tries: number;
  /** Incremented with each answer: a pending token is valid for one. */
  readonly serial: number;
  readonly expiresAt: number;
}

export const CHALLENGES = defineCollection<ChallengeRecord>({
  name: 'sign_in_challenges',
  secretFields: { codeHash: true },
  columns: { tries: 'integer', serial: 'integer', expiresAt: 'integer' },
  unique: [],
  indexes: [['expiresAt']],
});

/** One answer to a challenge. */
export type Answered =
  | { readonly kind: 'void' }
  | { readonly kind: 'wrong'; readonly attemptsLeft: number; readonly pendingToken: string }
  /** `finish` ends the challenge; `keepOpen` keeps the code valid, with the returned token. */
  | { readonly kind: 'right'; finish(): Promise<void>; keepOpen(): Promise<string> };

export interface Challenges {
  /** @returns the code for the mail, and the pending token. */
  begin(email: string): Promise<{ readonly code: string; readonly pendingToken: string }>;
  /** Of any number of answers with one token, exactly one is checked. */
  answer(email: string, pendingToken: string, code: string): Promise<Answered>;
  /** Deletes expired challenges. @returns their number. */
  sweep(): Promise<number>;
}

export function createChallenges(services: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pendingTokens: PendingTokens;
}): Challenges {
  const { clock, ids, pendingTokens } = services;
  const challenges = services.store.collection(CHALLENGES);

  return {
    async begin(email) {
      const code = sixDigits(ids);
      const id = ids.next();
      await challenges.insert({
        id,
        codeHash: pendingTokens.hashCode(id, code),
        tries: 0,
        serial: 0,
        expiresAt: clock.now() + LIFE_MS,
      });
      return { code, pendingToken: pendingTokens.sign({ challengeId: id, serial: 0 }, email) };
    },

    async answer(email, token, code) {
      const pending = pendingTokens.verify(token, email);
      if (pending === undefined) return { kind: 'void' };
      const { challengeId, serial } = pending;
      // Consumes the token and counts an attempt in one step, before the code is checked.
      const challenge = await challenges.add(
        challengeId,
        { serial: 1, tries: 1 },
        { serial, tries: { lt: MAX_TRIES }, expiresAt: { gt: clock.now() } },
      );
      if (challenge === undefined) return { kind: 'void' };
      const next = (): string => pendingTokens.sign({ challengeId, serial: challenge.serial }, email);
      if (!isEqual(challenge.codeHash, pendingTokens.hashCode(challengeId, code))) {
        return { kind: 'wrong', attemptsLeft: MAX_TRIES - challenge.tries, pendingToken: next() };
      }
      return {
        kind: 'right',
        async finish() {
          await challenges.take(challengeId);
        },
        async keepOpen() {
          await challenges.add(challengeId, { tries: -1 });
          return next();
        },
      };
    },

    sweep: () => removeAll(challenges, { expiresAt: { lte: clock.now() } }),
  };
}

/** Uniform distribution: rejects the random numbers that would introduce modulo bias. */
function sixDigits(ids: Ids): string {
  for (;;) {
    const [a = 0, b = 0, c = 0] = ids.bytes(3);
    const number = (a << 16) | (b << 8) | c;
    if (number < 16_000_000) return String(number % 1_000_000).padStart(6, '0');
  }
}
