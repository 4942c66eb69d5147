import type { Call } from './call.ts';
import { ApiError } from './errors.ts';
import { header } from './http/message.ts';
import { hashSecret } from './identity/secrets.ts';
import type { Clock } from './ports/clock.ts';
import { defineCollection, type Store, type StoredRecord } from './ports/store.ts';

const KEPT_MS = 24 * 3_600_000;
const BATCH = 200;
/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** An answer given under an `Idempotency-Key`. Its id is a hash of who asked, where and under which key. */
export interface IdempotencyRecord extends StoredRecord {
  readonly bodyHash: string;
  /** JSON text of the answer. */
  readonly answer: string;
  readonly expiresAt: number;
}

export const IDEMPOTENCY = defineCollection<IdempotencyRecord>({
  name: 'idempotency',
  columns: { expiresAt: 'integer' },
  unique: [],
  indexes: [['expiresAt']],
});

/** Work that was found acceptable, and is yet to be written down. */
export interface AcceptedWork<A> {
  readonly answer: A;
  /** Writes the records of the work. May run more than once, each time on a store that has forgotten the time before. */
  write(store: Store): Promise<void>;
}

export interface Accepted<A> {
  readonly answer: A;
  /** It was accepted before. */
  readonly isRepeated: boolean;
  /** It came under a key: asked once more, it is the same work. */
  readonly isRepeatable: boolean;
}

export interface Idempotency {
  /**
   * Accepts work once per principal, path and key within 24 hours: the record of the key and those of the work become
   * visible together. A repeated request is given the first one's answer, and `prepare` is not asked.
   * Without a key, the work is simply written down.
   * @throws ApiError 422 `invalid_idempotency_key`; 422 `idempotency_key_reused` for another body.
   */
  accept<A>(
    request: { readonly call: Call; readonly path: string; readonly body: unknown },
    prepare: () => Promise<AcceptedWork<A>>,
  ): Promise<Accepted<A>>;
  /** Forgets keys that have expired. */
  sweep(): Promise<void>;
}

export function createIdempotency(services: { readonly store: Store; readonly clock: Clock }): Idempotency {
  const { store, clock } = services;
  const records = store.collection(IDEMPOTENCY);

  const replay = <A>(record: IdempotencyRecord, bodyHash: string): Accepted<A> => {
    if (record.bodyHash !== bodyHash) {
      throw new ApiError(422, 'Idempotency-Key: this key was used with another body', {
        code: 'idempotency_key_reused',
      });
    }
    return { answer: JSON.parse(record.answer) as A, isRepeated: true, isRepeatable: true };
  };

  return {
    async accept<A>(
      { call, path, body }: { call: Call; path: string; body: unknown },
      prepare: () => Promise<AcceptedWork<A>>,
    ) {
      const key = header(call.request.headers, 'idempotency-key');
      if (key === undefined) {
        const { answer, write } = await prepare();
        await write(store);
        return { answer, isRepeated: false, isRepeatable: false };
      }
      if (!KEY.test(key)) {
        throw new ApiError(422, 'Idempotency-Key: expected 1 to 255 printable ASCII characters', {
          code: 'invalid_idempotency_key',
        });
      }
      const id = hashSecret(JSON.stringify([principalOf(call), path, key]));
      const bodyHash = hashSecret(canonical(body));
      const now = clock.now();
      const known = await records.get(id);
      if (known !== undefined && known.expiresAt > now) return replay<A>(known, bodyHash);
      if (known !== undefined) await records.take(id, { expiresAt: { lte: now } });

      const { answer, write } = await prepare();
      const record = { id, bodyHash, answer: JSON.stringify(answer), expiresAt: now + KEPT_MS };
      const isFirst = await store.transaction(async (transaction) => {
        if (!(await transaction.collection(IDEMPOTENCY).insert(record))) return false;
        await write(transaction);
        return true;
      });
      if (isFirst) return { answer, isRepeated: false, isRepeatable: true };
      const winner = await records.get(id);
      if (winner === undefined) throw new Error('an idempotency record vanished within its time');
      return replay<A>(winner, bodyHash);
    },

    async sweep() {
      for (;;) {
        const expired = await records.find({ expiresAt: { lte: clock.now() } }, { limit: BATCH });
        for (const { id } of expired) await records.take(id, { expiresAt: { lte: clock.now() } });
        if (expired.length < BATCH) return;
      }
    },
  };
}

function principalOf({ caller }: Call): string {
  return caller.kind === 'key' ? `key:${caller.keyId}` : `user:${caller.userId}`;
}

/** JSON with sorted keys: the same value gives the same text, however it was written. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
