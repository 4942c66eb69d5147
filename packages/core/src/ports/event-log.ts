import type { CallOptions } from './options.ts';
import type { Json } from './store.ts';
import type { EngineWrite } from './write-all.ts';

/** One event of a stream. */
export interface SequencedEvent {
  /** Position in its stream, from 1, without gaps. */
  readonly sequence: number;
  readonly event: Json;
}

/** One batch of events. */
export interface NewEvents {
  /** The writer's attempt, 1 or more. A batch of an attempt refuses all later batches of lower attempts. */
  readonly attempt: number;
  /** The last sequence before this batch; 0 for a new stream. So a repeated batch is refused, not added twice. */
  readonly after: number;
  /** 1 to 1,000 events. */
  readonly events: readonly Json[];
  /** Milliseconds from now for which the stream is kept at least, with all of its events. */
  readonly keepMs: number;
}

/** The state of a stream after an append. */
export interface AppendResult {
  /** False: nothing was written, because of a higher attempt or another last sequence. */
  readonly isAppended: boolean;
  /** The last sequence of the stream; 0 if it has no events. */
  readonly last: number;
  /** The attempt of the last batch; 0 if there is none. */
  readonly attempt: number;
}

/**
 * Keeps streams of events for a short time, so that readers in all processes can continue where they stopped. A
 * stream begins with its first event and ends by expiry. Every method rejects with `StorageUnavailable` when the engine
 * is unreachable or does not answer in time.
 */
export interface EventLog {
  /**
   * Adds a batch, completely or not at all. Exactly one of several concurrent batches with the same `after` is added.
   * @param stream 1 to 200 characters.
   */
  append(stream: string, batch: NewEvents, options?: CallOptions): Promise<AppendResult>;
  /**
   * Builds an append for `writeAll` of a store on the same engine. A batch that `append` would refuse is not added, and the other
   * writes have their effect.
   */
  toAppend?(stream: string, batch: NewEvents): EngineWrite;
  /**
   * Returns events after a sequence, in order: at most 1,000, possibly fewer than there are. An empty list: there are no
   * later events. Undefined: the stream has no event with this sequence, because it has expired or is shorter. Sequence
   * 0 is the beginning of every stream.
   */
  read(stream: string, after: number, options?: CallOptions): Promise<readonly SequencedEvent[] | undefined>;
  /**
   * Joins the batches of a stream that has ended, to take less space, and keeps it for `keepMs` from now. Readers notice
   * nothing. An unknown stream is not an error.
   */
  compact(stream: string, keepMs: number, options?: CallOptions): Promise<void>;
  /**
   * Deletes streams whose last `keepMs` has passed, as whole streams. An engine may do this by itself. @returns the
   * number of deleted streams.
   */
  expire(options?: CallOptions): Promise<number>;
}
