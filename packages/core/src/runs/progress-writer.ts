import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { type StoreWrite, writeAll } from '../ports/write-all.ts';
import type { PaidStepRecord } from './holds.ts';
import type { FollowedRun } from './live-followers.ts';
import type { LiveWriter } from './live-writer.ts';
import {
  QUESTS,
  type QuestNotes,
  type QuestProgress,
  type QuestRecord,
  type ToolPayload,
} from './records.ts';
import type { Holder } from './states.ts';
import { addPiece, MAX_PIECES, readQuest, removePieces } from './text-pieces.ts';
import { findHeld, saveProgress, writeProgress } from './transitions.ts';

/** Interval between writes of payloads, of text while readers follow it, and before its first write, in milliseconds. */
const MIN_INTERVAL_MS = 500;
/** Maximum interval, in milliseconds: a crash loses at most the text of this time. */
const MAX_INTERVAL_MS = 5000;

/** `wait: undefined`: the work has gone on after a wait. */
type SavedFields = QuestProgress & { readonly notes?: QuestNotes; readonly wait?: undefined };

/** Saves the partial result of a quest: in its record, and text that follows in pieces beside it. */
export interface ProgressWriter {
  text(): string;
  toolPayloads(): readonly ToolPayload[];
  append(text: string): void;
  /** Adds a tool result to the payload. @returns a function that replaces it. */
  show(payload: ToolPayload): (payload: ToolPayload) => void;
  /**
   * Writes everything now, to the record. @returns false if this worker may no longer write: the quest was stopped,
   * deleted or taken over.
   */
  save(more?: SavedFields): Promise<boolean>;
  /** Readers follow now, or want to know whether there is news: the next write is due. */
  arm(): void;
  /** Deletes the pieces, for the step that writes the complete text. Empty: there are none. */
  removals(): readonly StoreWrite[];
  /** Stops periodic writes and waits for the current one. */
  close(): Promise<void>;
}

/** The progress at the time of a call. */
interface Snapshot {
  readonly text: string;
  readonly version: number;
  readonly steps: readonly PaidStepRecord[];
  readonly progress: SavedFields;
}

export function createProgressWriter(
  services: {
    readonly store: Store;
    readonly clock: Clock;
    /** The running paid steps. */
    readonly steps: () => readonly PaidStepRecord[];
    readonly live: Pick<LiveWriter, 'emit'>;
    readonly followers: Pick<FollowedRun, 'isFollowed' | 'lookEveryMs' | 'see'>;
    readonly onError: (error: unknown) => void;
  },
  quest: QuestRecord,
  holder: Holder,
  onLost: () => void,
): ProgressWriter {
  const { store, clock, live, followers } = services;
  const { id } = quest;
  const quests = store.collection(QUESTS);
  const payloads: ToolPayload[] = [...(quest.toolPayloads ?? [])];
  let text = quest.text ?? '';
  /** Counts changes of the payloads. */
  let version = 0;
  // The notes of the previous worker are processed.
  let notes: QuestNotes = {};
  /** What the record and its pieces have. `steps`: absent before the first write of this run. */
  let stored: { readonly length: number; readonly version: number; readonly steps?: string } = {
    length: text.length,
    version,
  };
  let pieces = 0;
  let begunAt: number | undefined;
  /** When the next write is due. */
  let dueAt: number | undefined;
  let timer: { readonly at: number; cancel(): void } | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const disarm = (): void => {
    timer?.cancel();
    timer = undefined;
    dueAt = undefined;
  };

  const arm = (isSoon = followers.isFollowed()): void => {
    if (isClosed) return;
    const now = clock.now();
    begunAt ??= now;
    const interval = isSoon
      ? MIN_INTERVAL_MS
      : Math.min(Math.max(now - begunAt, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
    dueAt = Math.min(dueAt ?? now + interval, now + interval);
    wakeAt(Math.min(dueAt, now + followers.lookEveryMs));
  };

  const wakeAt = (at: number): void => {
    if (timer !== undefined && timer.at <= at) return;
    timer?.cancel();
    timer = { at, cancel: clock.timer(at - clock.now(), wake) };
  };

  const wake = (): void => {
    timer = undefined;
    const now = clock.now();
    let done: Promise<unknown>;
    if (dueAt !== undefined && dueAt > now) {
      wakeAt(Math.min(dueAt, now + followers.lookEveryMs));
      done = inTurn(look);
    } else {
      dueAt = undefined;
      done = saveDue();
    }
    // An unavailable store must not fail the turn; only the partial text is lost.
    done.catch(services.onError);
  };

  const capture = (more: SavedFields = {}): Snapshot => {
    if (more.notes !== undefined) notes = more.notes;
    const steps = services.steps();
    const progress = {
      ...more,
      ...(text !== '' && { text }),
      ...(payloads.length > 0 && { toolPayloads: [...payloads] }),
      notes: steps.length === 0 ? notes : { ...notes, steps },
    };
    return { text, version, steps, progress };
  };

  /** Serialized, so that an older text never overwrites a newer one. */
  const inTurn = <T>(write: () => Promise<T>): Promise<T> => {
    const done = writing.then(write);
    writing = done.catch(() => undefined);
    return done;
  };

  const writeRecord = async ({ text: saved, version: savedVersion, steps, progress }: Snapshot) => {
    const record = await (pieces === 0
      ? saveProgress(quests, id, holder, progress, clock.now())
      : moveToRecord(progress));
    if (record === undefined) {
      onLost();
      return false;
    }
    stored = { length: getWholeLength(saved), version: savedVersion, steps: describe(steps) };
    pieces = 0;
    followers.see(record);
    return true;
  };

  const moveToRecord = async (progress: SavedFields): Promise<QuestRecord | undefined> => {
    let before: QuestRecord | undefined;
    await writeAll(store, [
      writeProgress(id, holder, progress, clock.now()),
      removePieces(id),
      readQuest(id, (found) => {
        before = found;
      }),
    ]);
    return before;
  };

  /** Looks for a reader in another process, and whether this worker may still write. */
  const look = async (): Promise<void> => {
    const held = await findHeld(quests, id, holder);
    if (held === undefined) onLost();
    followers.see(held);
  };

  /** Writes what is new. */
  const saveDue = (): Promise<unknown> => {
    const snapshot = capture();
    return inTurn(async () => {
      const { length } = stored;
      const hasText = getWholeLength(snapshot.text) > length;
      const hasPayloads = snapshot.version > stored.version;
      if (!hasText && !hasPayloads) return look();
      const isFirst = length === 0 || stored.steps !== describe(snapshot.steps);
      if (isFirst || hasPayloads || pieces >= MAX_PIECES) return writeRecord(snapshot);
      const whole = snapshot.text.slice(0, getWholeLength(snapshot.text));
      // Counted before: it may arrive without an answer.
      pieces += 1;
      const seen = await addPiece(store, id, holder, whole, length, snapshot.steps);
      if (seen === undefined) return writeRecord(snapshot);
      stored = { ...stored, length: whole.length };
      followers.see(seen);
      return undefined;
    });
  };

  return {
    text: () => text,
    toolPayloads: () => payloads,
    append(more) {
      text += more;
      if (more !== '') live.emit({ type: 'text', text: more });
      arm();
    },
    show(payload) {
      const index = payloads.push(payload) - 1;
      version += 1;
      live.emit({ type: 'payload', index, payload });
      arm(true);
      return (other) => {
        payloads[index] = other;
        version += 1;
        live.emit({ type: 'payload', index, payload: other });
        arm(true);
      };
    },
    save(more) {
      disarm();
      const snapshot = capture(more);
      return inTurn(() => writeRecord(snapshot));
    },
    arm: () => arm(),
    removals: () => (pieces === 0 ? [] : [removePieces(id)]),
    async close() {
      isClosed = true;
      disarm();
      await writing;
    },
  };
}

/** The steps without what grows: a change of the rest belongs into the record. */
function describe(steps: readonly PaidStepRecord[]): string {
  return JSON.stringify(steps, (field, value: unknown) => (field === 'spoken' ? undefined : value));
}

/** The length without the first half of a character whose second half is missing. */
function getWholeLength(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}
