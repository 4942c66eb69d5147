import type { Call } from '../contract/call.ts';
import { header } from '../contract/message.ts';
import type { Clock } from '../ports/clock.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import { ApiError } from '../shared/errors.ts';
import { hashSecret } from '../shared/secrets.ts';

const KEPT_MS = 24 * 3_600_000;
const BATCH = 200;
/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** A stored response for an `Idempotency-Key`. The id is a hash of caller, path and key. */
export interface IdempotencyRecord extends StoredRecord {
  readonly bodyHash: string;
  /** JSON text of the response. */
  readonly answer: string;
  readonly expiresAt: number;
}

export const IDEMPOTENCY = defineCollection<IdempotencyRecord>({
  name: 'idempotency',
  secretFields: { bodyHash: true },
  columns: { expiresAt: 'integer' },
  unique: [],
  indexes: [['expiresAt']],
});

/** Accepted work that is not stored yet. */
export interface AcceptedWork<A> {
  readonly answer: A;
  /** Writes the records of the work in a transaction. May run again after a rollback. */
  write(store: Store): Promise<void>;
}

export interface Accepted<A> {
  readonly answer: A;
  /** True: the key was used before; this is the first response. */
  readonly isRepeated: boolean;
  /** True: the request has a key, so a retry returns the same work. */
  readonly isRepeatable: boolean;
}

export interface Idempotency {
  /**
   * Accepts work once per caller, path and key within 24 hours. The idempotency record and the records of the work
   * are written in one transaction. A repeated request gets the first response, and `prepare` is not called. Without
   * a key, the work is stored directly.
   * @throws ApiError 422 `invalid_idempotency_key`; 422 `idempotency_key_reused` for another body.
   */
  accept<A>(request: IdempotentRequest, prepare: () => Promise<AcceptedWork<A>>): Promise<Accepted<A>>;
  /**
   * Runs work that the client waits for once per caller, path and key within 24 hours. A repeated request gets the first
   * answer; one that arrives while the first runs is refused. Failed work is forgotten, so that a retry runs it again.
   * Without a key, the work runs.
   * @throws ApiError 409 while the first request runs; 422 as `accept`.
   */
  once<A>(request: IdempotentRequest, work: () => Promise<A>): Promise<Omit<Accepted<A>, 'isRepeatable'>>;
  /** Deletes expired keys. */
  sweep(): Promise<void>;
}

interface IdempotentRequest {
  readonly call: Call;
  readonly path: string;
  readonly body: unknown;
}

/** The answer of a record while its work runs. */
const RUNNING = '';
/** Maximum duration of work that the client waits for. After that, its process has crashed. */
const MAX_RUNNING_MS = 15 * 60_000;

export function createIdempotency(services: { readonly store: Store; readonly clock: Clock }): Idempotency {
  const { store, clock } = services;
  const records = store.collection(IDEMPOTENCY);

  /** @returns undefined for a request without a key. @throws ApiError 422 for a key of another form. */
  const identify = ({
    call,
    path,
    body,
  }: IdempotentRequest): { id: string; bodyHash: string } | undefined => {
    const key = header(call.request.headers, 'idempotency-key');
    if (key === undefined) return undefined;
    if (!KEY.test(key)) {
      throw new ApiError(422, 'Idempotency-Key: expected 1 to 255 printable ASCII characters', {
        code: 'invalid_idempotency_key',
      });
    }
    return {
      id: hashSecret(JSON.stringify([getPrincipal(call), path, key])),
      bodyHash: hashSecret(canonical(body)),
    };
  };

  const replay = <A>(record: IdempotencyRecord, bodyHash: string): Accepted<A> => {
    if (record.bodyHash !== bodyHash) {
      throw new ApiError(422, 'Idempotency-Key: this key was used with another body', {
        code: 'idempotency_key_reused',
      });
    }
    return { answer: JSON.parse(record.answer) as A, isRepeated: true, isRepeatable: true };
  };

  return {
    async accept<A>(request: IdempotentRequest, prepare: () => Promise<AcceptedWork<A>>) {
      const named = identify(request);
      if (named === undefined) {
        const { answer, write } = await prepare();
        await write(store);
        return { answer, isRepeated: false, isRepeatable: false };
      }
      const { id, bodyHash } = named;
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
      if (winner === undefined) throw new Error('an idempotency record disappeared before its expiry');
      return replay<A>(winner, bodyHash);
    },

    async once<A>(request: IdempotentRequest, work: () => Promise<A>) {
      const named = identify(request);
      if (named === undefined) return { answer: await work(), isRepeated: false };
      const { id, bodyHash } = named;
      const now = clock.now();
      const claim = { id, bodyHash, answer: RUNNING, expiresAt: now + MAX_RUNNING_MS };
      await records.take(id, { expiresAt: { lte: now } });
      if (!(await records.insert(claim))) {
        const first = await records.get(id);
        if (first === undefined || first.answer === RUNNING) throw stillRunning();
        return { answer: replay<A>(first, bodyHash).answer, isRepeated: true };
      }
      try {
        const answer = await work();
        const expiresAt = clock.now() + KEPT_MS;
        await records.update(id, { answer: JSON.stringify(answer), expiresAt });
        return { answer, isRepeated: false };
      } catch (error) {
        await records.take(id);
        throw error;
      }
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

function stillRunning(): ApiError {
  return new ApiError(409, 'Idempotency-Key: the first request with this key still runs', {
    headers: { 'Retry-After': '1' },
  });
}

function getPrincipal({ caller }: Call): string {
  return caller.kind === 'key' ? `key:${caller.keyId}` : `user:${caller.userId}`;
}

/** Canonical JSON with sorted keys, so that equal values give equal text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
