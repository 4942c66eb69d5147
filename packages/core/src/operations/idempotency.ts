import type { Call } from '../contract/call.ts';
import { header } from '../contract/message.ts';
import type { Clock } from '../ports/clock.ts';
import type { LeasedJob } from '../ports/queue.ts';
import { removeAll } from '../ports/remove-where.ts';
import type { Store } from '../ports/store.ts';
import { type StoreWrite, writesTo } from '../ports/write-all.ts';
import { ApiError } from '../shared/errors.ts';
import { hashSecret } from '../shared/secrets.ts';
import { IDEMPOTENCY, type IdempotencyRecord } from './idempotency-records.ts';
import { KEY_LEASE_MS, keepKey } from './key-lease.ts';
import { createSingleUses, type SingleUses } from './single-uses.ts';

const KEPT_MS = 24 * 3_600_000;
/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** Accepted work that is not stored yet. */
export interface AcceptedWork<A> {
  readonly answer: A;
  /** Writes the records of the work in a transaction. May run again after a rollback. */
  write(store: Store): Promise<void>;
  /**
   * Returns the same in one step, without reads. If it has no effect, `write` decides.
   * @param lease the lease of its job, which this process has from the beginning.
   */
  readonly toWrites?: (lease?: LeasedJob) => readonly StoreWrite[];
}

export interface Accepted<A> {
  readonly answer: A;
  /** True: the key was used before; this is the first response. */
  readonly isRepeated: boolean;
  /** True: the request has a key, so a retry returns the same work. */
  readonly isRepeatable: boolean;
  /** True: the write of the caller was made with those of the work. */
  readonly isWhole: boolean;
}

/** A further write of accepted work, and the lease of its job if it leases it. */
export interface CompletingWrite {
  readonly write: StoreWrite;
  readonly lease?: LeasedJob;
}

/** Returns a further write of accepted work; undefined: this store takes none. */
export type CompleteWork<A> = (answer: A) => CompletingWrite | undefined;

export interface Idempotency extends SingleUses {
  /**
   * Accepts work once per caller, path and key within 24 hours. The idempotency record and the records of the work
   * are written in one transaction. A repeated request gets the first response, and `prepare` is not called. Without
   * a key, the work is stored directly.
   * @param complete returns a write that is made in one step with those of the work, where the store can.
   * @throws ApiError 422 `invalid_idempotency_key`; 422 `idempotency_key_reused` for another body.
   */
  accept<A>(
    request: IdempotentRequest,
    prepare: () => Promise<AcceptedWork<A>>,
    complete?: CompleteWork<A>,
  ): Promise<Accepted<A>>;
  /**
   * Runs work that the client waits for once per caller, path and key within 24 hours. A repeated request gets the first
   * answer; one that arrives while the first runs is refused. Failed work is forgotten, so that a retry runs it again,
   * unless it was charged. Without a key, the work runs.
   * @param work calls `onCharge` if it may fail after a charge.
   * @throws ApiError 409 while the first request runs, after a charged failure, and for an answer that was too large to
   * keep; 422 as `accept`.
   */
  once<A>(
    request: IdempotentRequest,
    work: (onCharge: () => void) => Promise<A>,
  ): Promise<Pick<Accepted<A>, 'answer' | 'isRepeated'>>;
  /**
   * As `once`, for work whose end is reported later, such as a stream.
   * @returns undefined for a request without a key.
   */
  claim<A>(request: IdempotentRequest): Promise<Claim<A>> | undefined;
  /** Deletes expired keys. */
  sweep(): Promise<void>;
}

/** A key that is in use: the first answer, or the right to run the work. */
export type Claim<A> =
  | { readonly isRepeated: true; readonly answer: A }
  | { readonly isRepeated: false; readonly end: ReportEnd<A> };

/** Ends a claim once; later calls have no effect. */
export interface ReportEnd<A> {
  /** Keeps the answer for repeated requests. */
  complete(answer: A): Promise<void>;
  /** @param isCharged true: repeated requests are refused. False: the next one runs the work again. */
  fail(isCharged: boolean): Promise<void>;
}

export interface IdempotentRequest<A = unknown> {
  readonly call: Call;
  readonly path: string;
  readonly body: unknown;
  /** For `accept`: whether the work of an earlier answer was deleted. Its key is then free. Default: it never is. */
  isGone?(answer: A): Promise<boolean>;
}

/** A request with a key. */
type NamedRequest = Pick<IdempotencyRecord, 'id' | 'bodyHash' | 'userId'>;

/** Marks the repetition of a first answer. */
export const REPLAYED_HEADER = 'Idempotent-Replayed';

/** The answer of a record while its work runs. */
const RUNNING = '';
/** The answer of a record whose work was charged and has no answer to repeat. No JSON. */
const SPENT = '-';
/** Longest answer that is kept, in characters of JSON. */
const MAX_ANSWER = 2 ** 20;

export function createIdempotency(services: { readonly store: Store; readonly clock: Clock }): Idempotency {
  const { store, clock } = services;
  const records = store.collection(IDEMPOTENCY);

  /** @returns undefined for a request without a key. @throws ApiError 422 for a key of another form. */
  const identify = ({ call, path, body }: IdempotentRequest): NamedRequest | undefined => {
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
      userId: call.caller.userId,
    };
  };

  const replay = <A>(record: IdempotencyRecord, bodyHash: string): Accepted<A> => {
    if (record.bodyHash !== bodyHash) {
      throw new ApiError(422, 'Idempotency-Key: this key was used with another body', {
        code: 'idempotency_key_reused',
      });
    }
    if (record.answer === SPENT) throw spent();
    return { answer: JSON.parse(record.answer) as A, isRepeated: true, isRepeatable: true, isWhole: false };
  };

  const claimKey = async <A>(named: NamedRequest): Promise<Claim<A>> => {
    const { id, bodyHash } = named;
    const now = clock.now();
    await records.take(id, { expiresAt: { lte: now } });
    const running = { ...named, answer: RUNNING, expiresAt: now + KEY_LEASE_MS };
    if (!(await records.insert(running))) {
      const first = await records.get(id);
      if (first === undefined || first.answer === RUNNING) throw stillRunning();
      return { answer: replay<A>(first, bodyHash).answer, isRepeated: true };
    }
    const lease = keepKey({ records, clock }, running);
    let hasEnded = false;
    const end = async (answer: string | undefined): Promise<void> => {
      if (hasEnded) return;
      hasEnded = true;
      lease.stop();
      const mine = lease.guard();
      if (answer === undefined) await records.take(id, mine);
      else await records.update(id, { answer, expiresAt: clock.now() + KEPT_MS }, mine);
    };
    return {
      isRepeated: false,
      end: {
        complete(answer) {
          const json = JSON.stringify(answer);
          return end(json.length > MAX_ANSWER ? SPENT : json);
        },
        fail: (isCharged) => end(isCharged ? SPENT : undefined),
      },
    };
  };

  const claim = <A>(request: IdempotentRequest): Promise<Claim<A>> | undefined => {
    const named = identify(request);
    return named && claimKey(named);
  };

  /** Writes the work, and `complete` if there is one, in one step. @returns undefined, having written nothing, where that has no effect. */
  const writeWhole = async <A>(
    { answer, toWrites }: AcceptedWork<A>,
    complete: CompleteWork<A> | undefined,
    record: IdempotencyRecord | undefined,
  ): Promise<Pick<Accepted<A>, 'isWhole'> | undefined> => {
    if (store.writeAll === undefined || toWrites === undefined) return undefined;
    const last = complete?.(answer);
    const first = record === undefined ? [] : [writesTo(IDEMPOTENCY).insert(record)];
    const own = toWrites(last?.lease);
    const isDone = await store.writeAll([...first, ...own, ...(last === undefined ? [] : [last.write])]);
    return isDone ? { isWhole: last !== undefined } : undefined;
  };

  return {
    ...createSingleUses(services),

    async accept<A>(
      request: IdempotentRequest<A>,
      prepare: () => Promise<AcceptedWork<A>>,
      complete?: CompleteWork<A>,
    ) {
      const named = identify(request);
      if (named === undefined) {
        const work = await prepare();
        const { answer } = work;
        const written =
          store.writeAll === undefined ? undefined : await writeWhole(work, complete, undefined);
        if (written === undefined) await work.write(store);
        return { answer, isRepeated: false, isRepeatable: false, isWhole: written?.isWhole === true };
      }
      const { id, bodyHash } = named;
      const now = clock.now();
      const known = await records.get(id);
      // Later than before, so that the guard below finds only the record that was read.
      const expiresAt = Math.max(now + KEPT_MS, (known?.expiresAt ?? 0) + 1);
      if (known !== undefined && known.expiresAt > now) {
        const first = replay<A>(known, bodyHash);
        if ((await request.isGone?.(first.answer)) !== true) return first;
      }
      if (known !== undefined) await records.take(id, { expiresAt: known.expiresAt });

      const work = await prepare();
      const { answer, write } = work;
      const record = { ...named, answer: JSON.stringify(answer), expiresAt };
      const written = await writeWhole(work, complete, record);
      if (written !== undefined) return { answer, isRepeated: false, isRepeatable: true, ...written };
      const isFirst = await store.transaction(async (transaction) => {
        if (!(await transaction.collection(IDEMPOTENCY).insert(record))) return false;
        await write(transaction);
        return true;
      });
      if (isFirst) return { answer, isRepeated: false, isRepeatable: true, isWhole: false };
      const winner = await records.get(id);
      if (winner === undefined) throw new Error('an idempotency record disappeared before its expiry');
      return replay<A>(winner, bodyHash);
    },

    async once<A>(request: IdempotentRequest, work: (onCharge: () => void) => Promise<A>) {
      const claimed = await claim<A>(request);
      if (claimed?.isRepeated === true) return claimed;
      let isCharged = false;
      const run = (): Promise<A> =>
        work(() => {
          isCharged = true;
        });
      try {
        const answer = await run();
        await claimed?.end.complete(answer);
        return { answer, isRepeated: false };
      } catch (error) {
        await claimed?.end.fail(isCharged);
        throw error;
      }
    },

    claim,

    async sweep() {
      await removeAll(records, { expiresAt: { lte: clock.now() } });
    },
  };
}

function stillRunning(): ApiError {
  return new ApiError(409, 'Idempotency-Key: the first request with this key still runs', {
    headers: { 'Retry-After': '1' },
  });
}

function spent(): ApiError {
  const message =
    'Idempotency-Key: the first request with this key was charged, and its answer is not kept; send another key';
  return new ApiError(409, message, { code: 'idempotency_key_spent' });
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
